"""Where the entries of a YAML text stand, and how values are written.

ruamel.yaml composes the text and marks where each node begins; this module turns the marks into
spans of content. A node's mark ends where the next one begins, so that comments and empty lines
in between would count as ours: here, content ends with its last character.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Protocol

from ecc_memory.errors import EditRefused
from ecc_memory.install.edit.delimited import Delimited
from ecc_memory.install.edit.text import line_end, refuse

COMMENT = re.compile(r"#[^\r\n]*")

_MERGE = "tag:yaml.org,2002:merge"
_STRING = "tag:yaml.org,2002:str"
_COLON = re.compile(r"[ \t]*:")
_FLOW_COLON = re.compile(r"[ \t\r\n]*:")
_DASH = re.compile(r"(?:[ \t\r\n]|#[^\r\n]*)*-")
_PROPERTIES = re.compile(r"(?:[&!][^ \t\r\n]*[ \t\r\n]+)*")
_ALIAS = re.compile(r"(?:[ \t\r\n,]|#[^\r\n]*)*(\*[^ \t\r\n,\[\]{}]+)")

_PLAIN = re.compile(r"[A-Za-z_/][A-Za-z0-9_./-]*\Z")
_RESERVED = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


class Composed(Protocol):
    """What this module reads from a node of ruamel.yaml."""

    id: str
    tag: str
    value: Any
    style: str | None
    flow_style: bool | None
    start_mark: Any
    end_mark: Any


@dataclass(frozen=True)
class Node:
    """A value and the span of its content.

    Args:
        kind: ``block`` and ``flow`` for collections, ``scalar``, ``literal`` for a block scalar,
            ``empty`` for a null that is not written, ``alias``.
        start: the offset of its first character, properties included.
        end: the offset after its last.
        tied: it has an anchor or a tag, or merges another mapping into itself.
        names: the index of each entry whose key is a string, for a mapping.
        entries: its entries, for a collection.
    """

    kind: str
    start: int
    end: int
    tied: bool = False
    names: Mapping[str, int] | None = None
    entries: tuple[Entry, ...] = ()
    box: Delimited | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Entry:
    """A member of a mapping or an element of a sequence.

    Args:
        start: where its key or its dash stands.
        after: the offset after its colon or its dash.
        value: its value.
    """

    start: int
    after: int
    value: Node


def locate(text: str, node: Composed, after: int = 0) -> Node:
    """Turn a composed node, which begins at or after ``after``, into spans.

    Raises:
        EditRefused: a form that this editor does not follow.
    """
    start, end = node.start_mark.index, node.end_mark.index
    if start < after:  # an alias: the node stands where its anchor does
        match = _ALIAS.match(text, after)
        if match is None:
            raise refuse("an alias in a form that this editor does not know", text, after)
        return Node("alias", match.start(1), match.end(), tied=True)
    tied = start < len(text) and text[start] in "&!"
    if node.id == "scalar":
        if start == end or (tied and not node.value and not node.style):
            return Node("empty", after, after if start == end else end, tied)
        if node.style in ("|", ">"):
            return Node("literal", start, _end_of_literal(text, start, end), tied)
        return Node("scalar", start, end, tied)
    entries = _members(text, node) if node.id == "mapping" else _elements(text, node)
    names = None
    if node.id == "mapping":
        names = {
            key.value: i for i, (key, _) in enumerate(node.value) if key.tag == _STRING and key.id == "scalar"
        }
        tied = tied or any(key.tag == _MERGE for key, _ in node.value)
    if node.flow_style:
        elements = tuple((entry.start, entry.value.end) for entry in entries)
        inside = _PROPERTIES.match(text, start)
        box = Delimited(inside.end() if inside else start, end, elements)
        return Node("flow", start, end, tied, names, entries, box)
    return Node("block", start, entries[-1].value.end, tied, names, entries)


def _members(text: str, node: Composed) -> tuple[Entry, ...]:
    entries: list[Entry] = []
    for key, value in node.value:
        start, end = key.start_mark.index, key.end_mark.index
        if entries and start < entries[-1].value.end:
            raise refuse("an alias as a key", text, entries[-1].value.end)
        colon = (_FLOW_COLON if node.flow_style else _COLON).match(text, end)
        after = colon.end() if colon else end
        entries.append(Entry(start, after, locate(text, value, after)))
    return tuple(entries)


def _elements(text: str, node: Composed) -> tuple[Entry, ...]:
    entries: list[Entry] = []
    properties = _PROPERTIES.match(text, node.start_mark.index)
    at = (properties.end() if properties else 0) + (1 if node.flow_style else 0)
    for item in node.value:
        if node.flow_style:
            value = locate(text, item, at)
            entries.append(Entry(value.start, value.start, value))
        else:
            dash = _DASH.match(text, at)
            if dash is None:
                raise refuse("a list in a form that this editor does not know", text, at)
            value = locate(text, item, dash.end())
            entries.append(Entry(dash.end() - 1, dash.end(), value))
        at = value.end
    return tuple(entries)


def _end_of_literal(text: str, start: int, end: int) -> int:
    """Return where a block scalar ends: with its last line, or with empty ones that it keeps (``+``)."""
    if "+" not in text[start : line_end(text, start)].split("#", 1)[0]:
        return start + len(text[start:end].rstrip(" \t\r\n"))
    return end - (2 if text.endswith("\r\n", 0, end) else int(text[end - 1] in "\r\n"))


def render_flow(value: object) -> str:
    """Write a value on one line.

    Raises:
        EditRefused: YAML cannot hold the value.
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _render_float(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, str):
        return _render_string(value)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(render_flow, value)) + "]"
    if isinstance(value, Mapping):
        return (
            "{" + ", ".join(f"{render_flow(name)}: {render_flow(item)}" for name, item in value.items()) + "}"
        )
    raise EditRefused(f"YAML has no place for a value of type {type(value).__name__}")


def render_entry(name: object, value: object, indent: str, unit: str) -> str:
    """Write ``name: value`` as whole lines."""
    key = indent + render_flow(name) + ":"
    if isinstance(value, Mapping) and value:
        return f"{key}\n" + "".join(render_entry(*member, indent + unit, unit) for member in value.items())
    if is_block(value) and isinstance(value, (list, tuple)):
        return f"{key}\n" + "".join(render_item(item, indent + unit, unit) for item in value)
    return f"{key} {render_flow(value)}\n"


def is_block(value: object) -> bool:
    """Tell whether :func:`render_entry` writes a value below its key: a mapping, or a list with one."""
    if isinstance(value, (list, tuple)):
        return any(isinstance(item, Mapping) for item in value)
    return isinstance(value, Mapping) and bool(value)


def render_item(item: object, indent: str, unit: str) -> str:
    """Write ``- item`` as whole lines."""
    if isinstance(item, Mapping) and item:
        lines = "".join(render_entry(*member, indent + "  ", unit) for member in item.items())
        return f"{indent}- {lines[len(indent) + 2 :]}"
    return f"{indent}- {render_flow(item)}\n"


def _render_string(value: str) -> str:
    """Write a string so that YAML 1.1 and 1.2 both read it as one: plain where no reader can err."""
    if _PLAIN.match(value) and value.lower() not in _RESERVED:
        return value
    quoted = json.dumps(value, ensure_ascii=False)
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match.group()):04x}", quoted)


def _render_float(value: float) -> str:
    """Write a float with the point that YAML 1.1 asks for."""
    special = {"inf": ".inf", "-inf": "-.inf", "nan": ".nan"}
    text = special.get(repr(value), repr(value))
    return text if "." in text else text.replace("e", ".0e")
