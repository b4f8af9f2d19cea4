"""A marked block in a Markdown file that others write too.

The block stands between two lines, :data:`BEGIN` and :data:`END`. A marker counts only as a whole
line that a CommonMark parser reads as HTML: not in prose, not in a fenced or an indented code
block. A harness may scan HTML comments for words that sound like an attack, so the markers hold
none.
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
_MARKER = re.compile(rf"[ \t]*({re.escape(BEGIN)}|{re.escape(END)})[ \t]*\Z")
_MAX_CHARACTERS = 1024 * 1024


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
    alone = _locate(f"{BEGIN}\n{text}{END}\n")
    if not text.endswith("\n") or alone is None or alone[2] != len(f"{BEGIN}\n{text}"):
        raise EditRefused("the text of the block holds a marker line or a code fence that is never closed")
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
    after = find_block(edited)
    if after is None or after.text != text:
        raise refuse("this code fence is never closed; close it first", source, _last_fence(result))
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
    """Yield each marker line that the parser reads as HTML: the marker, and the span of its line."""
    if BEGIN not in text and END not in text:
        return
    for lines in _blocks("html_block", text):
        for line in lines:
            marker = _MARKER.match(line.group(1))
            if marker:
                yield marker.group(1), line.start(), line.end()


def _last_fence(text: str) -> int:
    """Return where the last code fence of a text opens."""
    return max((lines[0].start() for lines in _blocks("fence", text)), default=0)


def _blocks(kind: str, text: str) -> Iterator[list[re.Match[str]]]:
    """Yield the lines of each block that the parser reads as of one kind."""
    if len(text) > _MAX_CHARACTERS:
        raise EditRefused("the file is larger than 1 MiB; edit it by hand")
    from markdown_it import MarkdownIt  # here, because most runs of the CLI edit nothing

    lines = list(_LINE.finditer(text))
    for token in MarkdownIt("commonmark").disable("inline").parse(text):
        if token.type == kind and token.map is not None:
            yield lines[slice(*token.map)]
