"""How much a vault holds, found out in the time that a reminder has.

What the index knows of a file in its present state is taken from there. Of any other document only the
head is read, and only what decides whether it counts: what is wrong with a body is for the doctor to say.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterable, Mapping

from ecc_memory.errors import EccMemoryError, VaultIO
from ecc_memory.vault import tally
from ecc_memory.vault.roots import Place
from ecc_memory.vault.tree import Folder, NotRegular, file_state

_SCHEMA = "ecc.memory.v1"
_SUFFIX = ".md"
_HEAD_BYTES = 32 * 1024
_MAX_ENTRIES = 40_000  # in a folder: to list more would take too long for the time to be kept
_WORTH_LOADING = 400  # entries listed: reading the heads of fewer takes less than loading SQLite
_MAX_DEPTH = 8
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?=T)")
_FIELDS = frozenset({"schema", "kind", "scope", "status", "target_harnesses", "updated_at"})


class OutOfTime(EccMemoryError):
    """The vault is too large to be counted in time."""


class Counts:
    """What one harness would find.

    Attributes:
        active: active memories that it may see.
        handoffs: those of them that are handoffs.
        newest: the day of the latest one, ``YYYY-MM-DD``; empty where there is none.
    """

    def __init__(self, active: int = 0, handoffs: int = 0, newest: str = "") -> None:
        self.active = active
        self.handoffs = handoffs
        self.newest = newest


def count(places: Iterable[Place], harness: str, deadline: float, cache: str | None = None) -> Counts:
    """Count what is in some scopes.

    Args:
        places: the scopes' folders; one that does not exist is empty.
        harness: the slug of who asks; what is addressed to others does not count.
        deadline: the ``time.monotonic()`` at which to give up.
        cache: the folder of the index; None to do without.

    Raises:
        OutOfTime: there is too much.
        VaultUnsafe, VaultIO: a folder cannot be used.
    """
    counts = Counts()
    for place in places:
        root = _open(place)
        if root is not None:
            with root:
                walk = _Walk(place, harness, deadline, cache, counts)
                walk.folder(root, ())
                walk.sum_up()
    return counts


def _open(place: Place) -> Folder | None:
    anchor = Folder.open(place.anchor)
    if anchor is None:
        return None
    with anchor:
        return anchor.descend(place.below)


class _Walk:
    """One scope's share of the count."""

    def __init__(
        self, place: Place, harness: str, deadline: float, cache: str | None, counts: Counts
    ) -> None:
        self._place = place
        self._targets = {harness, "all"}
        self._deadline = deadline
        self._cache = cache
        self._listed = 0
        self._known: dict[bytes, bytes] | None = None
        self._alike: dict[bytes, int] = {}
        self._counts = counts

    def folder(self, folder: Folder, names: tuple[str, ...]) -> None:
        entries, more = folder.entries(_MAX_ENTRIES)
        if more or len(names) > _MAX_DEPTH:
            raise OutOfTime("the vault is too large to be counted")
        self._listed += len(entries)
        known = self._records()
        path = os.fsencode("/".join(names)) + b"/"
        for entry in entries:
            if time.monotonic() > self._deadline:
                raise OutOfTime("the vault is too large to be counted in time")
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                child = folder.child(entry.name)
                if child is not None:
                    with child:
                        self.folder(child, (*names, entry.name))
            elif names and entry.name.endswith(_SUFFIX) and entry.is_file(follow_symlinks=False):
                record = known.get(path + os.fsencode(entry.name)) if known else None
                if record is None or not self._known_document(entry, record):
                    self._document(folder, entry.name, names[0])

    def _records(self) -> dict[bytes, bytes] | None:
        """What the index knows of the scope, once that pays."""
        if self._known is None and self._cache is not None and self._listed >= _WORTH_LOADING:
            self._known = tally.load(self._cache, self._place.path, self._deadline)
        return self._known

    def _known_document(self, entry: os.DirEntry[str], record: bytes) -> bool:
        """Count a document among those like it; False when the file is not in the state that is known."""
        try:
            state = file_state(entry.stat(follow_symlinks=False))
        except OSError:
            return False
        start = tally.record_start(self._place.scope, state)
        if not record.startswith(start):
            return False
        meaning = record[len(start) :]
        self._alike[meaning] = self._alike.get(meaning, 0) + 1
        return True

    def sum_up(self) -> None:
        """Count what the index knew, of which many are alike."""
        for meaning, number in self._alike.items():
            kind, status, day, targets = tally.meaning_of(meaning)
            if status == "active" and not self._targets.isdisjoint(targets):
                self._add(kind, day, number)

    def _document(self, folder: Folder, name: str, kind_folder: str) -> None:
        try:
            head, _ = folder.read(name, _HEAD_BYTES)
        except (FileNotFoundError, NotRegular, VaultIO):
            return  # gone or exchanged since it was listed, or not to be read: it is not there
        fields = _fields(head)
        kind = fields.get("kind", [""])[0]
        day = _DAY.match(fields.get("updated_at", [""])[0])
        if (
            day is not None  # else whatever stands there would stand in the reminder
            and fields.get("schema") == [_SCHEMA]
            and fields.get("status") == ["active"]
            and fields.get("scope") == [self._place.scope]
            and f"{kind}s" == kind_folder
            and not self._targets.isdisjoint(fields.get("target_harnesses", ()))
        ):
            self._add(kind, day[0])

    def _add(self, kind: str, day: str, number: int = 1) -> None:
        self._counts.active += number
        self._counts.handoffs += number if kind == "handoff" else 0
        self._counts.newest = max(self._counts.newest, day)


def _fields(head: bytes) -> Mapping[str, list[str]]:
    """Read the fields that count, each as its strings; none where the head is not that of a document."""
    text = head.decode("utf-8", "replace")
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    front, end, _ = text.partition("\n---\n")
    first, *lines = front.split("\n")
    if not end or first != "---":
        return {}
    fields: dict[str, list[str]] = {}
    for line in lines:
        key, _, value = line.partition(":")
        key = key.strip()
        if key in _FIELDS:
            strings = _strings(value)
            if not strings:
                return {}
            fields[key] = strings
    return fields if len(fields) == len(_FIELDS) else {}


def _strings(text: str) -> list[str]:
    """Read a JSON string or list of strings, trimmed; nothing where it is neither."""
    text = text.strip()
    plain = text[1:-1]
    if text == f'"{plain}"' and plain.isprintable() and "\\" not in plain and '"' not in plain:
        return [plain.strip()]  # most are, and it takes a third of the time
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return []
    values = value if isinstance(value, list) else [value]
    return [each.strip() for each in values] if all(isinstance(each, str) for each in values) else []
