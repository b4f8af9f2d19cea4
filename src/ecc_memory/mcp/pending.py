"""Requests that are waiting or being served, bounded in number and bytes."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import anyio
from mcp_types import JSONRPCNotification, JSONRPCRequest, RequestId


@dataclass(frozen=True)
class _Waiting:
    message: JSONRPCRequest | JSONRPCNotification
    size: int


class Pending:
    """Messages in order of arrival; only a few requests are handed on at once.

    What waits here costs its own size. What the SDK serves costs a task and an answer, so
    five thousand pipelined calls must not all become tasks.

    Args:
        messages: how many may be waiting or being served together.
        size: how many bytes they may have together.
        window: how many requests are served at once.
    """

    def __init__(self, *, messages: int, size: int, window: int) -> None:
        self._messages = messages
        self._size = size
        self._window = window
        self._waiting: deque[_Waiting] = deque()
        self._unanswered: dict[RequestId, int] = {}  # sizes, waiting ones included
        self._served: set[RequestId] = set()
        self._bytes = 0
        self._changed = anyio.Event()

    def knows(self, identity: RequestId) -> bool:
        """Tell whether a request of that id has not been answered yet."""
        return identity in self._unanswered

    def add(self, message: JSONRPCRequest | JSONRPCNotification, size: int) -> bool:
        """Queue a message; False when that would go over a bound."""
        if len(self._waiting) + len(self._served) >= self._messages or self._bytes + size > self._size:
            return False
        self._waiting.append(_Waiting(message, size))
        self._bytes += size
        if isinstance(message, JSONRPCRequest):
            self._unanswered[message.id] = size
        self._notify()
        return True

    async def next(self) -> JSONRPCRequest | JSONRPCNotification:
        """Wait for the next message that may be handed on."""
        while not self._may_proceed():
            await self._changed.wait()
        entry = self._waiting.popleft()
        if isinstance(entry.message, JSONRPCRequest):
            self._served.add(entry.message.id)
        else:
            self._bytes -= entry.size
        self._notify()
        return entry.message

    def withdraw(self, identity: RequestId) -> bool:
        """Drop a request that is still waiting; False when there is none of that id."""
        for entry in self._waiting:
            if isinstance(entry.message, JSONRPCRequest) and entry.message.id == identity:
                self._waiting.remove(entry)
                self.settle(identity)
                return True
        return False

    def settle(self, identity: RequestId) -> None:
        """Free the place of a request that was answered, or never will be."""
        self._served.discard(identity)
        self._bytes -= self._unanswered.pop(identity, 0)
        self._notify()

    async def idle(self) -> None:
        """Wait until nothing is waiting or being served."""
        while self._waiting or self._served:
            await self._changed.wait()

    def _may_proceed(self) -> bool:
        if not self._waiting:
            return False
        return len(self._served) < self._window or isinstance(self._waiting[0].message, JSONRPCNotification)

    def _notify(self) -> None:
        changed, self._changed = self._changed, anyio.Event()
        changed.set()
