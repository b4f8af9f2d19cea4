"""Deterministic lexical search: the contract's scoring, then the relaxed results after it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ecc_memory.vault.document import Memory, trim
from ecc_memory.vault.excerpt import cut, flatten
from ecc_memory.vault.relaxed import RelaxedQuery
from ecc_memory.vault.scan import Document

_PHRASE_IN_TITLE, _PHRASE_IN_BODY = 20, 5
_TOKEN_IN_TITLE, _TOKEN_IS_TAG, _TOKEN_IN_ORIGIN, _TOKEN_IN_BODY_AT_MOST = 8, 6, 3, 5
_TOKEN = re.compile(r"[\w-]+")


@dataclass(frozen=True)
class Hit:
    """One matching document; ``relaxed`` hits have score 0 and follow all others."""

    document: Document
    score: int
    excerpt: str
    relaxed: bool = False


@dataclass(frozen=True)
class Matches:
    """The best hits of a query and how many there are in all.

    ``total`` counts relaxed matches only where the contract's own left room for them.
    """

    hits: tuple[Hit, ...]
    total: int


class Query:
    """A parsed query.

    Attributes:
        phrase: the query, trimmed and lower-cased; empty lists the newest.
        tokens: its runs of letters, numbers, ``_`` and ``-``, each once, in order.
    """

    def __init__(self, text: str) -> None:
        self.phrase = trim(text).lower()
        self.tokens = tuple(dict.fromkeys(_TOKEN.findall(self.phrase)))
        self._relaxed = RelaxedQuery(trim(text))

    def run(self, documents: Iterable[Document], limit: int) -> Matches:
        """Return the best matches: by score, newer ``updated_at``, id; relaxed ones after.

        Relaxed results are looked for only while there is room for them.
        """
        exact: list[tuple[int, Document]] = []
        rest: list[Document] = []
        for document in documents:
            score = self.score(document.memory)
            if score or not self.phrase:
                exact.append((score, document))
            else:
                rest.append(document)
        hits = [
            Hit(document, score, self.excerpt(document.memory)) for score, document in _best(exact, limit)
        ]
        room = limit - len(hits)
        if not room or not self.phrase:
            return Matches(tuple(hits), len(exact))
        loose = [(score, document) for document in rest if (score := self._relaxed.score(document.memory))]
        hits += (
            Hit(document, 0, self._relaxed.excerpt(document.memory), relaxed=True)
            for _, document in _best(loose, room)
        )
        return Matches(tuple(hits), len(exact) + len(loose))

    def score(self, memory: Memory) -> int:
        """Score one memory by the contract (0: no match)."""
        if not self.phrase:
            return 0
        title, body = memory.title.lower(), memory.body.lower()
        score = _PHRASE_IN_TITLE if self.phrase in title else _PHRASE_IN_BODY if self.phrase in body else 0
        if not self.tokens:
            return score
        origin = " ".join((memory.kind, memory.scope, memory.source_harness, *memory.target_harnesses))
        for token in self.tokens:
            if token in title:
                score += _TOKEN_IN_TITLE
            if token in memory.tags:
                score += _TOKEN_IS_TAG
            if token in origin:
                score += _TOKEN_IN_ORIGIN
            score += min(body.count(token), _TOKEN_IN_BODY_AT_MOST)
        return score

    def excerpt(self, memory: Memory) -> str:
        """Cut the body around the earliest token."""
        flat = flatten(memory.body)
        lowered = flat.lower()
        found = [at for at in (lowered.find(token) for token in self.tokens) if at >= 0]
        return cut(flat, min(found, default=0))


def _best(scored: Sequence[tuple[int, Document]], most: int) -> list[tuple[int, Document]]:
    by_id = sorted(scored, key=lambda pair: pair[1].memory.id)
    return sorted(by_id, key=lambda pair: (pair[0], pair[1].memory.updated_at), reverse=True)[:most]
