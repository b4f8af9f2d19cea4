"""The exact difference that one of our edits made, kept so that it can be taken back exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Splice:
    """At byte ``at``, ``removed`` gave way to ``inserted``."""

    at: int
    removed: bytes
    inserted: bytes

    @classmethod
    def between(cls, before: bytes, after: bytes) -> Splice:
        """Return the one splice that turns ``before`` into ``after``, as short as one can be."""
        start = _common(before, after)
        end = _common(before[start:][::-1], after[start:][::-1])
        return cls(start, before[start : len(before) - end], after[start : len(after) - end])


def undo(data: bytes, splices: Sequence[Splice]) -> bytes | None:
    """Take splices back, the last one first.

    Returns:
        The bytes from before the first one, None if ``data`` is not what they led to.
    """
    for splice in reversed(splices):
        end = splice.at + len(splice.inserted)
        if data[splice.at : end] != splice.inserted:
            return None
        data = data[: splice.at] + splice.removed + data[end:]
    return data


def _common(left: bytes, right: bytes) -> int:
    """Return how many bytes the two have in common from the start, by halving."""
    same, most = 0, min(len(left), len(right))
    while same < most:
        middle = (same + most + 1) // 2
        if left[same:middle] == right[same:middle]:
            same = middle
        else:
            most = middle - 1
    return same
