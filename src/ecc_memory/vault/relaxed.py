"""What a person would call a match although the contract's scoring does not.

Both sides are normalised (NFKC, case folding, diacritics removed) and cut into words, where
``snake_case``, ``kebab-case``, ``CamelCase`` and path parts are words of their own. A query
term matches where its words follow one another in the text; a run of Chinese, Japanese or
Korean matches where a third of its pairs of neighbouring characters do.
"""

from __future__ import annotations

import re
import unicodedata

from ecc_memory.vault.document import Memory
from ecc_memory.vault.excerpt import cut, flatten

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"[^\W_]+")
_TERM = re.compile(r"\S+")
_CJK = re.compile(
    "[\u1100-\u11ff\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]+"
)
_VOICING = "\u3099\u309a"  # Japanese sound marks: combining, but they make another letter
_LEAST_JOINED = 6  # letters a term needs before word borders in the text are disregarded


class RelaxedQuery:
    """A query in normalised form, built when it is first needed."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._groups: tuple[tuple[str, ...], ...] | None = None

    def score(self, memory: Memory) -> int:
        """Count the terms, and the pairs of CJK characters, that occur in title, tags or body."""
        groups = self._prepared()
        if not groups:
            return 0
        text = words(f"{memory.title}\n{' '.join(memory.tags)}\n{memory.body}")
        joined = text.replace(" ", "")
        score = 0
        for group in groups:
            found = sum(_occurs(term, text, joined) for term in group)
            score += found if 3 * found >= len(group) else 0
        return score

    def excerpt(self, memory: Memory) -> str:
        """Cut the body around the earliest first word of a term."""
        flat = flatten(memory.body)
        folded, origin = _fold_with_origin(flat)
        starts = (term.split()[0] for group in self._prepared() for term in group)
        found = [at for at in map(folded.find, starts) if at >= 0]
        return cut(flat, origin[min(found)] if found else 0)

    def _prepared(self) -> tuple[tuple[str, ...], ...]:
        if self._groups is None:
            groups: dict[tuple[str, ...], None] = {}
            for term in _TERM.findall(unicodedata.normalize("NFKC", self._text)):
                for run in _CJK.findall(fold(term)):
                    groups[_pairs(run)] = None
                rest = words(_CJK.sub(" ", term)).rstrip(" ")
                if rest:
                    groups[(rest,)] = None
            self._groups = tuple(groups)
        return self._groups


def fold(text: str) -> str:
    """NFKC, case folding, diacritics removed."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text).casefold())
    kept = (char for char in plain if char in _VOICING or not unicodedata.combining(char))
    return unicodedata.normalize("NFC", "".join(kept))


def words(text: str) -> str:
    """The words of ``text`` in normalised form, one space before each and one after the last."""
    split = _CAMEL.sub(" ", text if text.isascii() else unicodedata.normalize("NFKC", text))
    return f" {' '.join(_WORD.findall(fold(split)))} "


def _occurs(term: str, text: str, joined: str) -> bool:
    if term in text:
        return True
    bare = term.replace(" ", "")
    return len(bare) >= _LEAST_JOINED and bare in joined


def _pairs(run: str) -> tuple[str, ...]:
    return (run,) if len(run) == 1 else tuple(dict.fromkeys(run[at : at + 2] for at in range(len(run) - 1)))


def _fold_with_origin(text: str) -> tuple[str, list[int]]:
    folded: list[str] = []
    origin: list[int] = []
    for at, char in enumerate(text):
        piece = fold(char)
        folded.append(piece)
        origin.extend([at] * len(piece))
    return "".join(folded), origin
