"""What the editors of all formats have in common: parse, locate, splice, parse again, compare.

A format supplies a :class:`Document`: a text, its tree, and five splices that return a new text.
:class:`Editor` turns them into the public operations. It never trusts a splice: the result is
parsed again and must equal the old tree plus the change, else nothing is returned.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from ecc_memory.errors import EditRefused
from ecc_memory.install.edit.text import decode, encode, refuse
from ecc_memory.install.edit.value import MISSING, Key, lookup, same, with_key, without_empty, without_key

_MAX_STEPS = 64
"""More differences than this between two mappings, and the whole value is replaced."""


class Document(ABC):
    """One parsed text. Each splice returns a new text and leaves the document as it is.

    Attributes:
        text: the file without its byte order mark.
        tree: its value, a mapping; empty for an empty file.
    """

    text: str
    tree: Mapping[str, object]

    @abstractmethod
    def insert(self, key: Key, value: object) -> str:
        """Add ``key``, which is absent, and the parents it lacks."""

    @abstractmethod
    def replace(self, key: Key, value: object) -> str:
        """Put another value in the place of the one at ``key``."""

    @abstractmethod
    def remove(self, key: Key) -> str:
        """Take out ``key``, which is present, in whatever way it is written."""

    @abstractmethod
    def append(self, key: Key, item: object) -> str:
        """Add an element at the end of the list at ``key``."""

    @abstractmethod
    def drop(self, key: Key, index: int) -> str:
        """Take the element at ``index`` out of the list at ``key``."""

    @abstractmethod
    def find(self, key: Key) -> int:
        """Return where ``key`` stands, or the nearest parent of it that does; 0 for the root."""


@dataclass(frozen=True)
class Editor:
    """The operations on one format.

    Args:
        parse: reads a text; raises EditRefused with the line of what is wrong.
    """

    parse: Callable[[str], Document]

    def load(self, data: bytes) -> Mapping[str, object]:
        """Return the value of a file; an empty one is an empty mapping.

        Raises:
            EditRefused: the file cannot be parsed, or not edited safely; the message says the
                line and what to do.
        """
        return self.parse(decode(data)[1]).tree

    def set_key(self, data: bytes, key: Key, value: object) -> bytes:
        """Give ``key`` exactly ``value``; parents that are missing are made.

        Where both the old and the new value are mappings only the sub-keys that differ are
        touched. So what a person added below our key stays as it is written when the caller
        leaves it in ``value``, and goes when it does not.

        Args:
            data: the file; ``b""`` for a new one.
            key: the path from the root, at least one name.
            value: str, int, bool, a list or a mapping of these; None where the format has it.

        Returns:
            The new bytes; the same object when the value is there already, however it is spelled.

        Raises:
            EditRefused: see :meth:`load`; or the change cannot be made without touching more.
        """
        bom, text = decode(data)
        document = self.parse(text)
        for depth in range(1, len(key)):
            _expect(document, key[:depth], Mapping, "table of keys")
        expected = with_key(document.tree, key, value)
        if same(document.tree, expected):
            return data
        return encode(bom, self._checked(document, key, self._set(document, key, value), expected))

    def delete_key(self, data: bytes, key: Key, *, prune: int = 0) -> bytes:
        """Take ``key`` out, in every way it can be written; an absent key changes nothing.

        Args:
            data: the file.
            key: the path from the root.
            prune: remove up to this many parents as well, the nearest first, as long as they
                are empty.

        Raises:
            EditRefused: see :meth:`set_key`.
        """
        bom, text = decode(data)
        document = self.parse(text)
        if lookup(document.tree, key) is MISSING:
            return data
        expected = without_key(document.tree, key)
        edited = self._prune(document.remove(key), key[:-1], prune)
        return encode(bom, self._checked(document, key, edited, expected, emptied=key[:-1]))

    def append_item(self, data: bytes, key: Key, item: object) -> bytes:
        """Add ``item`` at the end of the list at ``key``, made if absent, unless it is there already.

        Raises:
            EditRefused: see :meth:`set_key`; or ``key`` holds something that is not a list.
        """
        bom, text = decode(data)
        document = self.parse(text)
        _expect(document, key, list, "list")
        items = lookup(document.tree, key)
        if not isinstance(items, list):
            return self.set_key(data, key, [item])
        if _index(items, item) is not None:
            return data
        expected = with_key(document.tree, key, [*items, item])
        return encode(bom, self._checked(document, key, document.append(key, item), expected))

    def remove_item(self, data: bytes, key: Key, item: object, *, prune: int = 0) -> bytes:
        """Take the last element that equals ``item`` out of the list at ``key``, if there is one.

        Args:
            data: the file.
            key: the path of the list.
            item: the element, compared by structure.
            prune: if the list is empty then, remove its key and its parents as long as they
                are empty, up to this many.

        Raises:
            EditRefused: see :meth:`append_item`.
        """
        bom, text = decode(data)
        document = self.parse(text)
        items = lookup(document.tree, key)
        index = _index(items, item) if isinstance(items, list) else None
        if index is None or not isinstance(items, list):
            return data
        expected = with_key(document.tree, key, items[:index] + items[index + 1 :])
        edited = self._prune(document.drop(key, index), key, prune)
        return encode(bom, self._checked(document, key, edited, expected, emptied=key))

    def _set(self, document: Document, key: Key, value: object) -> str:
        old = lookup(document.tree, key)
        if old is MISSING:
            return document.insert(key, value)
        if not isinstance(old, Mapping) or not isinstance(value, Mapping):
            return document.replace(key, value)
        steps = list(_differences(old, value))
        if not value or len(steps) > _MAX_STEPS:
            return document.replace(key, value)
        text = document.text
        for name, new in steps:
            path = (*key, name)
            text = document.remove(path) if new is MISSING else self._set(document, path, new)
            document = self.parse(text)
        return text

    def _prune(self, text: str, key: Key, levels: int) -> str:
        for _ in range(min(levels, len(key))):
            document = self.parse(text)
            value = lookup(document.tree, key)
            if value in (None, {}, []):
                text = document.remove(key)
            elif value is not MISSING:
                break
            key = key[:-1]
        return text

    def _checked(self, before: Document, key: Key, text: str, expected: object, *, emptied: Key = ()) -> str:
        """Return ``text`` if it parses to ``expected``, whatever became of empty parents at ``emptied``."""
        try:
            found = without_empty(self.parse(text).tree, emptied)
        except EditRefused:
            found = MISSING
        if not same(found, without_empty(expected, emptied)):
            problem = f"{'.'.join(key)} cannot be changed here without changing more; do it by hand"
            raise refuse(problem, before.text, before.find(key))
        return text


def _differences(old: Mapping[str, object], new: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """Yield what must be set (or removed, :data:`MISSING`) to make ``new`` out of ``old``."""
    for name in old:
        if name not in new:
            yield name, MISSING
    for name, value in new.items():
        if name not in old or not same(old[name], value):
            yield name, value


def _expect(document: Document, key: Key, kind: type, name: str) -> None:
    """Refuse a value at ``key`` that is there, is not null, and is of another kind."""
    value = lookup(document.tree, key)
    if value is not MISSING and value is not None and not isinstance(value, kind):
        raise refuse(
            f"{'.'.join(key)} is not a {name}; change that by hand", document.text, document.find(key)
        )


def _index(items: list[object], item: object) -> int | None:
    """Return the index of the last element that equals ``item``."""
    found = [index for index, value in enumerate(items) if same(value, item)]
    return found[-1] if found else None
