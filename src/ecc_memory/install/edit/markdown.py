"""A marked block in a Markdown file that others write too.

The block stands between two lines, :data:`BEGIN` and :data:`END`. A marker counts only as a whole
line that CommonMark reads as a comment: not in prose, not in a fenced or an indented code block.
A harness may scan HTML comments for words that sound like an attack, so the markers hold none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ecc_memory.errors import EditRefused
from ecc_memory.install.edit.text import cut_lines, decode, encode, insert_lines, newline_near, refuse, to_lf

BEGIN = "<!-- ecc-memory:begin -->"
END = "<!-- ecc-memory:end -->"

_LINE = re.compile(r"([^\r\n]*)(\r\n|\n|\r|\Z)")
_CONTAINERS = re.compile(r"(?: {0,3}>[ ]?| {0,3}(?:[-+*]|[0-9]{1,9}[.)]) {1,4}(?! ))*")
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*\Z)|~{3,})")
_OPEN_COMMENT = re.compile(r" {0,3}<!--(?!.*-->)")
_MARKER = re.compile(rf" {{0,3}}({re.escape(BEGIN)}|{re.escape(END)})[ \t]*\Z")


@dataclass(frozen=True)
class Block:
    """The block that was found.

    Args:
        text: what stands between the markers, every line end as LF.
        start: the offset in bytes of the line of the begin marker.
        end: the offset in bytes after the line of the end marker.
    """

    text: str
    start: int
    end: int


def find_block(data: bytes) -> Block | None:
    """Return the marked block of a file, or None when it has none.

    Raises:
        EditRefused: a marker is doubled, reversed or without its partner, or the file is not
            UTF-8; the message names the line.
    """
    bom, text = decode(data)
    found = _locate(text)
    if found is None:
        return None
    start, inner, outer, end = (len(bom) + len(text[:index].encode()) for index in found)
    return Block(to_lf(data[inner:outer].decode()), start, end)


def set_block(data: bytes, text: str) -> bytes:
    """Put ``text`` into the marked block; a file without one gets it at its end, after an empty line.

    Args:
        data: the file; ``b""`` for a new one.
        text: LF line ends, one of them at the end; no marker lines, no code fence left open.

    Returns:
        The new bytes, the same object when the block holds ``text`` already.

    Raises:
        EditRefused: see :func:`find_block`; or a code fence of the file is never closed, so that
            the block would become code.
    """
    if not text.endswith("\n"):
        raise ValueError("the text of a block ends in a line end")
    block = find_block(data)
    if block is not None and block.text == text:
        return data
    bom, source = decode(data)
    found = _locate(source)
    if found is None:
        result = insert_lines(source, len(source), f"{BEGIN}\n{text}{END}\n", blank=True)
    else:
        _, inner, outer, _ = found
        result = source[:inner] + text.replace("\n", newline_near(source, inner)) + source[outer:]
    edited = encode(bom, result)
    try:
        after = find_block(edited)
    except EditRefused:
        after = None
    if after is None or after.text != text:
        raise refuse("a code fence above is never closed; close it first", source, len(source))
    return edited


def delete_block(data: bytes) -> bytes:
    """Take the marked block out, with the empty line before it; a file without one stays as it is.

    Raises:
        EditRefused: see :func:`find_block`.
    """
    bom, text = decode(data)
    found = _locate(text)
    if found is None:
        return data
    return encode(bom, cut_lines(text, found[0], found[3], blank=True))


def _locate(text: str) -> tuple[int, int, int, int] | None:
    """Return where the block begins, where its text begins and ends, and where the block ends."""
    begin: tuple[int, int] | None = None
    block: tuple[int, int, int, int] | None = None
    for marker, start, end in _markers(text):
        if block is not None:
            raise refuse(f"a second {marker}; remove one of the two blocks", text, start)
        if marker == BEGIN and begin is None:
            begin = (start, end)
        elif marker == END and begin is not None:
            block = (*begin, start, end)
        else:
            wrong = f"{marker} again, before the block is closed" if begin else f"{marker} closes nothing"
            raise refuse(f"{wrong}; restore the missing marker line or remove this one", text, start)
    if begin is not None and block is None:
        raise refuse(f"no {END} follows this marker; put it back or remove this line", text, begin[0])
    return block


def _markers(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield each marker line outside code: the marker, and the span of its line."""
    fence: _Fence | None = None
    comment = False
    for match in _LINE.finditer(text):
        line = match.group(1)
        if comment:
            comment = "-->" not in line
            continue
        if fence is not None and fence.holds(line):
            if fence.closed_by(line):
                fence = None
            continue
        fence = _Fence.opened_by(line)
        comment = _OPEN_COMMENT.match(line) is not None
        marker = _MARKER.match(line)
        if marker:
            yield marker.group(1), match.start(), match.end()


@dataclass(frozen=True)
class _Fence:
    """An open code fence: its characters, and the quote or list item that it is part of."""

    mark: str
    quoted: bool
    indent: int

    @classmethod
    def opened_by(cls, line: str) -> _Fence | None:
        containers = _CONTAINERS.match(line)
        prefix = containers.group() if containers else ""
        match = _FENCE.match(line[len(prefix) :])
        if match is None:
            return None
        quoted = ">" in prefix
        return cls(match.group(1), quoted, 0 if quoted else len(prefix))

    def holds(self, line: str) -> bool:
        """Tell whether ``line`` is still in the quote or the list item of the fence."""
        content = line.lstrip(" \t")
        if self.quoted:
            return content.startswith(">")
        lead = line[: len(line) - len(content)]
        return not content or len(lead.expandtabs(4)) >= self.indent

    def closed_by(self, line: str) -> bool:
        content = line.lstrip(" \t>") if self.quoted else line.expandtabs(4)[self.indent :]
        stripped = content.strip(" \t")
        indented = len(content) - len(content.lstrip(" "))
        return indented < 4 and len(stripped) >= len(self.mark) and not stripped.strip(self.mark[0])
