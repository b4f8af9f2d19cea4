"""Edit JSON, with or without comments, by splicing: only our member or element is written.

``strict=True`` is for files whose reader takes neither comments nor trailing commas: a file that
has them is refused, because its harness rejects it already. See :class:`.editor.Editor` for the
operations.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import partial

from ecc_memory.errors import EditRefused
from ecc_memory.install.edit import delimited
from ecc_memory.install.edit.delimited import Layout
from ecc_memory.install.edit.editor import Document, Editor
from ecc_memory.install.edit.json_syntax import COMMENT, Node, read
from ecc_memory.install.edit.text import indent_at, insert_lines, line_start, newline_near, refuse
from ecc_memory.install.edit.value import Key, nested


class JsonDocument(Document):
    """A parsed JSON file; an empty one, or one of comments only, holds an empty object.

    Raises:
        EditRefused: the text is not JSON of the dialect, or its root is not an object.
    """

    def __init__(self, text: str, *, strict: bool = False) -> None:
        self.text = text
        self._root = read(text, strict=strict)
        if self._root is None:
            self.tree: Mapping[str, object] = {}
        elif isinstance(self._root.value, dict):
            self.tree = self._root.value
        else:
            raise refuse("the file does not hold an object", text, self._root.start)

    def insert(self, key: Key, value: object) -> str:
        """Add a member, as the last one of the deepest object that is there already."""
        if self._root is None:
            return insert_lines(self.text, len(self.text), snippet(key, value))
        node, depth = self._deepest(self._root, key)
        if node.box is None or node.members is None:
            raise refuse(
                f"{'.'.join(key[:depth])} is not an object; change that by hand", self.text, node.start
            )
        layout = self._layout()
        name, inner = json.dumps(key[depth], ensure_ascii=False), nested(key[depth + 1 :], value)

        def member(indent: str | None) -> str:
            colon = ":" + (" " if indent is not None else layout.space)
            return name + colon + _render(inner, indent, layout)

        return delimited.add(self.text, node.box, member, layout)

    def replace(self, key: Key, value: object) -> str:
        """Put another value in place: over lines if its key begins a line, else on one line."""
        node = self._node(key)
        old = self.text[node.start : node.end]
        before = self.text[line_start(self.text, node.start) : node.start].lstrip(" \t")
        flat = not before.startswith('"') or (len(old) > 2 and old[0] in "[{" and not {"\n", "\r"} & set(old))
        new = _render(value, None if flat else indent_at(self.text, node.start), self._layout())
        return (
            self.text[: node.start]
            + new.replace("\n", newline_near(self.text, node.start))
            + self.text[node.end :]
        )

    def remove(self, key: Key) -> str:
        """Take the member out."""
        node = self._node(key[:-1])
        if node.box is None or node.members is None:
            raise EditRefused(f"what holds {key[-1]!r} is not an object; change that by hand")
        return delimited.remove(self.text, node.box, list(node.members).index(key[-1]), self._layout())

    def append(self, key: Key, item: object) -> str:
        """Add an element to an array."""
        node, layout = self._node(key), self._layout()
        if node.box is None:
            raise EditRefused(f"{key[-1]!r} is not a list; change that by hand")
        return delimited.add(self.text, node.box, lambda indent: _render(item, indent, layout), layout)

    def drop(self, key: Key, index: int) -> str:
        """Take an element out of an array."""
        node = self._node(key)
        if node.box is None:
            raise EditRefused(f"{key[-1]!r} is not a list; change that by hand")
        return delimited.remove(self.text, node.box, index, self._layout())

    def find(self, key: Key) -> int:
        """Return where the value of ``key``, or of the nearest parent of it, begins."""
        return self._deepest(self._root, key)[0].start if self._root else 0

    def _deepest(self, root: Node, key: Key) -> tuple[Node, int]:
        """Return the node of the longest part of ``key`` that is there, and how long that is."""
        node = root
        for depth, name in enumerate(key):
            if node.members is None or name not in node.members:
                return node, depth
            node = node.members[name]
        return node, len(key)

    def _node(self, key: Key) -> Node:
        if self._root is None:
            raise EditRefused("the file holds no object")
        return self._deepest(self._root, key)[0]

    def _layout(self) -> Layout:
        """Return how this file is written: its indentation, its spaces, one line or many."""
        root = self._root
        box = root.box if root else None
        if root is None or box is None or not box.elements:
            return Layout(COMMENT, spread=True)
        spread = any(end in self.text[box.start : box.elements[0][0]] for end in "\r\n")
        space = " " if spread or re.search(r"[:,] ", self.text) else ""
        indented = re.search(r"[\r\n]([ \t]+)\"", self.text)
        return Layout(COMMENT, unit=indented.group(1) if indented else "  ", space=space, spread=spread)


def _render(value: object, indent: str | None, layout: Layout) -> str:
    """Write a value over lines that continue at ``indent``, or on one line for None.

    Raises:
        EditRefused: JSON cannot hold the value.
    """
    try:
        if indent is None:
            separators = ("," + layout.space, ":" + layout.space)
            return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=separators)
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=layout.unit)
    except (TypeError, ValueError) as error:
        raise EditRefused(f"JSON has no place for the value: {error}") from None
    return text.replace("\n", "\n" + indent)


def snippet(key: Key, value: object) -> str:
    """Return a whole file that has ``value`` at ``key``, to paste or to merge by hand."""
    return _render(nested(key, value), "", Layout(COMMENT)) + "\n"


_EDITORS = {strict: Editor(partial(JsonDocument, strict=strict)) for strict in (False, True)}


def load(data: bytes, *, strict: bool = False) -> Mapping[str, object]:
    """See :meth:`.editor.Editor.load`."""
    return _EDITORS[strict].load(data)


def set_key(data: bytes, key: Key, value: object, *, strict: bool = False) -> bytes:
    """See :meth:`.editor.Editor.set_key`."""
    return _EDITORS[strict].set_key(data, key, value)


def delete_key(data: bytes, key: Key, *, prune: int = 0, strict: bool = False) -> bytes:
    """See :meth:`.editor.Editor.delete_key`."""
    return _EDITORS[strict].delete_key(data, key, prune=prune)


def append_item(data: bytes, key: Key, item: object, *, strict: bool = False) -> bytes:
    """See :meth:`.editor.Editor.append_item`."""
    return _EDITORS[strict].append_item(data, key, item)


def remove_item(data: bytes, key: Key, item: object, *, prune: int = 0, strict: bool = False) -> bytes:
    """See :meth:`.editor.Editor.remove_item`."""
    return _EDITORS[strict].remove_item(data, key, item, prune=prune)
