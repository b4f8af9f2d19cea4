"""The bytes of a text file, and the two line operations that undo each other.

An editor decodes a file once, splices characters, and encodes it again. Everything here keeps the
byte order mark and every line end as it was: text that is put in takes the line end of its
neighbours, and a file without a final line end stays without one. That last rule is what lets
:func:`cut_lines` give back exactly the text that :func:`insert_lines` was given.
"""

from __future__ import annotations

import codecs
import re

from ecc_memory.errors import EditRefused

MAX_BYTES = 8 * 1024 * 1024
"""A configuration file above this size is not edited."""

_LINE_END = re.compile(r"\r\n|\n|\r")


def decode(data: bytes) -> tuple[bytes, str]:
    """Split ``data`` into its byte order mark (or ``b""``) and its text, strictly UTF-8.

    Raises:
        EditRefused: the file is too large, or is not UTF-8 (the message names the line).
    """
    if len(data) > MAX_BYTES:
        raise EditRefused(f"the file is larger than {MAX_BYTES // (1024 * 1024)} MiB; edit it by hand")
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise EditRefused("line 1: the file is UTF-16; save it as UTF-8")
    bom = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    body = data[len(bom) :]
    try:
        return bom, body.decode("utf-8")
    except UnicodeDecodeError as error:
        before = body[: error.start].decode("utf-8")
        raise refuse("not valid UTF-8; save the file as UTF-8", before, len(before)) from None


def encode(bom: bytes, text: str) -> bytes:
    """Put a decoded file together again.

    Raises:
        EditRefused: the text holds half of a surrogate pair, which no UTF-8 file can.
    """
    try:
        return bom + text.encode("utf-8")
    except UnicodeEncodeError:
        raise EditRefused("the value holds half of a surrogate pair, which UTF-8 cannot store") from None


def refuse(problem: str, text: str, index: int) -> EditRefused:
    """Return the refusal to edit ``text`` because of what stands at ``index``."""
    return EditRefused(f"line {line_number(text, index)}: {problem}")


def line_number(text: str, index: int) -> int:
    """Return the 1-based number of the line that holds ``index``; CRLF, LF and CR end a line."""
    return 1 + sum(1 for _ in _LINE_END.finditer(text, 0, index))


def line_start(text: str, index: int) -> int:
    """Return where the line that holds ``index`` begins."""
    start = text.rfind("\n", 0, index) + 1
    return max(start, text.rfind("\r", start, index) + 1)


def line_end(text: str, index: int) -> int:
    """Return where the line that holds ``index`` ends, before its line end."""
    match = _LINE_END.search(text, index)
    return match.start() if match else len(text)


def next_line(text: str, index: int) -> int:
    """Return where the line after the one that holds ``index`` begins, or the end of the text."""
    match = _LINE_END.search(text, index)
    return match.end() if match else len(text)


def indent_at(text: str, index: int) -> str:
    """Return the spaces and tabs that begin the line that holds ``index``."""
    start = line_start(text, index)
    stop = start
    while stop < len(text) and text[stop] in " \t":
        stop += 1
    return text[start:stop]


def newline_near(text: str, index: int) -> str:
    """Return the line end in use around ``index``: of the line before, else of the next, else LF."""
    start = line_start(text, index)
    if start:
        return _end_before(text, start)
    match = _LINE_END.search(text, index)
    return match.group() if match else "\n"


def to_lf(text: str) -> str:
    """Return ``text`` with every line end as LF."""
    return _LINE_END.sub("\n", text)


def insert_lines(text: str, at: int, lines: str, *, blank: bool = False) -> str:
    """Put whole lines into ``text``.

    Args:
        text: the file.
        at: the beginning of a line, or the end of the text.
        lines: what to put there: LF between lines and one at the end.
        blank: put an empty line before them, except at the beginning of the file.
    """
    newline = newline_near(text, at)
    body = lines.replace("\n", newline)
    if blank and at:
        body = newline + body
    if at and text[at - 1] not in "\r\n":  # the last line has no end, and shall have none
        body = newline + body[: -len(newline)]
    return text[:at] + body + text[at:]


def cut_lines(text: str, start: int, end: int, *, blank: bool = False) -> str:
    """Take whole lines out of ``text``: undoes :func:`insert_lines`.

    Args:
        text: the file.
        start: the beginning of the first line.
        end: the beginning of the first line that stays, or the end of the text.
        blank: take one empty line before them out as well, if there is one.
    """
    unended = end == len(text) and text[end - 1 : end] not in ("\r", "\n")
    if blank and start:
        before = start - len(_end_before(text, start))
        if before and text[before - 1] in "\r\n":
            start = before
    if unended and start:
        start -= len(_end_before(text, start))
    return text[:start] + text[end:]


def _end_before(text: str, start: int) -> str:
    """Return the line end that stands right before ``start``, a beginning of a line above 0."""
    return "\r\n" if text[start - 2 : start] == "\r\n" else text[start - 1]
