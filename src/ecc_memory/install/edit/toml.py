"""Edit TOML: a table goes to the end of the file, which is always a legal place for one.

The standard parser says what a file means; the spans of :mod:`.toml_syntax` say where. Our entry
is found however it is spelled: as tables and sub-tables, dotted keys, quoted keys or inside an
inline table. See :class:`.editor.Editor` for the operations.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping

from ecc_memory.errors import EditRefused
from ecc_memory.install.edit import delimited
from ecc_memory.install.edit.delimited import Delimited, Layout
from ecc_memory.install.edit.editor import Document, Editor
from ecc_memory.install.edit.text import cut_lines, indent_at, insert_lines, line_number, line_start, refuse
from ecc_memory.install.edit.toml_syntax import (
    COMMENT,
    Statement,
    Value,
    render_key,
    render_table,
    render_value,
    scan,
)
from ecc_memory.install.edit.value import Key

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_LAYOUT = Layout(COMMENT)


class TomlDocument(Document):
    """A parsed TOML file.

    Raises:
        EditRefused: the parser does not accept the text.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        try:
            self.tree: Mapping[str, object] = tomllib.loads(text)
            self._statements = scan(text)
        except tomllib.TOMLDecodeError as error:
            raise _invalid(error, text) from None
        except RecursionError:
            raise EditRefused("arrays or tables are nested too deeply; edit the file by hand") from None
        except ValueError as error:
            raise EditRefused(f"TOML in a form that this editor does not know: {error}") from None

    def insert(self, key: Key, value: object) -> str:
        """Add a key: in the inline table that holds it, as a table at the end, or in its table."""
        for statement in self._statements:
            if (
                statement.value is not None
                and len(statement.path) < len(key)
                and _begins(key, statement.path)
            ):
                return self._insert_inline(statement.value, key[len(statement.path) :], value)
        if isinstance(value, Mapping):
            return insert_lines(self.text, len(self.text), render_table(key, value), blank=True)
        return self._insert_line(key, value)

    def replace(self, key: Key, value: object) -> str:
        """Put another value in place; a table that becomes something else, or the reverse, moves."""
        old = self._value_at(key)
        if old is None or isinstance(value, Mapping):
            return TomlDocument(self.remove(key)).insert(key, value)
        return self.text[: old.start] + render_value(value) + self.text[old.end :]

    def remove(self, key: Key) -> str:
        """Take out all tables, lines and inline members whose path begins with ``key``."""
        text = self.text
        regions = self._regions(key)
        if not regions:
            return self._remove_inline(key)
        for first, last in reversed(regions):
            text = cut_lines(text, first.start, last.end, blank=first.value is None)
        return text

    def append(self, key: Key, item: object) -> str:
        """Add an element to an array."""
        return delimited.add(self.text, self._array_at(key), lambda _: render_value(item), _LAYOUT)

    def drop(self, key: Key, index: int) -> str:
        """Take an element out of an array."""
        return delimited.remove(self.text, self._array_at(key), index, _LAYOUT)

    def find(self, key: Key) -> int:
        """Return where the first statement about ``key``, or about the nearest parent of it, begins."""
        for depth in range(len(key), 0, -1):
            for statement in self._statements:
                if _begins(statement.path, key[:depth]):
                    return statement.start
        return 0

    def _regions(self, key: Key) -> list[tuple[Statement, Statement]]:
        """Return the first and last statement of each stretch of lines that belongs to ``key``.

        A header and what stands under it is one stretch, with the comments in between; so are
        statements with nothing but empty lines between them.
        """
        regions: list[tuple[Statement, Statement]] = []
        for statement in self._statements:
            if not _begins(statement.path, key):
                continue
            if regions:
                first, last = regions[-1]
                under = statement.value is not None and statement.table == last.table and first.value is None
                if under or not self.text[last.end : statement.start].strip():
                    regions[-1] = (first, statement)
                    continue
            regions.append((statement, statement))
        return regions

    def _insert_line(self, key: Key, value: object) -> str:
        """Add ``name = value`` below the last line of its table."""
        parent = key[:-1]
        within = [s for s in self._statements if s.table == parent and not s.array]
        if not within and parent:  # the table may exist through dotted keys only
            within = [s for s in self._statements if len(s.table) < len(parent) and _begins(s.path, parent)]
        if within:
            last = within[-1]
            indent = indent_at(self.text, last.start) if last.value is not None else ""
            line = f"{indent}{render_key(key[len(last.table) :])} = {render_value(value)}\n"
            return insert_lines(self.text, last.end, line)
        if parent:
            table = render_table(parent, {key[-1]: value})
            return insert_lines(self.text, len(self.text), table, blank=True)
        return insert_lines(self.text, self._before_tables(), f"{render_key(key)} = {render_value(value)}\n")

    def _before_tables(self) -> int:
        """Return where the first header begins, with the comment right above it; else the end."""
        if not self._statements:
            return len(self.text)
        at = self._statements[0].start
        while at and self.text[line_start(self.text, at - 1) : at].lstrip(" \t").startswith("#"):
            at = line_start(self.text, at - 1)
        return at

    def _insert_inline(self, value: Value, rest: Key, new: object) -> str:
        for path, member in value.members or ():
            if len(path) < len(rest) and _begins(rest, path):
                return self._insert_inline(member, rest[len(path) :], new)
        if value.box is None or value.members is None:
            raise EditRefused(f"what should hold {rest[0]!r} is not a table; change that by hand")
        element = f"{render_key(rest)} = {render_value(new)}"
        return delimited.add(self.text, value.box, lambda _: element, _LAYOUT)

    def _remove_inline(self, key: Key) -> str:
        for statement in self._statements:
            if statement.value is not None and _begins(key, statement.path):
                return self._cut_member(key, statement.value, key[len(statement.path) :])
        raise refuse(f"{render_key(key)} cannot be removed here; do that by hand", self.text, self.find(key))

    def _cut_member(self, key: Key, value: Value, rest: Key) -> str:
        members = value.members or ()
        for path, member in members:
            if len(path) < len(rest) and _begins(rest, path):
                return self._cut_member(key, member, rest[len(path) :])
        ours = [index for index, (path, _) in enumerate(members) if _begins(path, rest)]
        if value.box is None or not ours:
            raise refuse(
                f"{render_key(key)} cannot be removed here; do that by hand", self.text, self.find(key)
            )
        text = delimited.remove(self.text, value.box, ours[-1], _LAYOUT)
        return text if len(ours) == 1 else TomlDocument(text).remove(key)  # { env.A = 1, env.B = 2 }

    def _value_at(self, key: Key) -> Value | None:
        """Return the value written for exactly ``key``, or None for a table with a header or dotted keys."""
        for statement in self._statements:
            if statement.value is not None and _begins(key, statement.path):
                value, rest = statement.value, key[len(statement.path) :]
                while rest:
                    inner = [(p, v) for p, v in value.members or () if _begins(rest, p)]
                    if not inner:
                        return None
                    rest, value = rest[len(inner[0][0]) :], inner[0][1]
                return value
        return None

    def _array_at(self, key: Key) -> Delimited:
        value = self._value_at(key)
        if value is None or value.box is None:
            raise refuse(
                f"{render_key(key)} is an array of tables; change it by hand", self.text, self.find(key)
            )
        return value.box


def _invalid(error: ValueError, text: str) -> EditRefused:
    """Return the parser's refusal with the line first, as all editors say it."""
    reason, _, place = str(error).rpartition(" (at ")
    line = re.match(r"line (\d+)", place)
    number = int(line.group(1)) if line else line_number(text, len(text))
    return EditRefused(f"line {number}: not valid TOML: {reason}")


def _begins(path: Key, prefix: Key) -> bool:
    return path[: len(prefix)] == prefix


def snippet(key: Key, value: object) -> str:
    """Return what a person can paste at the end of a file to have ``value`` at ``key``."""
    if isinstance(value, Mapping):
        return render_table(key, value)
    return (
        render_table(key[:-1], {key[-1]: value})
        if key[1:]
        else f"{render_key(key)} = {render_value(value)}\n"
    )


_EDITOR = Editor(TomlDocument)

load = _EDITOR.load
set_key = _EDITOR.set_key
delete_key = _EDITOR.delete_key
append_item = _EDITOR.append_item
remove_item = _EDITOR.remove_item
