"""Where the statements of a TOML text stand, and how values are written.

The scanner runs on text that the standard parser has accepted, so it only has to find spans, not
faults. Syntax: https://toml.io/en/v1.0.0.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time

from ecc_memory.errors import EditRefused
from ecc_memory.install.edit.delimited import Delimited
from ecc_memory.install.edit.text import next_line
from ecc_memory.install.edit.value import Key

COMMENT = re.compile(r"#[^\r\n]*")

_BLANK = re.compile(r"[ \t]*")
_BLANK_LINES = re.compile(r"(?:[ \t\r\n]|#[^\r\n]*)*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_STRING = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*"{3,5}'
    r"|'''(?:[^']|'(?!''))*'{3,5}"
    r'|"(?:[^"\\]|\\.)*"'
    r"|'[^']*'",
    re.DOTALL,
)
_SCALAR = re.compile(r"[^\s,\]}#]+(?: [0-9][^\s,\]}#]*)?")


@dataclass(frozen=True)
class Value:
    """The span of a value; ``box`` for an array or an inline table, ``members`` for the latter.

    ``members`` are the path of each element, relative to the inline table, and its value.
    """

    start: int
    end: int
    box: Delimited | None = None
    members: tuple[tuple[Key, Value], ...] | None = None


@dataclass(frozen=True)
class Statement:
    """One header or one ``key = value``, on lines of its own.

    Args:
        path: the full path from the root.
        table: the path of the header it stands under; of itself for a header.
        start: the beginning of its first line.
        end: the beginning of the line after its last.
        value: its value; None for a header.
        array: it is a ``[[header]]``.
    """

    path: Key
    table: Key
    start: int
    end: int
    value: Value | None = None
    array: bool = False


def scan(text: str) -> list[Statement]:
    """Return the statements of ``text``, which is valid TOML, in their order."""
    statements: list[Statement] = []
    table: Key = ()
    at = _skip(_BLANK_LINES, text, 0)
    while at < len(text):
        start = max(text.rfind("\n", 0, at) + 1, 0)
        if text[at] == "[":
            array = text.startswith("[[", at)
            table, after = _path(text, at + 1 + array)
            end = next_line(text, after)
            statements.append(Statement(table, table, start, end, array=array))
        else:
            path, after = _path(text, at)
            value = _value(text, _skip(_BLANK, text, after + 1))
            end = next_line(text, value.end)
            statements.append(Statement(table + path, table, start, end, value))
        at = _skip(_BLANK_LINES, text, end)
    return statements


def _path(text: str, at: int) -> tuple[Key, int]:
    """Read a dotted key; return it and the offset of the ``=`` or ``]`` after it."""
    names: list[str] = []
    while True:
        at = _skip(_BLANK, text, at)
        quoted = text[at] in "\"'"
        match = _match(_STRING if quoted else _BARE_KEY, text, at)
        names.append(_unquote(match.group()) if quoted else match.group())
        at = _skip(_BLANK, text, match.end())
        if text[at] != ".":
            return tuple(names), at
        at += 1


def _unquote(key: str) -> str:
    if key[0] == "'":
        return key[1:-1]
    long_escapes = re.sub(r"\\U([0-9a-fA-F]{8})|\\(.)", _json_escape, key, flags=re.DOTALL)
    return str(json.loads(long_escapes, strict=False))


def _json_escape(match: re.Match[str]) -> str:
    """Write an escape of TOML, which also has eight hexadecimal digits, in the way of JSON."""
    return json.dumps(chr(int(match.group(1), 16)))[1:-1] if match.group(1) else match.group()


def _value(text: str, at: int) -> Value:
    if text[at] == "[":
        return _array(text, at)
    if text[at] == "{":
        return _inline_table(text, at)
    match = _match(_STRING if text[at] in "\"'" else _SCALAR, text, at)
    return Value(at, match.end())


def _array(text: str, start: int) -> Value:
    elements: list[tuple[int, int]] = []
    at = _skip(_BLANK_LINES, text, start + 1)
    while text[at] != "]":
        value = _value(text, at)
        elements.append((value.start, value.end))
        at = _skip(_BLANK_LINES, text, value.end)
        if text[at] == ",":
            at = _skip(_BLANK_LINES, text, at + 1)
    return Value(start, at + 1, Delimited(start, at + 1, tuple(elements)))


def _inline_table(text: str, start: int) -> Value:
    elements: list[tuple[int, int]] = []
    members: list[tuple[Key, Value]] = []
    at = _skip(_BLANK_LINES, text, start + 1)
    while text[at] != "}":
        path, equals = _path(text, at)
        value = _value(text, _skip(_BLANK, text, equals + 1))
        elements.append((at, value.end))
        members.append((path, value))
        at = _skip(_BLANK_LINES, text, value.end)
        if text[at] == ",":
            at = _skip(_BLANK_LINES, text, at + 1)
    return Value(start, at + 1, Delimited(start, at + 1, tuple(elements)), tuple(members))


def _skip(pattern: re.Pattern[str], text: str, at: int) -> int:
    return _match(pattern, text, at).end()


def _match(pattern: re.Pattern[str], text: str, at: int) -> re.Match[str]:
    match = pattern.match(text, at)
    if match is None:
        raise ValueError(f"not TOML at offset {at}")
    return match


def render_key(key: Key) -> str:
    """Write a dotted key, its parts quoted where they need it."""
    return ".".join(name if _BARE_KEY.fullmatch(name) else _render_string(name) for name in key)


def render_value(value: object) -> str:
    """Write a value on one line; a mapping becomes an inline table.

    Raises:
        EditRefused: TOML cannot hold the value.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (datetime, date, time)):
        return value.isoformat()
    if isinstance(value, str):
        return _render_string(value)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(render_value, value)) + "]"
    if isinstance(value, Mapping):
        members = [f"{render_key((name,))} = {render_value(item)}" for name, item in value.items()]
        return "{ " + ", ".join(members) + " }" if members else "{}"
    raise EditRefused(f"TOML has no place for a value of type {type(value).__name__}")


def render_table(key: Key, table: Mapping[str, object]) -> str:
    """Write ``[key]`` with its values, and a table of its own for each mapping among them."""
    lines = [f"[{render_key(key)}]\n"]
    tables: list[str] = []
    for name, value in table.items():
        if isinstance(value, Mapping):
            tables.append("\n" + render_table((*key, name), value))
        else:
            lines.append(f"{render_key((name,))} = {render_value(value)}\n")
    return "".join(lines + tables)


def _render_string(value: str) -> str:
    quoted = json.dumps(value, ensure_ascii=False)
    return quoted.replace("\x7f", "\\u007f")
