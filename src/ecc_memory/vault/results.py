"""What the vault's operations return: frozen dataclasses with a ``to_json()`` each."""

from __future__ import annotations

from dataclasses import dataclass, field

from ecc_memory.vault.document import Memory


@dataclass(frozen=True)
class InitResult:
    """The scopes that are ready, and which folders and files were made for them.

    ``created`` holds ``scope:name`` entries; it is empty when everything was there.
    """

    scopes: tuple[str, ...]
    created: tuple[str, ...]

    def to_json(self) -> dict[str, object]:
        """Return the payload ``ecc.memory.init.v1``."""
        return {
            "schemaVersion": "ecc.memory.init.v1",
            "scopes": list(self.scopes),
            "created": list(self.created),
        }


@dataclass(frozen=True)
class SaveResult:
    """A memory that is on disk now. ``path`` is ``scope:folder/file``."""

    memory: Memory
    path: str

    def to_json(self) -> dict[str, object]:
        """Return the payload ``ecc.memory.write.v1``; the memory comes without its body."""
        return {
            "schemaVersion": "ecc.memory.write.v1",
            "memory": self.memory.to_json(body=False),
            "path": self.path,
        }


@dataclass(frozen=True)
class SearchHit:
    """One search result.

    Attributes:
        memory: the memory, body included (``to_json()`` leaves it out).
        path: ``scope:folder/file``.
        score: the contract's score; 0 in a listing and for relaxed results.
        excerpt: one line of at most 242 characters of the body.
        relaxed: found only after normalisation.
        linked_by: ids of newer active memories that link to this one.
    """

    memory: Memory
    path: str
    score: int
    excerpt: str
    relaxed: bool = False
    linked_by: tuple[str, ...] = ()

    def to_json(self) -> dict[str, object]:
        """Return one element of ``results``."""
        value: dict[str, object] = {
            "memory": self.memory.to_json(body=False),
            "score": self.score,
            "excerpt": self.excerpt,
        }
        if self.relaxed:
            value["relaxed"] = True
        if self.linked_by:
            value["linkedBy"] = list(self.linked_by)
        return value


@dataclass(frozen=True)
class Diagnostics:
    """What a search could not look at, so that nobody takes silence for absence.

    Attributes:
        invalid_files: documents that are invalid or unreadable.
        skipped_symlinks: symbolic links that were not followed.
        truncated: a bound or an unreadable folder cut the scan short.
        total: how many memories match, before the limit.
        note: a sentence for the reader, such as that the query has no searchable term.
    """

    invalid_files: int
    skipped_symlinks: int
    truncated: bool
    total: int
    note: str | None = None

    def to_json(self) -> dict[str, object]:
        """Return the value of ``diagnostics``."""
        value: dict[str, object] = {
            "invalidFileCount": self.invalid_files,
            "skippedSymlinkCount": self.skipped_symlinks,
            "truncated": self.truncated,
            "total": self.total,
        }
        if self.note:
            value["note"] = self.note
        return value


@dataclass(frozen=True)
class SearchResult:
    """Search results in order, and what was not looked at."""

    results: tuple[SearchHit, ...]
    diagnostics: Diagnostics

    def to_json(self) -> dict[str, object]:
        """Return the payload ``ecc.memory.search.v1``."""
        return {
            "schemaVersion": "ecc.memory.search.v1",
            "results": [hit.to_json() for hit in self.results],
            "diagnostics": self.diagnostics.to_json(),
        }


@dataclass(frozen=True)
class ReadResult:
    """One memory with what links to it.

    Attributes:
        memory: the memory, body included.
        path: ``scope:folder/file``.
        backlinks: active memories that link to it, ordered by id, at most 100.
        backlinks_truncated: there are more than 100.
        linked_by: ids of those that are newer.
    """

    memory: Memory
    path: str
    backlinks: tuple[Memory, ...]
    backlinks_truncated: bool
    linked_by: tuple[str, ...] = ()

    def to_json(self) -> dict[str, object]:
        """Return the payload ``ecc.memory.read.v1``."""
        value: dict[str, object] = {
            "schemaVersion": "ecc.memory.read.v1",
            "memory": self.memory.to_json(),
            "path": self.path,
            "backlinks": [memory.to_json(body=False) for memory in self.backlinks],
            "backlinksTruncated": self.backlinks_truncated,
        }
        if self.linked_by:
            value["linkedBy"] = list(self.linked_by)
        return value


@dataclass(frozen=True)
class Finding:
    """One thing the doctor found, or warns about, and how to repair it."""

    code: str
    path: str
    message: str
    repair: str
    line: int | None = None

    def to_json(self) -> dict[str, object]:
        """Return one element of ``findings`` or ``warnings``."""
        value: dict[str, object] = {"code": self.code, "path": self.path}
        if self.line is not None:
            value["line"] = self.line
        return {**value, "message": self.message, "repair": self.repair}


@dataclass(frozen=True)
class DoctorReport:
    """The state of the scanned scopes. Lists hold at most 100 entries, counts are exact.

    ``ok`` is False when there are findings; warnings leave it True.
    """

    ok: bool
    memory_count: int
    invalid_files: tuple[dict[str, object], ...]
    invalid_file_count: int
    duplicate_ids: tuple[dict[str, object], ...]
    duplicate_id_count: int
    broken_links: tuple[dict[str, object], ...]
    broken_link_count: int
    skipped_symlinks: tuple[str, ...]
    skipped_symlink_count: int
    scanned_bytes: int
    truncated: bool
    diagnostics_truncated: bool
    findings: tuple[Finding, ...] = field(default=())
    warnings: tuple[Finding, ...] = field(default=())

    def to_json(self) -> dict[str, object]:
        """Return the payload ``ecc.memory.doctor.v1``."""
        return {
            "schemaVersion": "ecc.memory.doctor.v1",
            "ok": self.ok,
            "memoryCount": self.memory_count,
            "invalidFiles": list(self.invalid_files),
            "invalidFileCount": self.invalid_file_count,
            "duplicateIds": list(self.duplicate_ids),
            "duplicateIdCount": self.duplicate_id_count,
            "brokenLinks": list(self.broken_links),
            "brokenLinkCount": self.broken_link_count,
            "skippedSymlinks": list(self.skipped_symlinks),
            "skippedSymlinkCount": self.skipped_symlink_count,
            "scannedBytes": self.scanned_bytes,
            "truncated": self.truncated,
            "diagnosticsTruncated": self.diagnostics_truncated,
            "findings": [finding.to_json() for finding in self.findings],
            "warnings": [warning.to_json() for warning in self.warnings],
        }
