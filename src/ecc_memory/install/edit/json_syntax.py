"""JSON and JSON with comments, read into values that know where they stand.

The grammar is RFC 8259; the other dialect adds ``//`` and ``/* */`` comments and trailing commas,
as the editors and harnesses that speak it do. What no reader agrees on is refused: two values for
one key, ``NaN``, single quotes, bare keys, a second value after the first.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from ecc_memory.install.edit.delimited import Delimited
from ecc_memory.install.edit.text import refuse

COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)

_BLANK = re.compile(r"[ \t\r\n]*")
_STRING = re.compile(r'"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*"')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![0-9A-Za-z_.+-])")
_WORD = re.compile(r"(?:true|false|null)(?![0-9A-Za-z_])")
_MAX_DEPTH = 128


@dataclass(frozen=True)
class Node:
    """A value and its span.

    Args:
        value: the value as Python has it.
        start: the offset of its first character.
        end: the offset after its last.
        box: its elements, for an object or an array.
        members: the node of each key, for an object.
        items: the node of each element, for an array.
    """

    value: object
    start: int
    end: int
    box: Delimited | None = None
    members: dict[str, Node] | None = None
    items: tuple[Node, ...] | None = None


def read(text: str, *, strict: bool) -> Node | None:
    """Return the one value of a text, or None when it holds nothing but blanks and comments.

    Args:
        text: the file.
        strict: refuse comments and trailing commas.

    Raises:
        EditRefused: the text is not of the dialect, or nested deeper than 128 levels.
    """
    return _Reader(text, strict=strict).root()


class _Reader:
    def __init__(self, text: str, *, strict: bool) -> None:
        self._text = text
        self._strict = strict

    def root(self) -> Node | None:
        at = self._skip(0)
        if at == len(self._text):
            return None
        node = self._value(at, 0)
        at = self._skip(node.end)
        if at != len(self._text):
            raise refuse("a second value after the end of the first", self._text, at)
        return node

    def _skip(self, at: int) -> int:
        """Return the offset after the blanks and comments that begin at ``at``."""
        while True:
            at = _end(_BLANK.match(self._text, at))
            if not self._text.startswith("/", at):
                return at
            if self._strict:
                raise refuse("a comment, which this file's reader does not accept", self._text, at)
            comment = COMMENT.match(self._text, at)
            if comment is None:
                raise refuse("a comment that is never closed", self._text, at)
            at = comment.end()

    def _value(self, at: int, depth: int) -> Node:
        if depth > _MAX_DEPTH:
            raise refuse(f"nested deeper than {_MAX_DEPTH} levels", self._text, at)
        opening = self._text[at : at + 1]
        if opening == "{":
            return self._object(at, depth)
        if opening == "[":
            return self._array(at, depth)
        if opening == '"':
            value, end = self._string(at)
            return Node(value, at, end)
        match = _NUMBER.match(self._text, at) or _WORD.match(self._text, at)
        if match is None:
            raise refuse(f"expected a value{self._found(at)}", self._text, at)
        try:
            return Node(json.loads(match.group()), at, match.end())
        except ValueError:
            raise refuse("a number with too many digits", self._text, at) from None

    def _string(self, at: int) -> tuple[str, int]:
        match = _STRING.match(self._text, at)
        if match is None:
            raise refuse("a string that is never closed or holds a wrong escape", self._text, at)
        return str(json.loads(match.group())), match.end()

    def _object(self, start: int, depth: int) -> Node:
        members: dict[str, Node] = {}
        elements: list[tuple[int, int]] = []
        at = self._skip(start + 1)
        while not self._text.startswith("}", at):
            if not self._text.startswith('"', at):
                raise refuse(f"expected a key in double quotes or }}{self._found(at)}", self._text, at)
            key, end = self._string(at)
            if key in members:
                raise refuse(f"the key {key!r} appears twice", self._text, at)
            colon = self._skip(end)
            if not self._text.startswith(":", colon):
                raise refuse(f"expected a colon{self._found(colon)}", self._text, colon)
            node = self._value(self._skip(colon + 1), depth + 1)
            members[key] = node
            elements.append((at, node.end))
            at = self._comma(node.end, "}")
        box = Delimited(start, at + 1, tuple(elements))
        return Node({key: node.value for key, node in members.items()}, start, at + 1, box, members=members)

    def _array(self, start: int, depth: int) -> Node:
        items: list[Node] = []
        at = self._skip(start + 1)
        while not self._text.startswith("]", at):
            node = self._value(at, depth + 1)
            items.append(node)
            at = self._comma(node.end, "]")
        box = Delimited(start, at + 1, tuple((node.start, node.end) for node in items))
        return Node([node.value for node in items], start, at + 1, box, items=tuple(items))

    def _comma(self, at: int, closing: str) -> int:
        """Return where the next element, or the closing bracket, stands."""
        at = self._skip(at)
        if self._text.startswith(closing, at):
            return at
        if not self._text.startswith(",", at):
            raise refuse(f"expected a comma or {closing}{self._found(at)}", self._text, at)
        after = self._skip(at + 1)
        if self._strict and self._text.startswith(closing, after):
            raise refuse("a trailing comma, which this file's reader does not accept", self._text, at)
        return after

    def _found(self, at: int) -> str:
        return " before the end of the file" if at == len(self._text) else ""


def _end(match: re.Match[str] | None) -> int:
    return match.end() if match else 0
