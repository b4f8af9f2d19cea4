"""Edit YAML by splicing lines of block style, and members of flow style.

ruamel.yaml says what a file means and where its nodes stand; it never writes. What hangs together
with other parts of the file, through an anchor, an alias, a tag or a merge key, is refused, and so
is a file with several documents. See :class:`.editor.Editor` for the operations.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ecc_memory.errors import EditRefused
from ecc_memory.install.edit import delimited
from ecc_memory.install.edit.delimited import Layout
from ecc_memory.install.edit.editor import Document, Editor
from ecc_memory.install.edit.text import cut_lines, insert_lines, line_start, next_line, refuse
from ecc_memory.install.edit.value import Key, nested
from ecc_memory.install.edit.yaml_syntax import (
    COMMENT,
    Entry,
    Node,
    is_block,
    locate,
    render_entry,
    render_flow,
    render_item,
)

if TYPE_CHECKING:
    from ruamel.yaml.error import MarkedYAMLError

_LAYOUT = Layout(COMMENT)
_MAX_CHARACTERS = 512 * 1024


class YamlDocument(Document):
    """A parsed YAML file of one document; an empty one holds an empty mapping.

    Raises:
        EditRefused: the text is not YAML, holds several documents, or its root is not a mapping.
    """

    def __init__(self, text: str) -> None:
        if len(text) > _MAX_CHARACTERS:
            raise EditRefused("the file is larger than 512 KiB; edit it by hand")
        self.text = text
        self._root, value = _parse(text)
        if self._root is None:
            self.tree: Mapping[str, object] = {}
        elif isinstance(value, dict):
            self.tree = value
        else:
            raise refuse("the file does not hold a mapping", text, self._root.start)

    def insert(self, key: Key, value: object) -> str:
        """Add a key after the last one of the deepest mapping that is there already."""
        if self._root is None:
            return insert_lines(self.text, len(self.text), snippet(key, value))
        node, depth = self._root, 0
        entry: Entry | None = None
        while node.names is not None and key[depth] in node.names:
            self._loose(node)
            entry = node.entries[node.names[key[depth]]]
            node, depth = entry.value, depth + 1
        self._loose(node)
        name, inner = key[depth], nested(key[depth + 1 :], value)
        if node.box is not None:
            member = f"{render_flow(name)}: {render_flow(inner)}"
            return delimited.add(self.text, node.box, lambda _: member, _LAYOUT)
        if node.names is None and entry is not None:  # a null: its key becomes the parent of a block
            return self.replace(key[:depth], {name: inner})
        lines = render_entry(name, inner, self._indent(node.entries[-1]), self._unit())
        return insert_lines(self.text, self._after(node), lines)

    def replace(self, key: Key, value: object) -> str:
        """Put another value in place: on the same line if both fit there, else in lines of its own."""
        parent, entry = self._entry(key)
        old = entry.value
        block = is_block(value)
        if parent.kind == "flow" or (old.kind in ("scalar", "flow") and not block):
            return self.text[: old.start] + render_flow(value) + self.text[old.end :]
        if old.kind == "empty" and not block:
            return f"{self.text[: entry.after]} {render_flow(value)}{self.text[entry.after :]}"
        indent, start = self._indent(entry), line_start(self.text, entry.start)
        lines = render_entry(key[-1], value, indent, self._unit())
        if old.kind in ("empty", "scalar") and block:  # the line of the key stays, with its comment
            text = self.text[: entry.after] + self.text[old.end :] if old.kind == "scalar" else self.text
            return insert_lines(text, next_line(text, entry.after), lines.split("\n", 1)[1])
        text = cut_lines(self.text, start, next_line(self.text, old.end))
        return insert_lines(text, min(start, len(text)), lines)

    def remove(self, key: Key) -> str:
        """Take out the lines of a block entry, or a member of a flow mapping."""
        parent, entry = self._entry(key)
        return self._cut(parent, entry)

    def append(self, key: Key, item: object) -> str:
        """Add an element to a sequence."""
        node = self._entry(key)[1].value
        self._loose(node)
        if node.box is not None:
            return delimited.add(self.text, node.box, lambda _: render_flow(item), _LAYOUT)
        lines = render_item(item, self._indent(node.entries[-1]), self._unit())
        return insert_lines(self.text, next_line(self.text, node.end), lines)

    def drop(self, key: Key, index: int) -> str:
        """Take an element out of a sequence."""
        node = self._entry(key)[1].value
        self._loose(node)
        return self._cut(node, node.entries[index])

    def find(self, key: Key) -> int:
        """Return where the entry of ``key``, or of the nearest parent of it, begins."""
        node, at = self._root, 0
        for name in key:
            if node is None or node.names is None or name not in node.names:
                break
            entry = node.entries[node.names[name]]
            node, at = entry.value, entry.start
        return at

    def _entry(self, key: Key) -> tuple[Node, Entry]:
        """Return the entry of a key that is there, and the mapping that holds it."""
        node = self._root
        parent, entry = node, None
        for name in key:
            if node is None or node.names is None or name not in node.names:
                problem = f"{'.'.join(key)} comes from an alias or a merge; change it by hand"
                raise refuse(problem, self.text, self.find(key))
            self._loose(node)
            parent, entry = node, node.entries[node.names[name]]
            node = entry.value
        if parent is None or entry is None:
            raise EditRefused("the file holds no mapping")
        return parent, entry

    def _cut(self, parent: Node, entry: Entry) -> str:
        if parent.box is not None:
            return delimited.remove(self.text, parent.box, parent.entries.index(entry), _LAYOUT)
        self._indent(entry)
        return cut_lines(self.text, line_start(self.text, entry.start), next_line(self.text, entry.value.end))

    def _after(self, node: Node) -> int:
        """Return where a line after the last entry of a block goes.

        Before that entry, if it ends in a literal and the file in no line end: to add one would
        add it to the literal.
        """
        at, leaf = next_line(self.text, node.end), node
        while leaf.entries:
            leaf = leaf.entries[-1].value
        if leaf.kind == "literal" and self.text[at - 1] not in "\r\n":
            return line_start(self.text, node.entries[-1].start)
        return at

    def _loose(self, node: Node) -> None:
        """Refuse a node that an anchor, alias, tag or merge key ties to other parts of the file."""
        if node.tied:
            raise refuse(
                "an anchor, alias, tag or merge key stands here; edit it by hand", self.text, node.start
            )

    def _indent(self, entry: Entry) -> str:
        """Return the blanks before an entry, which must be the first thing on its line."""
        indent = self.text[line_start(self.text, entry.start) : entry.start]
        if indent.strip(" "):
            raise refuse("an entry that does not begin its line; edit it by hand", self.text, entry.start)
        return indent

    def _unit(self) -> str:
        """Return how much deeper than its key the first nested block mapping is indented."""
        nodes = [self._root] if self._root else []
        for node in nodes:
            for entry in node.entries:
                inner = entry.value
                if node.kind == inner.kind == "block" and node.names is not None and inner.names is not None:
                    width = _column(self.text, inner.entries[0]) - _column(self.text, entry)
                    return " " * width
                nodes.append(inner)
        return "  "


def _column(text: str, entry: Entry) -> int:
    return entry.start - line_start(text, entry.start)


def _parse(text: str) -> tuple[Node | None, object]:
    """Return the spans and the value of the one document in a text; None for an empty one."""
    try:
        from ruamel.yaml import YAML  # here, because only a few harnesses need it
        from ruamel.yaml.error import MarkedYAMLError, ReusedAnchorWarning
    except ImportError:
        raise EditRefused("editing YAML needs ruamel.yaml: pip install 'ecc-memory[yaml]'") from None
    reader = YAML(typ="safe", pure=True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ReusedAnchorWarning)  # legal, and never where we edit
            composed: Any = reader.compose(text)
        if composed is None:
            return None, None
        root = locate(text, composed)
        if root.kind == "empty":
            return None, None
        return root, reader.constructor.construct_document(composed)
    except MarkedYAMLError as error:
        raise _invalid(error) from None
    except RecursionError:
        raise EditRefused("nested too deeply; edit the file by hand") from None
    except Exception:  # noqa: BLE001  the library has no one error for its input: "%YAML 1.0" is an assertion
        raise EditRefused("not valid YAML: something in it that no reader accepts") from None


def _invalid(error: MarkedYAMLError) -> EditRefused:
    """Return ruamel's refusal; its text for a doubled key would show values."""
    problem = str(error.problem)
    if problem.startswith("found duplicate key"):
        problem = "a key appears twice"
    elif "another document" in problem:
        problem = "a second document; only files with one are edited"
    line = error.problem_mark.line + 1 if error.problem_mark else 1
    return EditRefused(f"line {line}: not valid YAML: {problem}")


def snippet(key: Key, value: object) -> str:
    """Return what a person can paste into a file that does not have ``key[0]`` yet."""
    return render_entry(key[0], nested(key[1:], value), "", "  ")


_EDITOR = Editor(YamlDocument)

load = _EDITOR.load
set_key = _EDITOR.set_key
delete_key = _EDITOR.delete_key
append_item = _EDITOR.append_item
remove_item = _EDITOR.remove_item
