"""What a count needs of the index: a short row a document, beside the long one that a search needs.

A row is a path, a record and a checksum of both; the record is the scope, the file's state, and the
fields that decide what a document counts as. Only a valid document that was in its state for longer than the
clock's grain has one, so that whoever finds the file in that state need not read it
(:mod:`ecc_memory.vault.index`).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from zlib import crc32

from ecc_memory.vault.cache import FORMAT, PATIENCE, connect, is_private, store_path
from ecc_memory.vault.tree import FileState

SCHEMA = "CREATE TABLE tally (path BLOB PRIMARY KEY, checksum INTEGER NOT NULL, record BLOB NOT NULL)"
_BATCH = 500

Row = tuple[bytes, int, bytes]
"""A document's path below the scope's root as the file system spells it, the checksum, the record."""


def record_start(scope: str, state: FileState) -> bytes:
    """Return how a document's record begins as long as its file is in a state."""
    return f"{scope} {' '.join(map(str, state))}\0".encode()


def row(
    path: bytes, scope: str, state: FileState, *, kind: str, status: str, day: str, targets: tuple[str, ...]
) -> Row:
    """Return the row of a document; ``day`` is that of its last change."""
    record = record_start(scope, state) + f"{kind}\0{status}\0{day}\0{' '.join(targets)}".encode()
    return path, crc32(record, crc32(path)), record


def meaning_of(rest: bytes) -> tuple[str, str, str, list[str]]:
    """Return the kind, status, day and targets that a record holds after its start."""
    kind, status, day, targets = rest.decode().split("\0")
    return kind, status, day, targets.split(" ")


def load(folder: str, root: str, deadline: float) -> dict[bytes, bytes]:
    """Return the records of a scope by path.

    Args:
        folder: where the stores are.
        root: the scope's root folder, absolute and resolved.
        deadline: the ``time.monotonic()`` at which to make do with what was read.

    Returns:
        Empty where there is no store, or none that can be used.
    """
    path = store_path(folder, root)
    records: dict[bytes, bytes] = {}
    if not is_private(path):
        return records
    try:
        import sqlite3
    except ImportError:
        return records
    try:
        for document, record in _rows(path, deadline):
            records[document] = record
    except sqlite3.Error:
        pass  # what was read until now is good, as its checksums say
    return records


def _rows(path: str, deadline: float) -> Iterator[tuple[bytes, bytes]]:
    connection = connect(path, PATIENCE)
    try:
        if connection.execute("PRAGMA user_version").fetchone() != (FORMAT,):
            return
        rows = connection.execute("SELECT path, checksum, record FROM tally")
        while time.monotonic() < deadline and (batch := rows.fetchmany(_BATCH)):
            for document, checksum, record in batch:
                whole = isinstance(document, bytes) and isinstance(record, bytes)  # damage can be to a type
                if whole and checksum == crc32(record, crc32(document)):
                    yield document, record
    finally:
        connection.close()
