"""The two descriptors that carry the protocol, out of everyone else's reach."""

from __future__ import annotations

import contextlib
import os
import select
import sys
import threading
from dataclasses import dataclass, field

from ecc_memory.mcp.life import leave

_CHUNK = 64 * 1024


@dataclass
class Wire:
    """The client's two pipes as private descriptors.

    Attributes:
        input: where the client's messages come from.
        output: where answers go.
    """

    input: int
    output: int
    _opening: bytes = b""
    _opened: threading.Event = field(default_factory=threading.Event)
    _taken: bool = False

    @classmethod
    def claim(cls) -> Wire:
        """Take the protocol off descriptors 0 and 1 and start listening.

        Afterwards descriptor 1 is standard error and 0 is empty, so that neither ``print``, a
        warning, a noisy import nor a child process can write on the wire or eat from it. Text
        that was printed before and not yet flushed goes to standard error too.
        """
        for descriptor in (0, 1, 2):
            _open_if_closed(descriptor)
        wire = cls(os.dup(0), os.dup(1))  # neither is inherited by child processes
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)
        with contextlib.suppress(AttributeError, OSError, ValueError):  # there may be none, or closed
            sys.stdout.flush()
        sys.stdout = sys.stderr
        threading.Thread(target=wire._listen, daemon=True).start()
        return wire

    def _listen(self) -> None:
        """Wait for the first bytes while the rest of the server is still being loaded."""
        self._opening = self._read_some()
        if not self._opening:
            leave(0)
        self._opened.set()

    def read(self) -> bytes:
        """Block until the client sent something and return it; empty when it closed its end."""
        if not self._taken:
            self._opened.wait()
            self._taken = True
            opening, self._opening = self._opening, b""
            return opening
        return self._read_some()

    def _read_some(self) -> bytes:
        while True:
            try:
                return os.read(self.input, _CHUNK)
            except BlockingIOError:  # the client made its pipe non-blocking, for both of us
                select.select([self.input], [], [])
            except OSError:  # a connection that was reset, a terminal that hung up
                return b""

    def write(self, data: bytes) -> None:
        """Block until all of ``data`` is written.

        Raises:
            OSError: the client no longer reads.
        """
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(self.output, view) :]
            except BlockingIOError:
                select.select([], [self.output], [])


def _open_if_closed(descriptor: int) -> None:
    """Keep 0, 1 and 2 occupied, so that no file of ours can land on them."""
    try:
        os.fstat(descriptor)
    except OSError:
        os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, which is this one
