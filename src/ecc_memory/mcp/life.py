"""When the process ends: signals, a client that left, a parent that died.

Every way out is :func:`leave`, which does not unwind. A thread that blocks in a read of
standard input would hold up an orderly interpreter exit for ever, and there is nothing to
unwind: the vault publishes a memory whole or not at all.
"""

from __future__ import annotations

import os
import select
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

_SAVE_GRACE = 0.3
"""Seconds that a save under way is given to finish before the process ends."""

_PULSE_MS = 400
"""How often the parent is looked for; with the grace it stays below one second."""

_saving = threading.Lock()


@contextmanager
def saving() -> Iterator[None]:
    """Mark a save, so that :func:`leave` lets it finish. Saves take turns; never in the main thread."""
    with _saving:
        yield


def leave(status: int) -> NoReturn:
    """End the process with ``status`` now, after at most a moment for a save under way."""
    _saving.acquire(timeout=_SAVE_GRACE)
    os._exit(status)


def leave_on_signals() -> None:
    """End on SIGINT, SIGTERM and SIGHUP with the shell's status for it (128 + number)."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), _on_signal)


def _on_signal(number: int, _frame: FrameType | None) -> None:
    leave(128 + number)


def leave_with_the_client(output: int) -> None:
    """Start a thread that ends the process when nobody can be served any more.

    The end of standard input is the usual sign, but it does not come when another process
    holds a copy of the pipe. So two more are watched: nobody reads ``output`` any more, and
    the parent process is no longer the one that started us.
    """
    threading.Thread(target=_watch, args=(output, os.getppid()), daemon=True).start()


def _watch(output: int, parent: int) -> None:
    if not hasattr(select, "poll"):  # Windows: the end of standard input must do
        return
    poll = select.poll()
    poll.register(output, 0)  # POLLERR and POLLHUP are reported unasked
    while os.getppid() == parent:
        for descriptor, event in poll.poll(_PULSE_MS):
            if event & (select.POLLERR | select.POLLHUP):
                leave(0)
            poll.unregister(descriptor)  # a kind of file that cannot be polled (macOS devices)
    leave(0)
