"""The file that keeps what was parsed for the next process: one SQLite database a scope.

It is never needed. Whatever is wrong with it, a missing module included, means that there is nothing in
it, and the files are read. Connections are as short as a load or a write; write-ahead logging keeps
readers and a writer out of each other's way, and a writer that finds another one at work leaves it be.

A long row is a path, a record and a checksum of both; the record is the file's state and the fields of the
memory, separated by NUL, which no field can hold. SQLite has no checksums of its own, so ours is what
finds a damaged page. Only valid documents have rows: no text in which a credential is suspected gets here.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from functools import cache
from itertools import starmap
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

from ecc_memory.vault import document, judge, secret_rules, secret_values, secrets, tally
from ecc_memory.vault.cache import FORMAT, PATIENCE, connect, is_private, store_path
from ecc_memory.vault.document import Memory
from ecc_memory.vault.judge import Document
from ecc_memory.vault.scan import Entry, FolderView, Views, shown_path
from ecc_memory.vault.tree import FileState

if TYPE_CHECKING:
    import sqlite3

_BATCH = 2000
_COMPANIONS = ("-wal", "-shm", "-journal")
_SCHEMA = f"""
    DROP TABLE IF EXISTS document; DROP TABLE IF EXISTS tally; DROP TABLE IF EXISTS maker;
    {tally.SCHEMA};
    CREATE TABLE document (path BLOB PRIMARY KEY, checksum INTEGER NOT NULL, record BLOB NOT NULL);
    CREATE TABLE maker (fingerprint BLOB NOT NULL);
"""

Row = tuple[bytes, Entry]
"""A document's path below the scope's root, as the file system spells it, and what is known of it."""


class Status(NamedTuple):
    """What can be said about a store.

    Attributes:
        documents: how many it holds, 0 when there is none or it cannot be used.
        size: bytes of its files.
        trouble: why it cannot be used, None when it can or when there is none.
    """

    documents: int
    size: int
    trouble: str | None


class Store:
    """The database of one scope.

    Args:
        folder: where it is; made when something is written.
        root: the scope's root folder, absolute and resolved.
        scope: the scope's name.
    """

    def __init__(self, folder: str, root: str, scope: str) -> None:
        self.path = store_path(folder, root)
        self._folder = folder
        self._scope = scope
        self._about = b"%s %s" % (scope.encode(), os.fsencode(root))
        self._inside_vault = f"{folder}/".startswith(f"{root}/")

    def load(self) -> Views:
        """Return the views of all folders; empty when there is nothing to be had."""
        views: Views = {}
        if not is_private(self.path):
            return views
        try:
            import sqlite3
        except ImportError:
            return views
        try:
            for path, entry in self._rows():
                folder, _, name = os.fsdecode(path).rpartition("/")
                view = views.get(folder)
                if view is None:
                    view = views[folder] = FolderView()
                view.entries[name] = entry
        except (sqlite3.Error, OSError):
            pass  # what was read until now is good, as its checksums say
        return views

    def write(
        self,
        gone: Iterable[bytes],
        new: Iterable[Row],
        *,
        whole: bool,
        advance: Callable[[int], object] = lambda _: None,
    ) -> bool:
        """Delete some rows and put others in.

        Args:
            gone: paths.
            new: rows, their state settled.
            whole: ``new`` is all there is, so that a store of another maker may be emptied for it.
            advance: told how many rows were written since it was last told.

        Returns:
            False when the store could not be written, which does no harm.
        """
        if self._inside_vault:
            return False
        try:
            import sqlite3
        except ImportError:
            return False
        try:
            self._make_file()
            try:
                return self._write(list(gone), list(new), whole, advance)
            except sqlite3.DatabaseError as error:
                if isinstance(error, sqlite3.OperationalError):
                    raise  # busy, full, read-only
                self.drop()  # damaged
        except (sqlite3.Error, OSError):
            pass
        return False

    def drop(self) -> bool:
        """Delete the store; True when there was one.

        Raises:
            OSError: it is there and cannot be deleted.
        """
        for companion in _COMPANIONS:
            with suppress(FileNotFoundError):
                os.unlink(self.path + companion)
        try:
            os.unlink(self.path)
        except FileNotFoundError:
            return False
        return True

    def status(self) -> Status:
        """Look at the store without changing it."""
        size = 0
        for suffix in ("", *_COMPANIONS):
            with suppress(OSError):
                size += os.lstat(self.path + suffix).st_size
        if not is_private(self.path):
            others = os.path.lexists(self.path)
            return Status(0, size, "it is not a private file of yours" if others else None)
        try:
            import sqlite3
        except ImportError:
            return Status(0, size, "this Python has no SQLite")
        try:
            with closing(connect(self.path, PATIENCE)) as connection:
                if not self._is_ours(connection):
                    return Status(0, size, "it was made by another version of this program")
                (count,) = connection.execute("SELECT count(*) FROM document").fetchone()
                return Status(count, size, None)
        except (sqlite3.Error, OSError) as error:
            return Status(0, size, f"it cannot be read: {error}")

    def _rows(self) -> Iterator[Row]:
        with closing(connect(self.path, PATIENCE)) as connection:
            if not self._is_ours(connection):
                return
            lists: dict[str, tuple[str, ...]] = {}
            rows = connection.execute("SELECT path, checksum, record FROM document")
            while batch := rows.fetchmany(_BATCH // 8):
                for path, checksum, record in batch:
                    whole = isinstance(path, bytes) and isinstance(record, bytes)  # damage can be to a type
                    if whole and checksum == crc32(record, crc32(path)):
                        yield path, _unpack(record, self._scope, shown_path(self._scope, path), lists)

    def _write(
        self, gone: list[bytes], new: list[Row], whole: bool, advance: Callable[[int], object]
    ) -> bool:
        with closing(connect(self.path, 0)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = OFF")  # what a power cut damages, a checksum finds
            connection.execute("PRAGMA secure_delete = ON")  # a memory that was deleted is gone from here
            for first in range(0, max(len(new), 1), _BATCH):
                connection.execute("BEGIN IMMEDIATE")
                if not self._claim(connection, whole):
                    return False
                if not first:
                    connection.executemany("DELETE FROM document WHERE path = ?", ((path,) for path in gone))
                    connection.executemany("DELETE FROM tally WHERE path = ?", ((path,) for path in gone))
                batch = new[first : first + _BATCH]
                connection.executemany("REPLACE INTO document VALUES (?, ?, ?)", starmap(_pack, batch))
                connection.executemany("REPLACE INTO tally VALUES (?, ?, ?)", starmap(_tally, batch))
                connection.execute("COMMIT")
                advance(len(batch))
        return True

    def _is_ours(self, connection: sqlite3.Connection) -> bool:
        if connection.execute("PRAGMA user_version").fetchone() != (FORMAT,):
            return False
        return bool(connection.execute("SELECT fingerprint FROM maker").fetchone() == self._maker())

    def _claim(self, connection: sqlite3.Connection, whole: bool) -> bool:
        """See to our tables, within a transaction; False when it is for another version to write here."""
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version > FORMAT:
            return False
        if version and self._is_ours(connection):
            return True
        if version and not whole:
            return False
        for statement in _SCHEMA.split(";"):
            connection.execute(statement)
        connection.execute("INSERT INTO maker VALUES (?)", self._maker())
        connection.execute(f"PRAGMA user_version = {FORMAT}")
        return True

    def _maker(self) -> tuple[bytes]:
        return (b"%s %s" % (_fingerprint(), self._about),)

    def _make_file(self) -> None:
        """See to a private file in a private folder; raise OSError when that cannot be."""
        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        status = os.lstat(self._folder)
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
            raise PermissionError(self._folder)
        if status.st_mode & 0o077:
            os.chmod(self._folder, 0o700)
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with suppress(FileExistsError):
            os.close(os.open(self.path, flags, 0o600))
        if not is_private(self.path):
            raise PermissionError(self.path)


def _known(entry: Entry) -> tuple[FileState, Memory]:
    assert isinstance(entry.outcome, Document)  # noqa: S101
    assert entry.state is not None  # noqa: S101
    return entry.state, entry.outcome.memory


def _pack(path: bytes, entry: Entry) -> tuple[bytes, int, bytes]:
    state, memory = _known(entry)
    fields = (
        " ".join(map(str, state)),
        memory.id,
        memory.title,
        memory.kind,
        memory.status,
        memory.source_harness,
        " ".join(memory.target_harnesses),
        " ".join(memory.tags),
        " ".join(memory.links),
        memory.created_at,
        memory.updated_at,
        memory.body,
    )
    record = "\0".join(fields).encode("utf-8")
    return path, crc32(record, crc32(path)), record


def _tally(path: bytes, entry: Entry) -> tally.Row:
    state, memory = _known(entry)
    return tally.row(
        path,
        memory.scope,
        state,
        kind=memory.kind,
        status=memory.status,
        day=memory.updated_at[:10],
        targets=memory.target_harnesses,
    )


def _unpack(record: bytes, scope: str, path: str, lists: dict[str, tuple[str, ...]]) -> Entry:
    """The opposite of :func:`_pack`; ``lists`` remembers the few lists of slugs that there are."""
    state, id, title, kind, status, source, targets, tags, links, created, updated, body = record.decode(
        "utf-8"
    ).split("\0")
    for slugs in (targets, tags, links):
        if slugs not in lists:
            lists[slugs] = tuple(map(sys.intern, slugs.split()))
    memory = Memory(
        id=id,
        title=title,
        kind=sys.intern(kind),
        scope=scope,
        status=sys.intern(status),
        source_harness=sys.intern(source),
        target_harnesses=lists[targets],
        tags=lists[tags],
        links=lists[links],
        created_at=created,
        updated_at=created if updated == created else updated,
        body=body,
    )
    file_state = tuple(map(int, state.split()))
    size = file_state[2]
    return Entry(file_state, Document(memory, path, size), size)


@cache
def _fingerprint() -> bytes:
    """What a verdict on a document depends on besides the document: the code that passes it."""
    digest = hashlib.sha256()
    for module in (document, judge, secrets, secret_rules, secret_values, tally, sys.modules[__name__]):
        digest.update(module.__loader__.get_data(module.__file__))  # type: ignore[union-attr]
    return digest.hexdigest()[:32].encode()
