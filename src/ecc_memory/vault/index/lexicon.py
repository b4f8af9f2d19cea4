"""The documents of one scope, searchable without looking at each of them.

It answers as :class:`~ecc_memory.vault.search.Documents` does over the same documents, to the point.
They are indexed in blocks that never change: a document that goes leaves a gap, one that comes waits,
unindexed, until there are enough for a block. Small blocks are merged into the new one, so that there
are few. One call makes one block at most, so that none has to wait for a large vault to be indexed.
"""

from __future__ import annotations

import heapq
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice

from ecc_memory.vault.document import Memory
from ecc_memory.vault.index.runs import Runs
from ecc_memory.vault.judge import Document
from ecc_memory.vault.relaxed import Term
from ecc_memory.vault.scan import Views
from ecc_memory.vault.search import (
    PHRASE_IN_BODY,
    PHRASE_IN_TITLE,
    TOKEN_IN_BODY_AT_MOST,
    TOKEN_IN_ORIGIN,
    TOKEN_IN_TITLE,
    TOKEN_IS_TAG,
    Documents,
    Found,
    Query,
    Scored,
    Wanted,
    origin_of,
)

_LEAST, _MOST = 64, 4096  # documents in a block


class Lexicon:
    """A :class:`~ecc_memory.vault.search.Corpus` that follows the views of a scope."""

    def __init__(self) -> None:
        self._views: Views = {}
        self._blocks: list[_Block] = []
        self._places: dict[int, tuple[_Block, int]] = {}  # by the identity of the document
        self._waiting: dict[int, Document] = {}
        self._linking: defaultdict[str, dict[int, Document]] = defaultdict(dict)

    def follow(self, views: Views) -> None:
        """Take over what has changed in the scope, and index some of what waits."""
        for key in self._views.keys() | views.keys():
            before, now = self._views.get(key), views.get(key)
            if before is not now:
                old = {id(each): each for each in before.documents} if before else {}
                new = {id(each): each for each in now.documents} if now else {}
                for identity in old.keys() - new.keys():
                    self._remove(old[identity])
                for identity in new.keys() - old.keys():
                    self._add(new[identity])
        self._views = dict(views)
        if len(self._waiting) >= _LEAST:
            self._make_block()

    def exact(self, query: Query, wanted: Wanted, most: int) -> Found:
        """See :class:`~ecc_memory.vault.search.Corpus`."""
        found = [corpus.exact(query, wanted, most) for corpus in self._corpora()]
        return Found([scored for each in found for scored in each.best], sum(each.total for each in found))

    def loose(self, query: Query, wanted: Wanted) -> Iterator[Scored]:
        """See :class:`~ecc_memory.vault.search.Corpus`."""
        for corpus in self._corpora():
            yield from corpus.loose(query, wanted)

    def linking_to(self, id: str) -> Iterable[Document]:
        """See :class:`~ecc_memory.vault.search.Corpus`."""
        return self._linking[id].values() if id in self._linking else ()

    def _corpora(self) -> list[_Block | Documents]:
        return [*self._blocks, Documents(list(self._waiting.values()))]

    def _add(self, document: Document) -> None:
        self._waiting[id(document)] = document
        for link in document.memory.links:
            self._linking[link][id(document)] = document

    def _remove(self, document: Document) -> None:
        if self._waiting.pop(id(document), None) is None:
            block, number = self._places.pop(id(document))
            block.documents[number] = None
        for link in document.memory.links:
            del self._linking[link][id(document)]

    def _make_block(self) -> None:
        batch = list(islice(self._waiting.values(), _MOST))
        for document in batch:
            del self._waiting[id(document)]
        kept = []
        for block in self._blocks:
            present = [document for document in block.documents if document is not None]
            few = len(present) <= max(len(batch), len(block.documents) // 2)
            if few and len(batch) + len(present) <= _MOST:
                batch += present
            elif present:
                kept.append(block)
        block = _Block(batch)
        self._blocks = [*kept, block]
        self._places.update(
            (id(document), (block, number)) for number, document in enumerate(block.documents)
        )


class _Block:
    """Some documents, and the runs of their fields. Numbers go from the newest to the oldest."""

    def __init__(self, documents: list[Document]) -> None:
        ordered = sorted(documents, key=lambda each: (each.memory.id, each.path))
        ordered.sort(key=lambda each: each.memory.updated_at, reverse=True)
        self.documents: list[Document | None] = [*ordered]  # None where one was removed
        memories = [document.memory for document in ordered]
        self._titles = Runs(memory.title for memory in memories)
        self._tags = Runs(" ".join(memory.tags) for memory in memories)
        self._origins = Runs(map(origin_of, memories))
        self._bodies = Runs(memory.body for memory in memories)
        # What the permission to be found depends on is the same for many.
        self._samples: dict[tuple[str, str, tuple[str, ...]], Memory] = {}
        for memory in memories:
            self._samples.setdefault(_sort(memory), memory)
        sorts = {sort: number for number, sort in enumerate(self._samples)}
        self._sorts = array("H", [sorts[_sort(memory)] for memory in memories])

    def exact(self, query: Query, wanted: Wanted, most: int) -> Found:
        """See :class:`~ecc_memory.vault.search.Corpus`."""
        allowed = [wanted.allows(sample) for sample in self._samples.values()]
        documents, sorts = self.documents, self._sorts
        points = self._points(query) if query.phrase else dict.fromkeys(range(len(documents)), 0)
        ranks = [
            (score << 16) - number
            for number, score in points.items()
            if allowed[sorts[number]] and documents[number] is not None
        ]
        first = []
        for rank in heapq.nlargest(most, ranks):
            score = (rank + 0xFFFF) >> 16
            document = documents[(score << 16) - rank]
            if document is not None:
                first.append((score, document))
        return Found(first, len(ranks))

    def loose(self, query: Query, wanted: Wanted) -> Iterator[Scored]:
        """See :class:`~ecc_memory.vault.search.Corpus`."""
        terms = (term for group in query.relaxed.groups for term in group)
        for number in set().union(*map(self._candidates, terms)):
            document = self.documents[number]
            if document is not None and wanted.allows(document.memory):
                score = query.relaxed.score(document.memory)
                if score:
                    yield score, document

    def _points(self, query: Query) -> Mapping[int, int]:
        """Score all documents that match by the contract."""
        points: defaultdict[int, int] = defaultdict(int)
        counted = {token: self._count(token) for token in query.tokens}
        for token, counts in counted.items():
            for number in self._titles.lowered.holding(token):
                points[number] += TOKEN_IN_TITLE
            for number in self._origins.lowered.holding(token):
                points[number] += TOKEN_IN_ORIGIN
            for number, memory in self._present(self._tags.lowered.holding(token)):
                if token in memory.tags:
                    points[number] += TOKEN_IS_TAG
            for number, count in counts.items():
                points[number] += count if count < TOKEN_IN_BODY_AT_MOST else TOKEN_IN_BODY_AT_MOST
        titled = self._phrase(query.phrase, self._titles, {}, lambda memory: memory.title)
        for number in titled:
            points[number] += PHRASE_IN_TITLE
        for number in self._phrase(query.phrase, self._bodies, counted, lambda memory: memory.body) - titled:
            points[number] += PHRASE_IN_BODY
        return points

    def _count(self, token: str) -> Mapping[int, int]:
        """How often the bodies hold a token."""
        counts = self._bodies.lowered.counts(token, most=len(self.documents))
        if counts is None:  # there are fewer bodies than runs that hold it
            texts = self._present(range(len(self.documents)))
            counted = ((number, memory.body.lower().count(token)) for number, memory in texts)
            return {number: count for number, count in counted if count}
        return counts

    def _phrase(
        self,
        phrase: str,
        runs: Runs,
        counted: Mapping[str, Mapping[int, int]],
        field: Callable[[Memory], str],
    ) -> set[int]:
        """The documents with the phrase in a field, some words of which have been counted there."""
        parts = phrase.split()
        found = _in_all(
            set(counted[part]) if part in counted else runs.lowered.holding(part)
            for part in sorted(parts, key=len, reverse=True)
        )
        if parts == [phrase]:
            return found
        return {number for number, memory in self._present(found) if phrase in field(memory).lower()}

    def _candidates(self, term: Term) -> set[int]:
        """The documents in which a term may occur: those that hold its parts, wherever."""
        found = self._holding_all(term.spaced.split())
        if term.long:
            for runs in (self._titles, self._tags, self._bodies):
                found |= runs.letters.holding(term.letters)
            found |= self._as_two_words(term)
        return found

    def _as_two_words(self, term: Term) -> set[int]:
        """The documents that may hold a term as two words."""
        start_longer = [(one, two) for one, two in term.pairs if len(one) >= len(two)]
        end_longer = [(two, one) for one, two in reversed(term.pairs) if len(one) < len(two)]
        found: set[int] = set()
        for pairs in (start_longer, end_longer):
            for longer, shorter in pairs:  # each longer part is part of the next, so who lacks one lacks all
                holders = self._holding_all([longer])
                if not holders:
                    break
                found |= holders & self._holding_all([shorter])
        return found

    def _holding_all(self, needles: Iterable[str]) -> set[int]:
        fields = (self._titles, self._tags, self._bodies)
        return _in_all(
            set().union(*(runs.folded.holding(needle) for runs in fields))
            for needle in sorted(needles, key=len, reverse=True)  # the longest is the rarest
        )

    def _present(self, numbers: Iterable[int]) -> Iterator[tuple[int, Memory]]:
        for number in numbers:
            document = self.documents[number]
            if document is not None:
                yield number, document.memory


def _sort(memory: Memory) -> tuple[str, str, tuple[str, ...]]:
    """What :meth:`~ecc_memory.vault.search.Wanted.allows` looks at."""
    return memory.status, memory.kind, memory.target_harnesses


def _in_all(sets: Iterable[set[int]]) -> set[int]:
    """What is in each of the sets, which are made one by one until nothing is left."""
    common: set[int] | None = None
    for each in sets:
        common = each if common is None else common & each
        if not common:
            break
    return common or set()
