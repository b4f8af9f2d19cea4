"""The log on standard error, which must not stop the server when nobody reads it."""

from __future__ import annotations

import logging
import os
import select

from ecc_memory.terminal import safe

_ROOM = 4096
"""What a pipe that can be written to takes without blocking: PIPE_BUF (pipe(7))."""


class LossyHandler(logging.Handler):
    """Writes records to a descriptor, and drops those for which there is no room.

    Some harnesses never read their servers' standard error. The pipe fills after 64 KiB, and
    a handler that then waits would hang the server for good.

    Args:
        descriptor: where to write.
    """

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self._descriptor = descriptor
        self.setFormatter(logging.Formatter("ecc-memory-mcp: %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record, its end if it is long: a traceback says what happened last."""
        data = safe(self.format(record)).encode("utf-8", "replace")[1 - _ROOM :] + b"\n"
        try:
            if select.select([], [self._descriptor], [], 0)[1]:
                os.write(self._descriptor, data)
        except OSError:
            pass  # closed, or not a thing to wait for: then there is no log


def log_to_standard_error() -> None:
    """Send warnings and errors of every library to standard error."""
    logging.getLogger().addHandler(LossyHandler(2))
