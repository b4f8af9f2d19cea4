"""Lines on their way to the client, bounded in bytes."""

from __future__ import annotations

from collections import deque

import anyio
from anyio.to_thread import run_sync

from ecc_memory.mcp.life import leave
from ecc_memory.mcp.wire import Wire


class Outbox:
    """Takes lines at once while there is room, and writes them in a thread of their own.

    Args:
        wire: where they go.
    """

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._lines: deque[bytes] = deque()
        self._size = 0
        self._changed = anyio.Condition()

    async def put(self, line: bytes, most: int) -> None:
        """Queue one line, given without LF; wait while it would make more than ``most`` bytes wait.

        A line alone may be longer. Callers with different bounds do not hold each other up.
        """
        async with self._changed:
            while self._size and self._size + len(line) > most:
                await self._changed.wait()
            self._lines += (line, b"\n")
            self._size += len(line) + 1
            self._changed.notify_all()

    async def flushed(self) -> None:
        """Wait until everything is written."""
        async with self._changed:
            while self._size:
                await self._changed.wait()

    async def run(self) -> None:
        """Write for ever; end the process, quietly, when the client no longer reads."""
        while True:
            async with self._changed:
                while not self._lines:
                    await self._changed.wait()
                data = b"".join(self._lines)
                self._lines.clear()
            try:
                await run_sync(self._wire.write, data)
            except OSError:
                leave(0)
            async with self._changed:
                self._size -= len(data)
                self._changed.notify_all()
