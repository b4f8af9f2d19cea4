"""The facade: open a vault, save, search, read, examine."""

from __future__ import annotations

import os
import threading
import uuid
from collections.abc import Iterable, Mapping
from datetime import datetime

from ecc_memory.errors import DuplicateId, MemoryExists, MemoryNotFound, UsageError, VaultIncomplete
from ecc_memory.vault import document as format
from ecc_memory.vault.arguments import as_list, choices, harness, timestamp
from ecc_memory.vault.cache import cache_folder, is_wanted
from ecc_memory.vault.doctor import examine
from ecc_memory.vault.document import KINDS, SCOPES, Memory, serialize_document
from ecc_memory.vault.index import Index
from ecc_memory.vault.limits import Limits
from ecc_memory.vault.publish import (
    DRY_RUN_VARIABLE,
    publish,
    refuse_secrets,
    refuse_taken,
    refuse_writes,
    writable_root,
)
from ecc_memory.vault.results import (
    Diagnostics,
    DoctorReport,
    Finding,
    InitResult,
    ReadResult,
    SaveResult,
    SearchHit,
    SearchResult,
)
from ecc_memory.vault.roots import WORKING_DIRECTORY, Place, home_folder, resolve_places
from ecc_memory.vault.scan import Scan, open_root
from ecc_memory.vault.search import MOST_BACKLINKS, Documents, Query, Wanted, linking, successors

DEFAULT_SCOPES = ("project", "team")
MAX_QUERY = 500
MAX_LIMIT = 100

_ID_ATTEMPTS = 8


class Vault:
    """The memories that one place can see. Cheap to open, and may be used from several threads.

    Every operation looks at the files anew: the files are the truth. What it has parsed it keeps for
    the next operation, so a program that asks often should keep its vault. All methods raise only
    subclasses of :class:`~ecc_memory.errors.EccMemoryError`.

    Attributes:
        index: what is derived from the files and can be thrown away.
        limits: how much one operation may look at.
    """

    def __init__(
        self,
        places: Mapping[str, Place],
        limits: Limits,
        index: Index,
        env: Mapping[str, str],
        *,
        dry_run: bool,
    ) -> None:
        self.index = index
        self.limits = limits
        self._places = places
        self._env = env
        self._dry_run = dry_run
        self._lock = threading.RLock()  # around what uses the index

    @classmethod
    def open(
        cls,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        home: str | os.PathLike[str] | None = None,
        *,
        cwd_origin: str = WORKING_DIRECTORY,
    ) -> Vault:
        """Decide where the scopes live; nothing is created and nothing need exist.

        Args:
            cwd: folder whose repository is meant; default the process's working directory.
            env: environment to read settings from; default ``os.environ``.
            home: absolute home folder; default ``HOME`` of ``env``, else (unset or empty) the user
                database's.
            cwd_origin: what ``cwd`` came from (a variable's name), for messages.

        Raises:
            UsageError: ``HOME``, a root override or a bound is set to something unusable.
        """
        env = os.environ if env is None else env
        folder = os.fspath(home) if home is not None else home_folder(env)
        places = resolve_places(cwd, env, folder, cwd_origin=cwd_origin)
        dry_run = env.get(DRY_RUN_VARIABLE, "").strip().lower() not in ("", "0", "false", "no")
        index = Index(cache_folder(env, folder), wanted=is_wanted(env) and not dry_run)
        return cls(places, Limits.from_env(env), index, {**env, "HOME": folder}, dry_run=dry_run)

    def place(self, scope: str) -> Place:
        """Where a scope lives and what decided that. Raises UsageError for an unknown scope."""
        return self._places[choices([scope], SCOPES, "scope")[0]]

    def init(self, scopes: Iterable[str] = DEFAULT_SCOPES) -> InitResult:
        """Create the folders of the scopes, and the project scope's ``.gitignore``.

        Raises:
            DryRun, VaultUnsafe, VaultIO: nothing may be, or could be, written.
        """
        wanted = choices(scopes, SCOPES, "scope")
        created = []
        for scope in wanted:
            refuse_writes(self._places[scope], dry_run=self._dry_run)
        for scope in wanted:
            existing = open_root(self._places[scope])
            if existing is None:
                created.append(f"{scope}:")
            else:
                existing.close()
            writable_root(self._places[scope]).close()
        return InitResult(wanted, tuple(created))

    def save(
        self,
        *,
        title: str,
        body: str,
        kind: str = "note",
        scope: str = "project",
        source_harness: str = "unknown",
        target_harnesses: Iterable[str] = ("all",),
        tags: Iterable[str] = (),
        links: Iterable[str] = (),
        id: str | None = None,
        now: datetime | None = None,
    ) -> SaveResult:
        """Write a new memory; never change an existing one.

        Args:
            title: 1 to 200 UTF-16 units on one line.
            body: Markdown, 1 byte to 64 KiB of UTF-8.
            kind: one of :data:`KINDS`.
            scope: one of :data:`SCOPES`.
            source_harness: slug of who writes.
            target_harnesses: 1 to 32 slugs; ``all`` means every harness.
            tags: 0 to 32 slugs.
            links: 0 to 64 ids, such as of the memory this one supersedes.
            id: default ``mem_<yyyymmdd>_<20 random hex digits>``.
            now: an aware time; default the clock's.

        Returns:
            The memory as it now stands on disk, and its path.

        Raises:
            InvalidMemory: a field breaks the format; the message names it.
            SecretRefused: a field holds what looks like a credential.
            MemoryExists: the id is taken, in whichever scope.
            DryRun, VaultUnsafe, VaultIO: nothing may be, or could be, written.
        """
        lists = [
            as_list(values, what)
            for values, what in ((target_harnesses, "target harness"), (tags, "tag"), (links, "link"))
        ]
        refuse_secrets(
            title=title,
            body=body,
            kind=kind,
            scope=scope,
            source=source_harness,
            target=lists[0],
            tag=lists[1],
            link=lists[2],
            id=id,
        )
        stamp = timestamp(now)
        fields: dict[str, object] = {
            "schema": format.SCHEMA,
            "id": id,
            "title": title,
            "kind": kind,
            "scope": scope,
            "trust": format.TRUST,
            "status": "active",
            "sourceHarness": source_harness,
            "targetHarnesses": lists[0],
            "tags": lists[1],
            "links": lists[2],
            "createdAt": stamp,
            "updatedAt": stamp,
            "body": body,
        }
        for attempt in range(_ID_ATTEMPTS):
            if id is None:
                fields["id"] = f"mem_{stamp[:10].replace('-', '')}_{uuid.uuid4().hex[:20]}"
            memory = Memory.from_json(fields)
            data = serialize_document(memory)
            refuse_secrets(document=data)
            refuse_writes(self._places[memory.scope], dry_run=self._dry_run)
            if id is not None:
                refuse_taken(id, [self._places[other] for other in SCOPES if other != memory.scope])
            try:
                path = publish(memory, data.encode("utf-8"), self._places[memory.scope])
                return SaveResult(memory, path)
            except MemoryExists:
                if id is not None or attempt == _ID_ATTEMPTS - 1:
                    raise
        raise AssertionError("unreachable")

    def search(
        self,
        query: str,
        *,
        scopes: Iterable[str] | None = None,
        kinds: Iterable[str] | None = None,
        target_harness: str | None = None,
        limit: int = 20,
    ) -> SearchResult:
        """Find active memories; an empty query lists the newest.

        Args:
            query: up to 500 characters; plain text, nothing in it is an operator.
            scopes: default project and team; ``user`` only when asked for.
            kinds: only these kinds; default all.
            target_harness: only what is addressed to this harness; default everything.
            limit: 1 to 100 results.

        Raises:
            UsageError: an argument is out of its bounds.
        """
        if not isinstance(query, str):
            raise UsageError("the query must be a text; an empty one lists the newest")
        if len(query) > MAX_QUERY:
            raise UsageError(
                f"the query has {len(query)} characters, at most {MAX_QUERY} are allowed; shorten it"
            )
        if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MAX_LIMIT:
            raise UsageError(f"limit must be a whole number from 1 to {MAX_LIMIT}")
        reader = harness(target_harness)
        wanted = Wanted(reader, KINDS if kinds is None else choices(kinds, KINDS, "kind"))
        parsed = Query(query)
        with self._lock:
            found = self._scan(scopes)
            corpora = self.index.corpora(found)
            matches = parsed.run(corpora, wanted, limit)
            hits = tuple(
                SearchHit(
                    hit.document.memory,
                    hit.document.path,
                    hit.score,
                    hit.excerpt,
                    hit.relaxed,
                    successors(hit.document.memory, linking(hit.document.memory.id, corpora, Wanted(reader))),
                )
                for hit in matches.hits
            )
        note = None
        if parsed.phrase and not parsed.tokens:
            note = "the query has no searchable term, so only its literal text was looked for"
        return SearchResult(
            hits, Diagnostics(len(found.invalid), len(found.symlinks), found.truncated, matches.total, note)
        )

    def read(
        self,
        id: str,
        *,
        scopes: Iterable[str] | None = None,
        target_harness: str | None = None,
    ) -> ReadResult:
        """Return one memory, of any status, and what links to it.

        Args:
            id: the memory's id.
            scopes: default project and team.
            target_harness: only what is addressed to this harness; anything else does not exist.

        Raises:
            InvalidMemory: ``id`` is not a memory id.
            VaultIncomplete: not every document could be read, so the answer could be wrong.
            MemoryNotFound, DuplicateId: there is none, or more than one.
        """
        identity = format.check_id(id)
        reader = harness(target_harness)
        scopes = _scopes(scopes)
        found = self._scan(scopes)
        if not found.complete:
            raise VaultIncomplete(
                "the vault could not be read completely, so nothing can be said for certain; "
                "a person can run `ecc memory doctor` and repair what it names"
            )
        visible = found.visible_to(reader)
        same = [each for each in visible if each.memory.id == identity]
        if not same:
            raise MemoryNotFound(
                f"no memory {identity} in the scopes that were searched ({', '.join(scopes)}); "
                "search to find its id, or name the scope it is in"
            )
        if len(same) > 1:
            raise DuplicateId(
                f"{len(same)} files claim the id {identity}; `ecc memory doctor` names them, keep one"
            )
        memory = same[0].memory
        links = linking(identity, [Documents(visible)], Wanted(reader))
        return ReadResult(
            memory,
            same[0].path,
            tuple(links[:MOST_BACKLINKS]),
            len(links) > MOST_BACKLINKS,
            successors(memory, links),
        )

    def doctor(
        self, *, scopes: Iterable[str] | None = None, target_harness: str | None = None, ask_git: bool = True
    ) -> DoctorReport:
        """Examine the scopes; never changes anything.

        Args:
            scopes: default project and team.
            target_harness: only what is addressed to this harness.
            ask_git: start git, where there is one, to learn whether it tracks the project scope or
                ignores the team scope; no other operation starts a program.

        Raises:
            UsageError: an argument is out of its bounds.
        """
        reader = harness(target_harness)
        scopes = _scopes(scopes)
        project = self._places["project"] if "project" in scopes else None
        findings, warnings = self._ask_git(scopes) if ask_git else ([], [])
        found = self._scan(scopes)
        return examine(found, self.limits, reader, project, findings=findings, warnings=warnings)

    def _ask_git(self, scopes: Iterable[str]) -> tuple[list[Finding], list[Finding]]:
        from ecc_memory.vault.git import findings_and_warnings  # nothing else needs to start a program

        return findings_and_warnings((self._places[scope] for scope in scopes), self._env)

    def _scan(self, scopes: Iterable[str] | None) -> Scan:
        wanted = _scopes(scopes)
        places = [self._places[scope] for scope in SCOPES if scope in wanted]
        with self._lock:
            return self.index.scan(places, self.limits)


def _scopes(scopes: Iterable[str] | None) -> tuple[str, ...]:
    return DEFAULT_SCOPES if scopes is None else choices(scopes, SCOPES, "scope")
