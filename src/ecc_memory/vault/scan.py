"""Reading a whole vault, within bounds, without trusting anything in it.

A scan never fails because of one document: what cannot be vouched for becomes a
:class:`Problem`, and the callers decide what that means to them.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ecc_memory.errors import InvalidMemory, UsageError, VaultIO, VaultUnsafe
from ecc_memory.vault.document import MAX_DOCUMENT_BYTES, Memory, parse_document
from ecc_memory.vault.roots import Place
from ecc_memory.vault.secrets import find_secret
from ecc_memory.vault.tree import TEMPORARY_PREFIX, Folder, NotRegular

MAX_FILES_VARIABLE = "ECC_MEMORY_MAX_FILES"
MAX_SCAN_BYTES_VARIABLE = "ECC_MEMORY_MAX_SCAN_BYTES"
MAX_DEPTH = 8
SUFFIX = ".md"


@dataclass(frozen=True)
class Limits:
    """How much one call may look at, over all its scopes.

    Attributes:
        files: directory entries of any kind (default 5,000).
        scan_bytes: bytes of documents (default 16 MiB).
    """

    files: int = 5_000
    scan_bytes: int = 16 * 1024 * 1024

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> Limits:
        """Read the two settings; :class:`UsageError` when one is not a positive whole number."""
        return cls(
            _positive(env, MAX_FILES_VARIABLE, cls.files),
            _positive(env, MAX_SCAN_BYTES_VARIABLE, cls.scan_bytes),
        )


@dataclass(frozen=True)
class Document:
    """A valid document and where it stands, as ``scope:folder/file``."""

    memory: Memory
    path: str
    size: int


@dataclass(frozen=True)
class Problem:
    """Something in the vault that is not a valid document.

    Attributes:
        path: ``scope:folder/file``.
        code: invalid-document, location-mismatch, suspected-secret, unreadable, symlink or
            unreadable-folder.
        message: what is wrong, without any value from the file that could be a secret.
        line: where, if one line is to blame.
    """

    path: str
    code: str
    message: str
    line: int | None = None


@dataclass
class Scan:
    """What one pass over some scopes found."""

    documents: list[Document] = field(default_factory=list)
    invalid: list[Problem] = field(default_factory=list)
    symlinks: list[Problem] = field(default_factory=list)
    leftovers: list[str] = field(default_factory=list)
    entries: int = 0
    scanned_bytes: int = 0
    cut_by: str | None = None

    @property
    def truncated(self) -> bool:
        """Whether a bound or an unreadable folder kept the scan from seeing everything."""
        return self.cut_by is not None

    @property
    def complete(self) -> bool:
        """Whether absence from this scan proves absence from the vault."""
        return not self.truncated and not self.invalid

    def visible_to(self, harness: str | None) -> list[Document]:
        """The documents that ``harness`` may see; all of them for None."""
        if harness is None:
            return self.documents
        return [document for document in self.documents if document.memory.targets(harness)]


class OutOfTime(Exception):
    """A scan was not done when its time was over."""


def scan(places: Iterable[Place], limits: Limits, *, deadline: float | None = None) -> Scan:
    """Read every document of the given scopes, within the bounds.

    A missing root is an empty scope. Entries are taken in the order of their names.

    Args:
        places: the scopes.
        limits: the bounds over all of them.
        deadline: when to give up, by ``time.monotonic()``; None for never.

    Raises:
        OutOfTime: only with a deadline.
    """
    result = Scan()
    for place in places:
        try:
            root = open_root(place)
            if root is None:
                continue
            with root:
                _Walk(place.scope, limits, result, deadline).folder(root, ())
        except VaultUnsafe:
            message = "the scope's folder is reached through a symbolic link; replace it by a real folder"
            result.symlinks.append(Problem(f"{place.scope}:", "symlink", message))
            result.cut_by = result.cut_by or "a symbolic link in place of a scope's folder"
        except VaultIO as error:
            result.invalid.append(Problem(f"{place.scope}:", "unreadable-folder", error.message))
            result.cut_by = result.cut_by or "an unreadable folder"
    return result


def open_root(place: Place) -> Folder | None:
    """Open a scope's root without following links below the anchor; None when it does not exist.

    Raises:
        VaultUnsafe: a link, or something that is no folder, is in the way.
        VaultIO: the operating system refused.
    """
    anchor = Folder.open(place.anchor)
    if anchor is None:
        return None
    with anchor:
        return anchor.descend(place.below)


class _Walk:
    """One scope's share of a scan."""

    def __init__(self, scope: str, limits: Limits, result: Scan, deadline: float | None) -> None:
        self.scope = scope
        self.limits = limits
        self.result = result
        self.deadline = deadline

    def folder(self, folder: Folder, names: tuple[str, ...]) -> None:
        entries, more = folder.entries(self.limits.files - self.result.entries)
        self.result.entries += len(entries)
        for entry in entries:
            here = (*names, entry.name)
            if entry.name.startswith("."):
                if entry.name.startswith(TEMPORARY_PREFIX):
                    self.result.leftovers.append(self._path(here))
            elif entry.is_symlink():
                message = "symbolic links are not followed; replace it by the file itself, or remove it"
                self.result.symlinks.append(Problem(self._path(here), "symlink", message))
            elif entry.is_dir(follow_symlinks=False):
                self._enter(folder, here)
            elif entry.name.endswith(SUFFIX):
                self._document(folder, here)
            if self.result.cut_by in (MAX_FILES_VARIABLE, MAX_SCAN_BYTES_VARIABLE):
                return
        if more:
            self.result.cut_by = MAX_FILES_VARIABLE

    def _enter(self, parent: Folder, names: tuple[str, ...]) -> None:
        if len(names) > MAX_DEPTH:
            self.result.cut_by = self.result.cut_by or f"folders deeper than {MAX_DEPTH}"
            return
        try:
            folder = parent.child(names[-1])
            if folder is not None:
                with folder:
                    self.folder(folder, names)
        except VaultUnsafe as error:
            self.result.symlinks.append(Problem(self._path(names), "symlink", error.message))
        except VaultIO as error:
            self.result.invalid.append(Problem(self._path(names), "unreadable-folder", error.message))
            self.result.cut_by = self.result.cut_by or "an unreadable folder"

    def _document(self, folder: Folder, names: tuple[str, ...]) -> None:
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise OutOfTime
        path = self._path(names)
        try:
            data, status = folder.read(names[-1], MAX_DOCUMENT_BYTES)
        except FileNotFoundError:
            return  # removed while we looked, so it is not there
        except (VaultIO, NotRegular) as error:
            self.result.invalid.append(Problem(path, "unreadable", error.message))
            return
        if self.result.scanned_bytes + len(data) > self.limits.scan_bytes:
            self.result.cut_by = MAX_SCAN_BYTES_VARIABLE
            return
        self.result.scanned_bytes += len(data)
        outcome = judge(data, self.scope, names, path)
        if isinstance(outcome, Problem):
            self.result.invalid.append(outcome)
        else:
            self.result.documents.append(Document(outcome, path, status.st_size))

    def _path(self, names: tuple[str, ...]) -> str:
        return f"{self.scope}:" + os.fsencode("/".join(names)).decode("utf-8", "replace")


def judge(data: bytes, scope: str, names: tuple[str, ...], path: str) -> Memory | Problem:
    """Decide whether a file's bytes are a valid document at its place.

    Args:
        data: the file's content (of a file over the bound, its beginning).
        scope: the scope whose tree it stands in.
        names: folder and file names below the scope's root.
        path: the same as ``scope:folder/file``.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return Problem(path, "invalid-document", "it is not valid UTF-8; save it as UTF-8", line)
    secret = find_secret(text)
    if secret is not None:
        message = (
            f"it holds what looks like a credential ({secret.rule}); remove it, and replace the credential"
        )
        return Problem(path, "suspected-secret", message, secret.line)
    try:
        memory = parse_document(text)
    except InvalidMemory as error:
        return Problem(path, "invalid-document", error.message, error.line)
    if memory.scope != scope:
        message = (
            f'its scope is "{memory.scope}" but it stands in the {scope} scope; move it or correct the field'
        )
        return Problem(path, "location-mismatch", message)
    folder = kind_folder(memory.kind)
    if len(names) < 2 or names[0] != folder:
        message = f'its kind is "{memory.kind}", so it belongs below the folder {folder}; move it'
        return Problem(path, "location-mismatch", message)
    return memory


def kind_folder(kind: str) -> str:
    """The folder below a scope's root that holds memories of this kind."""
    return f"{kind}s"


def _positive(env: Mapping[str, str], variable: str, default: int) -> int:
    value = env.get(variable, "").strip()
    if not value:
        return default
    if not value.isascii() or not value.isdigit() or len(value) > 15 or int(value) == 0:
        raise UsageError(
            f"{variable} must be a whole number above 0; set it so, or unset it", detail=f"{variable}={value}"
        )
    return int(value)
