"""Deterministic lexical search: the contract's scoring, then the relaxed results after it."""

from __future__ import annotations

import heapq
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, Protocol

from ecc_memory.vault.document import Memory, trim
from ecc_memory.vault.excerpt import cut, flatten
from ecc_memory.vault.judge import Document
from ecc_memory.vault.relaxed import RelaxedQuery

PHRASE_IN_TITLE, PHRASE_IN_BODY = 20, 5
TOKEN_IN_TITLE, TOKEN_IS_TAG, TOKEN_IN_ORIGIN, TOKEN_IN_BODY_AT_MOST = 8, 6, 3, 5
_TOKEN = re.compile(r"[\w-]+")

Scored = tuple[int, Document]


class Corpus(Protocol):
    """Some documents that can be searched."""

    def exact(self, query: Query) -> Iterable[Scored]:
        """Yield the documents that the contract's scoring finds; all of them for an empty query."""

    def loose(self, query: Query) -> Iterable[Scored]:
        """Yield the documents that match after normalisation."""

    def linking_to(self, id: str) -> Iterable[Document]:
        """Yield the documents that link to a memory."""


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


class Scoring(NamedTuple):
    """What scores by the contract: a phrase, "" for none, and tokens, all in lower case."""

    phrase: str
    tokens: tuple[str, ...]

    def score(self, memory: Memory) -> int:
        """Score one memory (0: no match)."""
        title, body = memory.title.lower(), memory.body.lower()
        score = 0
        if self.phrase:
            score = PHRASE_IN_TITLE if self.phrase in title else PHRASE_IN_BODY if self.phrase in body else 0
        if not self.tokens:
            return score
        origin = _origin(memory.kind, memory.scope, memory.source_harness, memory.target_harnesses)
        for token in self.tokens:
            if token in title:
                score += TOKEN_IN_TITLE
            if token in memory.tags:
                score += TOKEN_IS_TAG
            if token in origin:
                score += TOKEN_IN_ORIGIN
            score += min(body.count(token), TOKEN_IN_BODY_AT_MOST)
        return score


class Query:
    """A parsed query.

    Attributes:
        phrase: the query, trimmed and lower-cased; empty lists the newest.
        tokens: its runs of letters, numbers, ``_`` and ``-``, each once, in order.
        scoring: both, as they count.
        relaxed: its normalised form.
    """

    def __init__(self, text: str) -> None:
        self.phrase = trim(text).lower()
        self.tokens = tuple(dict.fromkeys(_TOKEN.findall(self.phrase)))
        self.scoring = Scoring(self.phrase, self.tokens)
        self.relaxed = RelaxedQuery(trim(text))

    def run(self, corpora: Sequence[Corpus], accepts: Callable[[Document], bool], limit: int) -> Matches:
        """Return the best matches: by score, newer ``updated_at``, id; relaxed ones after.

        Relaxed results are looked for only while there is room for them.
        """
        exact = [found for corpus in corpora for found in corpus.exact(self) if accepts(found[1])]
        hits = [Hit(each, score, self.excerpt(each.memory)) for score, each in _best(exact, limit)]
        room = limit - len(hits)
        if not room or not self.phrase:
            return Matches(tuple(hits), len(exact))
        known = {id(document) for _, document in exact}
        loose = [
            found
            for corpus in corpora
            for found in corpus.loose(self)
            if id(found[1]) not in known and accepts(found[1])
        ]
        hits += (
            Hit(each, 0, self.relaxed.excerpt(each.memory), relaxed=True) for _, each in _best(loose, room)
        )
        return Matches(tuple(hits), len(exact) + len(loose))

    def excerpt(self, memory: Memory) -> str:
        """Cut the body around the earliest token."""
        flat = flatten(memory.body)
        lowered = flat.lower()
        found = [at for at in (lowered.find(token) for token in self.tokens) if at >= 0]
        return cut(flat, min(found, default=0))


class Documents:
    """A corpus without an index: every document is looked at."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self._documents = documents
        self._linking: defaultdict[str, list[Document]] = defaultdict(list)
        for document in documents:
            for link in document.memory.links:
                self._linking[link].append(document)

    def exact(self, query: Query) -> Iterator[Scored]:
        """See :class:`Corpus`."""
        for document in self._documents:
            score = query.scoring.score(document.memory)
            if score or not query.phrase:
                yield score, document

    def loose(self, query: Query) -> Iterator[Scored]:
        """See :class:`Corpus`."""
        for document in self._documents:
            score = query.relaxed.score(document.memory)
            if score:
                yield score, document

    def linking_to(self, id: str) -> list[Document]:
        """See :class:`Corpus`."""
        return self._linking.get(id, [])


def origin_of(memory: Memory) -> str:
    """The text in which a token counts as naming where a memory comes from."""
    return _origin(memory.kind, memory.scope, memory.source_harness, memory.target_harnesses)


@lru_cache(maxsize=1024)
def _origin(kind: str, scope: str, source: str, targets: tuple[str, ...]) -> str:
    return " ".join((kind, scope, source, *targets))


def _best(scored: list[Scored], most: int) -> list[Scored]:
    if len(scored) > most:
        least = heapq.nlargest(most, [score for score, _ in scored])[-1]
        scored = [each for each in scored if each[0] >= least]
    if len(scored) > most:
        lowest = heapq.nlargest(most, map(_rank, scored))[-1]
        scored = [each for each in scored if _rank(each) >= lowest]
    by_name = sorted(scored, key=lambda each: (each[1].memory.id, each[1].path))
    return sorted(by_name, key=_rank, reverse=True)[:most]


def _rank(scored: Scored) -> tuple[int, str]:
    return scored[0], scored[1].memory.updated_at
