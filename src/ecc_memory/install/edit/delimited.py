"""Lists with brackets and commas: add an element at the end, take one out again.

JSON objects and arrays, TOML arrays and inline tables and YAML flow collections all look like
this. What is added follows the layout of the elements before it; taking it out gives the same
text back: commas, comments and a trailing comma included.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from ecc_memory.install.edit.text import indent_at, line_start, newline_near

_BLANK = " \t\r\n"

Span = tuple[int, int]

Render = Callable[["str | None"], str]
"""Writes an element: over several lines that continue at an indentation, or on one line for None."""


@dataclass(frozen=True)
class Delimited:
    """Where a bracketed list stands in its text.

    Args:
        start: the offset of the opening bracket.
        end: the offset after the closing bracket.
        elements: the span of each element; in a mapping, of key, separator and value.
    """

    start: int
    end: int
    elements: tuple[Span, ...]


@dataclass(frozen=True)
class Layout:
    """How a format, or a file, writes its lists.

    Args:
        comment: matches a comment, without the end of its line.
        unit: one level of indentation.
        space: what follows a comma on the same line.
        spread: an empty list opens up into lines when it gets its first element.
    """

    comment: re.Pattern[str]
    unit: str = "  "
    space: str = " "
    spread: bool = False


def add(text: str, box: Delimited, render: Render, layout: Layout) -> str:
    """Return ``text`` with one more element at the end of ``box``."""
    start, end = box.elements[-1] if box.elements else (box.start, box.start + 1)
    gap = _gap(text, end, box.end - 1, layout)
    if not box.elements and not gap:
        return _fill(text, box, render, layout)
    comma = next((span for span in gap if _is_comma(text, span)), None)
    at = _end_of_comments(text, comma[1] if comma else end, gap, to_end=not box.elements)
    model = start if box.elements else gap[-1][0]
    indent: str | None = None
    lead = layout.space
    if _begins_line(text, model) or _ends_with_line_comment(text, at, gap):
        indent = indent_at(text, model)
        lead = newline_near(text, at) + indent
    separator, trailing = ("", ",") if comma else ("," if box.elements else "", "")
    element = render(indent).replace("\n", newline_near(text, at))
    return f"{text[:end]}{separator}{text[end:at]}{lead}{element}{trailing}{text[at:]}"


def _fill(text: str, box: Delimited, render: Render, layout: Layout) -> str:
    """Put the first element into a list that holds nothing but blanks."""
    inside, close = box.start + 1, box.end - 1
    padding = text[inside:close]
    lines = "\n" in padding or "\r" in padding
    if not lines and (padding or not layout.spread):
        return f"{text[:close]}{render(None)}{padding}{text[close:]}"
    newline, outer = newline_near(text, inside), indent_at(text, box.start)
    indent = outer + layout.unit
    tail = padding if lines else newline + outer
    return f"{text[:inside]}{newline}{indent}{render(indent).replace(chr(10), newline)}{tail}{text[close:]}"


def remove(text: str, box: Delimited, index: int, layout: Layout) -> str:
    """Return ``text`` without the element ``index`` of ``box`` and without the comma it needed."""
    start, end = box.elements[index]
    previous = box.elements[index - 1][1] if index else box.start + 1
    following = box.elements[index + 1][0] if index + 1 < len(box.elements) else box.end - 1
    before, after = _gap(text, previous, start, layout), _gap(text, end, following, layout)
    commas = [span for span in after if _is_comma(text, span)] or [
        span for span in before if _is_comma(text, span)
    ]
    if len(box.elements) == 1 and not before and after == commas:
        return _empty(text, box, (start, end))
    if index == 0 and after == commas and following < box.end - 1:
        return text[:start] + text[following:]
    lead = before[-1][1] if before else previous
    if (
        before
        and _is_line_comment(text, before[-1])
        and text[end : following + 1].lstrip(" \t,")[0] not in "\r\n"
    ):
        lead = start
    return _cut(text, [*commas, (lead, start), (start, end)])


def _empty(text: str, box: Delimited, element: Span) -> str:
    """Undo :func:`_fill`: take the only element out of a list without comments."""
    inside, close = box.start + 1, box.end - 1
    lead, tail = text[inside : element[0]], text[element[1] : close].replace(",", "")
    if "\n" not in lead and "\r" not in lead:
        return text[:inside] + lead + text[close:]
    added = newline_near(text, inside) + indent_at(text, box.start)
    return text[:inside] + ("" if tail == added else tail) + text[close:]


def _gap(text: str, start: int, end: int, layout: Layout) -> list[Span]:
    """Return the spans of the comments and the commas between two elements."""
    found: list[Span] = []
    while start < end:
        if text[start] in _BLANK:
            start += 1
            continue
        comment = layout.comment.match(text, start, end)
        stop = comment.end() if comment else start + 1
        found.append((start, stop))
        start = stop
    return found


def _is_comma(text: str, span: Span) -> bool:
    return text[span[0] : span[1]] == ","


def _is_line_comment(text: str, span: Span) -> bool:
    return not _is_comma(text, span) and not text.startswith("/*", span[0])


def _end_of_comments(text: str, at: int, gap: list[Span], *, to_end: bool) -> int:
    """Return where the comments end that begin on the line of ``at`` (or all, ``to_end``)."""
    for start, end in gap:
        if start >= at and (to_end or not set(text[at:start]) & {"\n", "\r"}):
            at = end
    return at


def _ends_with_line_comment(text: str, at: int, gap: list[Span]) -> bool:
    return any(end == at and _is_line_comment(text, (start, end)) for start, end in gap)


def _begins_line(text: str, index: int) -> bool:
    return not text[line_start(text, index) : index].strip(" \t") and line_start(text, index) > 0


def _cut(text: str, spans: list[Span]) -> str:
    for start, end in sorted(spans, reverse=True):
        text = text[:start] + text[end:]
    return text
