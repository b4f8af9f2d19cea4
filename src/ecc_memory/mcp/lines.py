"""Bytes to lines, with a bound on what one line may hold in memory."""

from __future__ import annotations

from collections.abc import Iterator


class Lines:
    """Splits chunks at LF and forgets the rest of a line that grows past the bound.

    Args:
        most: the longest line, in bytes, without its LF.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._held = bytearray()
        self._skipping = False

    def feed(self, chunk: bytes) -> Iterator[bytes | None]:
        """Yield each line that ends in ``chunk``, without LF; None, once, for one that is too long.

        A line that is too long is reported when it crosses the bound, not at its end, which
        may never come.
        """
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            if self._hold(part):
                yield None
            if not self._skipping:
                yield bytes(self._held)
            self._held.clear()
            self._skipping = False
        if self._hold(rest):
            yield None

    def finish(self) -> Iterator[bytes]:
        """Yield the last line if the input ended without LF."""
        if self._held:
            yield bytes(self._held)

    def _hold(self, part: bytes) -> bool:
        """Keep ``part``; True when it makes the line too long."""
        if self._skipping:
            return False
        if len(self._held) + len(part) > self._most:
            self._skipping = True
            self._held.clear()
            return True
        self._held += part
        return False
