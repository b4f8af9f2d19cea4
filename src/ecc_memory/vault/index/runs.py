"""From a needle to the texts that hold it, by way of their distinct runs.

White space cuts a text into runs, and whatever holds no white space occurs in the text just where it
occurs in a run. The distinct runs of many texts are a small part of the texts. So a needle is looked for
in the runs, by plain substring search, and who has the run is known.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import accumulate, chain, islice

from ecc_memory.vault.relaxed import fold, letters

_REMEMBERED = 16  # needles


class Runs:
    """The distinct runs of some texts, which are numbered from 0; at most 65,536 texts."""

    def __init__(self, texts: Iterable[str]) -> None:
        holders: defaultdict[str, list[int]] = defaultdict(list)
        for number, text in enumerate(texts):
            for run in text.split():
                holders[run].append(number)
        # Apart, since one character beyond ASCII makes a string several times as long to search.
        runs = sorted(holders, key=str.isascii, reverse=True)
        border = sum(map(str.isascii, runs))
        self._all_ascii = border == len(runs)
        self._parts = [(0, "\n".join(runs[:border])), (border, "\n".join(runs[border:]))]
        self._holders = _Holders(map(holders.__getitem__, runs))

    @cached_property
    def lowered(self) -> Form:
        """The runs as the contract compares them."""
        return Form(self._parts, self._holders, str.lower)

    @cached_property
    def folded(self) -> Form:
        """The runs as the relaxed tier compares them, but not cut into words."""
        if self._all_ascii:
            return self.lowered  # to fold ASCII is to lower it
        return Form(self._parts, self._holders, fold)

    @cached_property
    def letters(self) -> Form:
        """The same without what is between the words of a run."""
        return Form(self._parts, self._holders, _letters)


class _Holders:
    """Which texts hold a run, a number for each time: the runs' lists, one after the other."""

    def __init__(self, lists: Iterable[list[int]]) -> None:
        self._numbers: array[int] = array("H")
        self._ends: array[int] = array("I", [0])
        for each in lists:
            self._numbers.extend(each)
            self._ends.append(len(self._numbers))

    def __getitem__(self, run: int) -> array[int]:
        return self._numbers[self._ends[run] : self._ends[run + 1]]


class Form:
    """Runs in one form, as long strings that are searched at once.

    A needle holds no white space. The latest needles are remembered, because both tiers look for them.
    """

    def __init__(
        self, parts: Iterable[tuple[int, str]], holders: _Holders, form: Callable[[str], str]
    ) -> None:
        self._holders = holders
        self._found: dict[str, list[int]] = {}
        self._parts = []
        for first, text in parts:
            formed = form(text)  # no form adds or removes a line feed
            starts = array("I", accumulate((len(run) + 1 for run in formed.split("\n")), initial=0))
            self._parts.append((first, formed, starts))

    def holding(self, needle: str) -> set[int]:
        """The texts that hold the needle."""
        return set(chain.from_iterable(map(self._holders.__getitem__, self._runs(needle))))

    def counts(self, needle: str, most: int) -> Counter[int] | None:
        """How often each of them does, without overlaps; None where that takes more than ``most`` runs."""
        runs = self._runs(needle, most)
        if len(runs) > most:
            return None
        return Counter(chain.from_iterable(map(self._holders.__getitem__, runs)))

    def _runs(self, needle: str, most: int | None = None) -> list[int]:
        """The runs that :meth:`_find` yields; only more than ``most``, where there are more."""
        found = self._found.get(needle)
        if found is None:
            found = list(islice(self._find(needle), None if most is None else most + 1))
            if most is None or len(found) <= most:
                if len(self._found) >= _REMEMBERED:
                    self._found.clear()
                self._found[needle] = found
        return found

    def _find(self, needle: str) -> Iterator[int]:
        """Yield the number of a run for each time it holds the needle."""
        for first, text, starts in self._parts:
            at = text.find(needle)
            while at >= 0:
                yield first + bisect_right(starts, at) - 1
                at = text.find(needle, at + len(needle))


def _letters(text: str) -> str:
    return "\n".join(map(letters, text.split("\n")))
