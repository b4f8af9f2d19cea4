"""Deterministic lexical search: the contract's scoring, then the relaxed results after it."""

from __future__ import annotations

import heapq
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, Protocol

from ecc_memory.vault.document import KINDS, Memory, trim
from ecc_memory.vault.excerpt import cut, flatten
from ecc_memory.vault.judge import Document
from ecc_memory.vault.relaxed import RelaxedQuery

PHRASE_IN_TITLE, PHRASE_IN_BODY = 20, 5
TOKEN_IN_TITLE, TOKEN_IS_TAG, TOKEN_IN_ORIGIN, TOKEN_IN_BODY_AT_MOST = 8, 6, 3, 5
MOST_BACKLINKS = 100
_TOKEN = re.compile(r"[\w-]+")

Scored = tuple[int, Document]


@dataclass(frozen=True)
class Wanted:
    """Which memories a search may find: active ones that a harness may see, of some kinds.

    Attributes:
        reader: the harness's slug; None sees everything.
        kinds: the kinds.
    """

    reader: str | None
    kinds: tuple[str, ...] = KINDS

    def allows(self, memory: Memory) -> bool:
        """Decide, by status, kind and target harnesses alone."""
        return (
            memory.status == "active"
            and memory.kind in self.kinds
            and (self.reader is None or memory.targets(self.reader))
        )


class Found(NamedTuple):
    """The best of what was found, in no particular order, and how much was found in all."""

    best: list[Scored]
    total: int


class Corpus(Protocol):
    """Some documents that can be searched."""

    def exact(self, query: Query, wanted: Wanted, most: int) -> Found:
        """Find by the contract's scoring; every document matches an empty query."""

    def loose(self, query: Query, wanted: Wanted) -> Iterable[Scored]:
        """Yield what matches after normalisation."""

    def linking_to(self, id: str) -> Iterable[Document]:
        """Yield the documents that link to a memory, allowed or not."""


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

    def run(self, corpora: Sequence[Corpus], wanted: Wanted, limit: int) -> Matches:
        """Return the best matches: by score, newer ``updated_at``, id; relaxed ones after.

        Relaxed results are looked for only while there is room for them.
        """
        found = [corpus.exact(self, wanted, limit) for corpus in corpora]
        exact = best([scored for each in found for scored in each.best], limit)
        total = sum(each.total for each in found)
        hits = [Hit(each, score, self.excerpt(each.memory)) for score, each in exact]
        room = limit - len(hits)
        if not room or not self.phrase:
            return Matches(tuple(hits), total)
        known = {id(document) for _, document in exact}
        loose = [
            scored
            for corpus in corpora
            for scored in corpus.loose(self, wanted)
            if id(scored[1]) not in known
        ]
        hits += (
            Hit(each, 0, self.relaxed.excerpt(each.memory), relaxed=True) for _, each in best(loose, room)
        )
        return Matches(tuple(hits), total + len(loose))

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

    def exact(self, query: Query, wanted: Wanted, most: int) -> Found:
        """See :class:`Corpus`."""
        allowed = (each for each in self._documents if wanted.allows(each.memory))
        if query.phrase:
            scored = [(score, each) for each in allowed if (score := query.scoring.score(each.memory))]
        else:
            scored = [(0, each) for each in allowed]
        return Found(best(scored, most), len(scored))

    def loose(self, query: Query, wanted: Wanted) -> Iterator[Scored]:
        """See :class:`Corpus`."""
        for document in self._documents:
            if wanted.allows(document.memory) and (score := query.relaxed.score(document.memory)):
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


def best(scored: list[Scored], most: int) -> list[Scored]:
    """The first ``most`` by score, newer ``updated_at``, id and path."""
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


def linking(id: str, corpora: Iterable[Corpus], wanted: Wanted) -> list[Memory]:
    """Return the wanted memories that link to an id, by their own."""
    found = (each.memory for corpus in corpora for each in corpus.linking_to(id))
    return sorted((memory for memory in found if wanted.allows(memory)), key=lambda memory: memory.id)


def successors(memory: Memory, links: Iterable[Memory]) -> tuple[str, ...]:
    """Return which newer ones of those that link to a memory a reader should go on to."""
    newer = {each.id for each in links if each.updated_at > memory.updated_at}
    return tuple(sorted(newer)[:MOST_BACKLINKS])
