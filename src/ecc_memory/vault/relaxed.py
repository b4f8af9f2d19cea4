"""What a person would call a match although the contract's scoring does not.

Both sides are normalised (NFKC, case folding, diacritics removed) and cut into words, where
``snake_case``, ``kebab-case``, ``CamelCase`` and path parts are words of their own. A query
term matches where its words follow one another in the text. A long one also matches where
its letters do: across all word borders inside a run without white space, and as any two
words that follow one another. A run of Chinese, Japanese or Korean matches where a third of
its pairs of neighbouring characters do.

White space is a border that no normalisation crosses, so the words of a text are the words of
its runs, one after the other. The index rests on that.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cached_property, lru_cache
from typing import NamedTuple

from ecc_memory.vault.document import Memory
from ecc_memory.vault.excerpt import cut, flatten

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"[^\W_]+")
_ASCII_WORD = re.compile("[A-Z]+(?=[A-Z][a-z])|[A-Z]*[a-z0-9]+|[A-Z]+")  # what the two above find in ASCII
_TERM = re.compile(r"\S+")
_CJK = re.compile(
    "[\u1100-\u11ff\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]+"
)
_BETWEEN_WORDS = re.compile(r"[\W_]+")
_ASCII_LETTERS = {code: chr(code).lower() if chr(code).isalnum() else None for code in range(128)}
_VOICING = "\u3099\u309a"  # Japanese sound marks: combining, but they make another letter
_LEAST_JOINED = 6  # letters a term needs before word borders in the text are disregarded
_MOST_SPLIT = 40  # and the most it may have to be looked for as two words
_LEAST_PART = 3


class _WithoutMarks(dict[int, "int | None"]):
    """A table for ``str.translate``, filled as characters are met."""

    def __missing__(self, code: int) -> int | None:
        char = chr(code)
        self[code] = None if unicodedata.combining(char) and char not in _VOICING else code
        return self[code]


_WITHOUT_MARKS = _WithoutMarks()


class Term(NamedTuple):
    """One thing to look for in normalised text.

    Attributes:
        spaced: its words, one space before each; a CJK pair has none. The last may go on.
        letters: the same without spaces.
        long: the letters count wherever they stand in a run, whatever its words are.
        pairs: two words each, as which it may be written too; the second may go on.
    """

    spaced: str
    letters: str
    long: bool = False
    pairs: tuple[tuple[str, str], ...] = ()

    def occurs(self, text: NormalText) -> bool:
        """Whether the text matches."""
        if self.letters not in text.letters:  # no match without, and mostly there is none
            return False
        if self.spaced in text.words:
            return True
        return self.long and (
            any(f" {one} {two}" in text.words for one, two in self.pairs)
            or any(self.letters in letters(run) for run in text.raw.split())
        )


class NormalText:
    """The text of a memory in its several forms."""

    def __init__(self, memory: Memory) -> None:
        self.raw = f"{memory.title}\n{' '.join(memory.tags)}\n{memory.body}"
        self.letters = letters(self.raw)

    @cached_property
    def words(self) -> str:
        """Its words, one space before each and one after the last."""
        return words(self.raw)


class RelaxedQuery:
    """A query in normalised form, built when it is first needed."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def groups(self) -> tuple[tuple[Term, ...], ...]:
        """The terms; of a group at least a third must occur, and each that does counts one."""
        groups: dict[tuple[Term, ...], None] = {}
        for term in _TERM.findall(unicodedata.normalize("NFKC", self._text)):
            for run in _CJK.findall(fold(term)):
                groups[_pairs(run)] = None
            rest = words(_CJK.sub(" ", term)).rstrip(" ")
            if rest:
                groups[(_term(rest),)] = None
        return tuple(groups)

    def score(self, memory: Memory) -> int:
        """Count the terms, and the pairs of CJK characters, that occur in title, tags or body."""
        if not self.groups:
            return 0
        text = NormalText(memory)
        return sum(enough(sum(term.occurs(text) for term in group), len(group)) for group in self.groups)

    def excerpt(self, memory: Memory) -> str:
        """Cut the body around the earliest first word of a term."""
        flat = flatten(memory.body)
        folded, origin = _fold_with_origin(flat)
        starts = (term.spaced.split()[0] for group in self.groups for term in group)
        found = [at for at in map(folded.find, starts) if at >= 0]
        return cut(flat, origin[min(found)] if found else 0)


def enough(found: int, of: int) -> int:
    """The score of a group of ``of`` terms when ``found`` of them occur."""
    return found if 3 * found >= of else 0


def fold(text: str) -> str:
    """NFKC, case folding, diacritics removed."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text).casefold())
    return unicodedata.normalize("NFC", plain.translate(_WITHOUT_MARKS))


def words(text: str) -> str:
    """The words of ``text`` in normalised form, one space before each and one after the last."""
    if text.isascii():
        return f" {' '.join(_ASCII_WORD.findall(text)).lower()} "
    split = _CAMEL.sub(" ", unicodedata.normalize("NFKC", text))
    return f" {' '.join(_WORD.findall(fold(split)))} "


def letters(text: str) -> str:
    """The words of ``text`` in normalised form with nothing between them."""
    if text.isascii():
        return text.translate(_ASCII_LETTERS)
    return _BETWEEN_WORDS.sub("", fold(text))


def _term(spaced: str) -> Term:
    bare = spaced.replace(" ", "")
    if len(bare) < _LEAST_JOINED:
        return Term(spaced, bare)
    borders = range(_LEAST_PART, len(bare) - _LEAST_PART + 1) if len(bare) <= _MOST_SPLIT else ()
    return Term(spaced, bare, long=True, pairs=tuple((bare[:at], bare[at:]) for at in borders))


def _pairs(run: str) -> tuple[Term, ...]:
    pairs = dict.fromkeys(run[at : at + 2] for at in range(len(run) - 1)) if len(run) > 1 else (run,)
    return tuple(Term(pair, pair) for pair in pairs)


def _fold_with_origin(text: str) -> tuple[str, range | list[int]]:
    if text.isascii():
        return text.lower(), range(len(text))
    folded: list[str] = []
    origin: list[int] = []
    for at, char in enumerate(text):
        piece = _fold_char(char)
        folded.append(piece)
        origin.extend([at] * len(piece))
    return "".join(folded), origin


_fold_char = lru_cache(maxsize=4096)(fold)
