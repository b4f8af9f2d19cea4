"""What an unfinished merge leaves in a text."""

from __future__ import annotations

import re

_OURS, _BETWEEN, _THEIRS = "<<<<<<< ", "=======", ">>>>>>> "
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")


def conflict_line(text: str) -> int | None:
    """Return the line of the first conflict that git left in a Markdown text, None without one.

    That is a line that begins with ``<<<<<<<`` and a name, one that is ``=======`` and one that
    begins with ``>>>>>>>`` and a name, in this order (git-merge(1)). What stands in fenced code
    is an example.
    """
    if _OURS not in text or _THEIRS not in text:
        return None
    fence: re.Pattern[str] | None = None
    begins, divided = 0, False
    for number, line in enumerate(map(str.rstrip, text.split("\n")), 1):
        if fence is not None:
            fence = None if fence.match(line) else fence
        elif opening := _FENCE.match(line):
            fence = re.compile(rf" {{0,3}}{re.escape(opening[1])}{opening[1][0]}*$")
        elif line.startswith(_OURS):
            begins, divided = number, False
        elif begins and line == _BETWEEN:
            divided = True
        elif divided and line.startswith(_THEIRS):
            return begins
    return None
