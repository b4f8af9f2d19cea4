"""Does a text hold a credential? Known shapes only, found also where they are disguised.

A text is looked at as it stands; once more without invisible characters, if it has some; once more
with percent escapes decoded, if it has some. Each look takes two steps. *Direct*: every rule whose
anchor occurs is tried where it occurs. *Split*: the same with the line breaks taken out, where the
line that holds the anchor and the one below meet. None of these looks moves a line break, so the line
of a hit is that of the text given.

Time is proportional to the length of the text; the clean text, by far the most common, costs a
handful of passes of the C library and no regular expression.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

from ecc_memory.vault.secret_rules import RULES, Rule, matcher


@dataclass(frozen=True)
class SecretHit:
    """Where a credential seems to be; deliberately without its value.

    Attributes:
        rule: the name of the rule that matched, such as ``github-pat``.
        line: the line it begins on, counted from 1 by line feeds.
    """

    rule: str
    line: int


_Suspect = tuple[str, Rule]

_SOLID: list[_Suspect] = [(anchor, rule) for rule in RULES if not rule.loose for anchor in rule.anchors]
_LOOSE: list[_Suspect] = [(anchor, rule) for rule in RULES if rule.loose for anchor in rule.anchors]

_SHORTEST = 20  # no solid rule matches inside a word shorter than this
_REACH = 5500  # no rule matches more characters than this
_LOOKBACK = 16  # nor looks back further
_MAX_BREAKS = 4  # a token wrapped over more lines than five is not put together
_FULL_LINE = 16  # a line in the midst of a wrapped token is at least this long
_DECODINGS = 3  # percent escapes of percent escapes of percent escapes


def find_secret(text: str) -> SecretHit | None:
    """The first suspected credential in a text.

    Args:
        text: a field of a memory or a whole document, any length.

    Returns:
        The rule that matched and the line in ``text``, or None. Never the value.
    """
    for view in _views(text):
        hit = _search(view)
        if hit is not None:
            return hit
    return None


def _views(text: str) -> Iterator[str]:
    """The text, then what is left of it without disguise, if it wears one."""
    yield text
    visible = _without_invisible(text)
    if visible != text:
        yield visible
    decoded = visible
    for _ in range(_DECODINGS):
        if "%" not in decoded:
            break
        decoded = _compiled(r"%[0-9A-Fa-f]{2}(?:%[0-9A-Fa-f]{2})*").sub(_decode, decoded)
    if decoded != visible:
        yield _without_invisible(decoded)


def _decode(escapes: re.Match[str]) -> str:
    """The characters that a run of percent escapes stands for; a line break becomes a blank."""
    octets = bytes.fromhex(escapes[0].replace("%", ""))
    return octets.decode("utf-8", "replace").replace("\n", " ").replace("\r", " ")


def _without_invisible(text: str) -> str:
    """The text without characters that show nothing: Unicode's default ignorables."""
    if text.isascii():
        return text
    return _compiled(
        "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
        "\u3164\ufe00-\ufe0f\ufeff\uffa0\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
    ).sub("", text)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _search(text: str) -> SecretHit | None:
    """The first hit in one view of the text."""
    pieces = [line.strip(" \t\r>\\") for line in text.split("\n")]
    joined = "".join(pieces)
    words = "\n".join(pieces).split(" ")
    long_words = " ".join([word for word in words if len(word) >= _SHORTEST]).replace("\n", "")
    folded = _fold(joined)
    suspects = [suspect for suspect in _SOLID if suspect[0] in long_words]
    suspects += [suspect for suspect in _LOOSE if suspect[0] in folded]
    if not suspects:
        return None
    return _direct_hit(text, suspects) or _Split(pieces, joined, folded).hit(suspects)


def _fold(text: str) -> str:
    """ASCII lower case of the same length: ``str.lower`` can make a text longer."""
    return text.encode("ascii", "replace").decode("ascii").lower()


def _occurrences(text: str, anchor: str) -> Iterator[int]:
    position = text.find(anchor)
    while position >= 0:
        yield position
        position = text.find(anchor, position + 1)


def _direct_hit(text: str, suspects: list[_Suspect]) -> SecretHit | None:
    """The first hit with the lines as they are."""
    folded = _fold(text) if any(rule.loose for _, rule in suspects) else ""
    for anchor, rule in suspects:
        for position in _occurrences(folded if rule.loose else text, anchor):
            match = matcher(rule.pattern)(text, position)
            if match is not None and rule.judge(match, None):
                return SecretHit(rule.id, text.count("\n", 0, position) + 1)
    return None


class _Split:
    """The search for tokens that a line break cuts in two or more."""

    def __init__(self, pieces: list[str], joined: str, folded: str) -> None:
        """Take the lines without indentation, all of them as one string, and that in lower case."""
        self.pieces = pieces
        self.joined = joined
        self.folded = folded
        self.starts = list(accumulate(map(len, pieces), initial=0))

    def hit(self, suspects: list[_Suspect]) -> SecretHit | None:
        """The first hit that crosses a line break."""
        for anchor, rule in suspects:
            for position in _occurrences(self.folded if rule.loose else self.joined, anchor):
                line = bisect_right(self.starts, position, hi=len(self.pieces)) - 1
                if self._crosses(rule, line, position):
                    return SecretHit(rule.id, line + 1)
        return None

    def _crosses(self, rule: Rule, line: int, position: int) -> bool:
        """Whether the rule matches at the position, over the end of that line."""
        for first, last in self._spans(rule, line, position):
            begin = max(self.starts[first], position - _LOOKBACK)
            segment = self.joined[begin : min(self.starts[last + 1], position + _REACH)]
            match = matcher(rule.pattern)(segment, position - begin)
            if match is None:
                continue
            seam = self.starts[line + 1] - begin
            if rule.judge(match, seam if seam < match.end() else None):
                return True
        return False

    def _spans(self, rule: Rule, line: int, position: int) -> Iterator[tuple[int, int]]:
        """The runs of lines, first and last, that a token at the position may be spread over."""
        if position - self.starts[line] < _LOOKBACK and line > 0:
            yield line - 1, line
        end = self.starts[line + 1]
        if end - position > _REACH or (not rule.loose and self.joined.find(" ", position, end) >= 0):
            return
        for last in range(line + 1, min(line + 1 + _MAX_BREAKS, len(self.pieces))):
            yield line, last
            if len(self.pieces[last]) < _FULL_LINE or " " in self.pieces[last]:
                return
