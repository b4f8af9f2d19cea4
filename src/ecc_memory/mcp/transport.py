"""Bounded stdio for the SDK's low-level server.

``Server.run`` is given two streams. Behind them is everything the SDK leaves open: how long a
line, how many requests, how large an answer may be, and an error for every line that is not a
message. Facts about the SDK are those of 2.3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import TracebackType
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectSendStream
from anyio.to_thread import run_sync
from mcp.server.lowlevel import Server
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)

from ecc_memory.mcp.answers import encode
from ecc_memory.mcp.frames import Refusal, parse
from ecc_memory.mcp.life import leave
from ecc_memory.mcp.lines import Lines
from ecc_memory.mcp.outbox import Outbox
from ecc_memory.mcp.pending import Pending
from ecc_memory.mcp.wire import Wire

MAX_MESSAGE = 1024 * 1024
"""Bytes of one message, in either direction."""

MAX_PENDING_MESSAGES = 64
MAX_PENDING_BYTES = 2 * 1024 * 1024
MAX_UNREAD_ANSWERS = 1024 * 1024
MAX_UNREAD = 2 * 1024 * 1024
"""Bytes that the client has not read: past the first no call is answered, past the second no
line is read. The difference lets a client write thousands of calls, and be refused most of
them, before it starts to read."""

WINDOW = 4
"""Requests served at once; more would only share one interpreter."""

ANSWER_GRACE = 0.4
"""Seconds after the end of input for requests that are still unanswered, and for the client to read."""

Check = Callable[[str, Mapping[str, Any]], "str | None"]
"""``(method, params)`` to what is wrong with them, None when nothing is."""


async def serve(server: Server[Any], wire: Wire, check: Check) -> None:
    """Serve one client until it closes its end; then the process ends.

    Args:
        server: what answers.
        wire: the claimed descriptors.
        check: looks at a request before the SDK does, which answers malformed parameters
            without a word on what is wrong.
    """
    outbox = Outbox(wire)
    pending = Pending(messages=MAX_PENDING_MESSAGES, size=MAX_PENDING_BYTES, window=WINDOW)
    to_server, from_client = anyio.create_memory_object_stream[SessionMessage | Exception]()
    answers = _Answers(outbox, pending)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(outbox.run)
        tasks.start_soon(server.run, from_client, answers, server.create_initialization_options())
        tasks.start_soon(_hand_on, pending, to_server)
        await _Reader(wire, outbox, pending, to_server, check).run()
        with anyio.move_on_after(ANSWER_GRACE):
            await pending.idle()
            await outbox.flushed()
        leave(0)


async def _hand_on(pending: Pending, to_server: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
    """Give the SDK one message after the other, as places come free."""

    async def unanswered(identity: RequestId) -> None:
        pending.settle(identity)

    while True:
        message = await pending.next()
        metadata = None
        if isinstance(message, JSONRPCRequest):
            # The SDK calls this for a request that was cancelled, which it never answers.
            metadata = ServerMessageMetadata(on_request_unanswered=partial(unanswered, message.id))
        await to_server.send(SessionMessage(message, metadata))


class _Reader:
    """Reads lines, admits messages, answers everything that is not one."""

    def __init__(
        self,
        wire: Wire,
        outbox: Outbox,
        pending: Pending,
        to_server: MemoryObjectSendStream[SessionMessage | Exception],
        check: Check,
    ) -> None:
        self._wire = wire
        self._outbox = outbox
        self._pending = pending
        self._to_server = to_server
        self._check = check

    async def run(self) -> None:
        """Read until the end of input."""
        lines = Lines(MAX_MESSAGE)
        while chunk := await run_sync(self._wire.read, abandon_on_cancel=True):
            for line in lines.feed(chunk):
                await self._take(line)
        for line in lines.finish():
            await self._take(line)

    async def _take(self, line: bytes | None) -> None:
        refusal: Refusal | None
        if line is None:
            refusal = Refusal(PARSE_ERROR, f"The line is longer than {MAX_MESSAGE} bytes")
        else:
            frame = parse(line)
            if isinstance(frame, JSONRPCNotification):
                await self._take_notification(frame, len(line))
                return
            refusal = self._admit(frame, len(line)) if isinstance(frame, JSONRPCRequest) else frame
        if refusal is not None:
            await self._outbox.put(refusal.encode(), MAX_UNREAD)

    def _admit(self, request: JSONRPCRequest, size: int) -> Refusal | None:
        if self._pending.knows(request.id):
            return Refusal(INVALID_REQUEST, f"id {request.id!r} is that of a request not yet answered")
        wrong = self._check(request.method, request.params or {})
        if wrong is not None:
            return Refusal(INVALID_PARAMS, wrong, request.id)
        if not self._pending.add(request, size):
            said = "Busy: too many requests are waiting; send this one again later"
            return Refusal(INTERNAL_ERROR, said, request.id)
        return None

    async def _take_notification(self, notification: JSONRPCNotification, size: int) -> None:
        if notification.method != "notifications/cancelled":
            self._pending.add(notification, size)
            return
        identity = (notification.params or {}).get("requestId")
        if isinstance(identity, bool) or not isinstance(identity, (str, int)):
            return  # true would be found under the id 1
        if not self._pending.withdraw(identity):
            await self._to_server.send(SessionMessage(notification))


class _Answers:
    """The stream that the SDK writes to."""

    def __init__(self, outbox: Outbox, pending: Pending) -> None:
        self._outbox = outbox
        self._pending = pending

    async def send(self, item: SessionMessage, /) -> None:
        """Queue one message for the client and free the place of the request that it answers."""
        message = item.message
        try:
            await self._outbox.put(encode(message, MAX_MESSAGE), MAX_UNREAD_ANSWERS)
        finally:
            if isinstance(message, (JSONRPCResponse, JSONRPCError)) and message.id is not None:
                self._pending.settle(message.id)

    async def aclose(self) -> None:
        """Do nothing: the wire outlives the server."""

    async def __aenter__(self) -> _Answers:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return None
