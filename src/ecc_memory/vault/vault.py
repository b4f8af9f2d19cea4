"""The facade: open a vault, save, search, read, examine."""

from __future__ import annotations

import os
import time
import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime, timezone

from ecc_memory.errors import (
    DryRun,
    DuplicateId,
    MemoryExists,
    MemoryNotFound,
    SecretRefused,
    UsageError,
    VaultIncomplete,
    VaultUnsafe,
)
from ecc_memory.vault import document as format
from ecc_memory.vault.doctor import examine
from ecc_memory.vault.document import KINDS, MAX_DOCUMENT_BYTES, SCOPES, Memory, serialize_document
from ecc_memory.vault.results import (
    Counts,
    Diagnostics,
    DoctorReport,
    InitResult,
    ReadResult,
    SaveResult,
    SearchHit,
    SearchResult,
)
from ecc_memory.vault.roots import WORKING_DIRECTORY, Place, resolve_places
from ecc_memory.vault.scan import SUFFIX, Document, Limits, OutOfTime, Scan, kind_folder, open_root, scan
from ecc_memory.vault.search import Query
from ecc_memory.vault.secrets import find_secret
from ecc_memory.vault.tree import Folder, NotRegular

DEFAULT_SCOPES = ("project", "team")
MAX_QUERY = 500
MAX_LIMIT = 100
MOST_BACKLINKS = 100
DRY_RUN_VARIABLE = "ECC_DRY_RUN"
GITIGNORE = b"*\n!.gitignore\n"
"""What keeps the project scope out of version control; no other content is accepted."""

_ID_ATTEMPTS = 8


class Vault:
    """The memories that one place can see. Cheap to open; holds no state but its places.

    Every operation reads the files anew: the files are the truth. All methods raise only
    subclasses of :class:`~ecc_memory.errors.EccMemoryError`.
    """

    def __init__(self, places: Mapping[str, Place], limits: Limits, *, dry_run: bool) -> None:
        self._places = places
        self._limits = limits
        self._dry_run = dry_run

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
            home: home folder; default ``HOME`` of ``env``, else the user database's.
            cwd_origin: what ``cwd`` came from (a variable's name), for messages.

        Raises:
            UsageError: a root override or a bound is set to something unusable.
        """
        env = os.environ if env is None else env
        folder = os.fspath(home) if home is not None else env.get("HOME") or os.path.expanduser("~")
        places = resolve_places(cwd, env, folder, cwd_origin=cwd_origin)
        dry_run = env.get(DRY_RUN_VARIABLE, "").strip().lower() not in ("", "0", "false", "no")
        return cls(places, Limits.from_env(env), dry_run=dry_run)

    def place(self, scope: str) -> Place:
        """Where a scope lives and what decided that. Raises UsageError for an unknown scope."""
        return self._places[_choices([scope], SCOPES, "scope")[0]]

    def init(self, scopes: Iterable[str] = DEFAULT_SCOPES) -> InitResult:
        """Create the folders of the scopes, and the project scope's ``.gitignore``.

        Raises:
            DryRun, VaultUnsafe, VaultIO: nothing may be, or could be, written.
        """
        wanted = _choices(scopes, SCOPES, "scope")
        created = []
        for scope in wanted:
            self._refuse_writes(scope)
        for scope in wanted:
            existing = open_root(self._places[scope])
            if existing is None:
                created.append(f"{scope}:")
            else:
                existing.close()
            self._writable_root(scope).close()
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
            MemoryExists: the id is taken.
            DryRun, VaultUnsafe, VaultIO: nothing may be, or could be, written.
        """
        lists = [
            _as_list(values, what)
            for values, what in ((target_harnesses, "target harness"), (tags, "tag"), (links, "link"))
        ]
        _refuse_secrets(
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
        stamp = _timestamp(now)
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
            _refuse_secrets(document=data)
            try:
                return self._publish(memory, data.encode("utf-8"))
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
        if len(query) > MAX_QUERY:
            raise UsageError(
                f"the query has {len(query)} characters, at most {MAX_QUERY} are allowed; shorten it"
            )
        if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MAX_LIMIT:
            raise UsageError(f"limit must be a whole number from 1 to {MAX_LIMIT}")
        wanted = None if kinds is None else _choices(kinds, KINDS, "kind")
        harness = _harness(target_harness)
        found = self._scan(scopes)
        active = [each for each in found.visible_to(harness) if each.memory.status == "active"]
        parsed = Query(query)
        matches = parsed.run((each for each in active if wanted is None or each.memory.kind in wanted), limit)
        successors = _Successors(active)
        note = None
        if parsed.phrase and not parsed.tokens:
            note = "the query has no searchable term, so only its literal text was looked for"
        return SearchResult(
            tuple(
                SearchHit(
                    hit.document.memory,
                    hit.document.path,
                    hit.score,
                    hit.excerpt,
                    hit.relaxed,
                    successors.of(hit.document.memory),
                )
                for hit in matches.hits
            ),
            Diagnostics(len(found.invalid), len(found.symlinks), found.truncated, matches.total, note),
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
        harness = _harness(target_harness)
        found = self._scan(scopes)
        if not found.complete:
            raise VaultIncomplete(
                "the vault could not be read completely, so nothing can be said for certain; "
                "run the doctor and repair what it names"
            )
        visible = found.visible_to(harness)
        same = [each for each in visible if each.memory.id == identity]
        if not same:
            raise MemoryNotFound(
                f"no memory {identity} in the scopes that were searched; search to find its id"
            )
        if len(same) > 1:
            raise DuplicateId(
                f"{len(same)} files claim the id {identity}; run the doctor and keep one of them"
            )
        memory = same[0].memory
        active = [each for each in visible if each.memory.status == "active"]
        linking = sorted(
            (each.memory for each in active if identity in each.memory.links), key=lambda each: each.id
        )
        return ReadResult(
            memory,
            same[0].path,
            tuple(linking[:MOST_BACKLINKS]),
            len(linking) > MOST_BACKLINKS,
            _Successors(active).of(memory),
        )

    def doctor(
        self, *, scopes: Iterable[str] | None = None, target_harness: str | None = None
    ) -> DoctorReport:
        """Examine the scopes (default project and team); never changes anything."""
        harness = _harness(target_harness)
        return examine(self._scan(scopes), self._limits, harness)

    def counts(self, target_harness: str | None = None, deadline_s: float = 0.2) -> Counts | None:
        """Count what a search of project and team scope could find, for a session reminder.

        Args:
            target_harness: only what is addressed to this harness; default everything.
            deadline_s: seconds after which to give up.

        Returns:
            None when the time was not enough.
        """
        harness = _harness(target_harness)
        try:
            found = self._scan(None, time.monotonic() + deadline_s)
        except OutOfTime:
            return None
        active = [each.memory for each in found.visible_to(harness) if each.memory.status == "active"]
        handoffs = sum(memory.kind == "handoff" for memory in active)
        return Counts(len(active), handoffs, max((memory.updated_at for memory in active), default=None))

    def _scan(self, scopes: Iterable[str] | None, deadline: float | None = None) -> Scan:
        wanted = DEFAULT_SCOPES if scopes is None else _choices(scopes, SCOPES, "scope")
        places = [self._places[scope] for scope in SCOPES if scope in wanted]
        return scan(places, self._limits, deadline=deadline)

    def _publish(self, memory: Memory, data: bytes) -> SaveResult:
        self._refuse_writes(memory.scope)
        name = memory.id + SUFFIX
        taken = f"a memory with the id {memory.id} exists; save under a new id and link to the old one"
        with self._writable_root(memory.scope) as root:
            for kind in KINDS:
                folder = root.child(kind_folder(kind))
                if folder is not None:
                    with folder:
                        if folder.holds(name):
                            raise MemoryExists(taken, detail=os.path.join(folder.path, name))
            with root.make_child(kind_folder(memory.kind)) as folder:
                try:
                    folder.publish(name, data)
                except MemoryExists as error:
                    raise MemoryExists(taken, detail=error.detail) from error
        return SaveResult(memory, f"{memory.scope}:{kind_folder(memory.kind)}/{name}")

    def _refuse_writes(self, scope: str) -> None:
        if self._dry_run:
            raise DryRun(f"{DRY_RUN_VARIABLE} is set, so nothing is written; unset it to save")
        refusal = self._places[scope].refusal
        if refusal is not None:
            raise VaultUnsafe(refusal, detail=self._places[scope].anchor)

    def _writable_root(self, scope: str) -> Folder:
        place = self._places[scope]
        with Folder.make(place.anchor) as anchor:
            root = anchor.make_path(place.below)
        if scope == "project":
            try:
                _protect(root)
            except BaseException:
                root.close()
                raise
        return root


def _protect(root: Folder) -> None:
    """Make sure that git keeps the project scope to itself before anything is written there."""
    name = ".gitignore"
    try:
        root.publish(name, GITIGNORE)
    except MemoryExists:
        pass
    try:
        content, _ = root.read(name, MAX_DOCUMENT_BYTES)
    except (FileNotFoundError, NotRegular):
        content = b""
    if content != GITIGNORE:
        raise VaultUnsafe(
            "the .gitignore of the project scope is not the one that keeps memories private; "
            "it must hold exactly two lines, * and !.gitignore, or be removed so that it is made anew",
            detail=os.path.join(root.path, name),
        )


def _refuse_secrets(**fields: object) -> None:
    for name, value in fields.items():
        for text in value if isinstance(value, list) else [value]:
            hit = find_secret(text) if isinstance(text, str) else None
            if hit is not None:
                raise SecretRefused(
                    f"{name} line {hit.line} looks like a credential ({hit.rule}), so nothing was saved; "
                    "leave the value out and say where it is kept"
                )


class _Successors:
    """Which newer active memories link to a memory: where a reader should go on."""

    def __init__(self, active: Iterable[Document]) -> None:
        self._linking: defaultdict[str, list[Memory]] = defaultdict(list)
        for document in active:
            for link in document.memory.links:
                self._linking[link].append(document.memory)

    def of(self, memory: Memory) -> tuple[str, ...]:
        newer = {each.id for each in self._linking[memory.id] if each.updated_at > memory.updated_at}
        return tuple(sorted(newer)[:MOST_BACKLINKS])


def _as_list(values: Iterable[str], what: str) -> list[str]:
    if isinstance(values, str):
        raise UsageError(f'{what}: a list is needed, like ["{what.split()[0]}"], not a single text')
    return list(values)


def _choices(values: Iterable[str], allowed: tuple[str, ...], what: str) -> tuple[str, ...]:
    chosen = tuple(dict.fromkeys(_as_list(values, what)))
    wrong = next((value for value in chosen if value not in allowed), None)
    if wrong is not None or not chosen:
        given = f"{wrong!r} is not" if chosen else "an empty list is not"
        raise UsageError(f"{what}: {given} one of {', '.join(allowed)}")
    return chosen


def _harness(value: str | None) -> str | None:
    return None if value is None else format.check_slug(value, "target harness")


def _timestamp(now: datetime | None) -> str:
    moment = datetime.now(timezone.utc) if now is None else now
    if moment.utcoffset() is None:
        raise UsageError("now must be an aware time, such as datetime.now(timezone.utc)")
    utc = moment.astimezone(timezone.utc)
    return f"{utc:%Y-%m-%dT%H:%M:%S}.{utc.microsecond // 1000:03d}Z"
