"""The program ``ecc-memory-hook``: a parent that keeps the time, a child that does the work.

    ecc-memory-hook reminder --harness SLUG --event NAME [--tools PREFIX] [--read-only]
    ecc-memory-hook guard --harness SLUG --event NAME [--tools PREFIX]

Both also take ``--project-root`` and ``--user-root``, which stand for the variables of that name. The
event comes as JSON on standard input; the answer, if there is one, goes to standard output. The exit
status is always 0, and the program ends in time whatever the disk, the vault or the harness does: only the
child touches the vault, and it holds none of the harness's pipes, so that even a child that cannot be
killed leaves the session alone.
"""

from __future__ import annotations

import os
import select
import sys
import time

SECONDS = {"reminder": 0.28, "guard": 2.0}
"""How long after the start of its process the program waits for an answer.

A reminder that takes longer is not worth it. A guard has to load the rules for documents and credentials
when a write goes to a vault, and only then; on a busy machine that should not open the gate, and on a disk
that does not answer the write itself would wait, too.
"""

MAX_EVENT_BYTES = 4 * 1024 * 1024
"""A longer event, such as a session's whole history, gets no answer."""

_MAX_ANSWER_BYTES = 4096
_SIGKILL = 9


def main() -> None:
    """Answer the event on standard input, or say nothing; never return."""
    try:
        seconds = SECONDS.get(sys.argv[1], 0) if len(sys.argv) > 1 else 0
        answer = _in_time(sys.argv[1:], time.monotonic() - _age() + seconds)
        if answer:
            os.write(1, answer)
    except BaseException:  # noqa: BLE001, S110 - a hook that fails must not be seen
        pass
    finally:
        os._exit(0)


def _age() -> float:
    """Give the seconds since this process began, which on a busy machine is long ago; Linux only."""
    try:
        with open("/proc/self/stat", "rb") as file:
            ticks = int(file.read().rpartition(b")")[2].split()[19])
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, LookupError, AttributeError):
        return 0.0
    return age if 0 <= age <= SECONDS["reminder"] else 0.0


def _in_time(arguments: list[str], deadline: float) -> bytes:
    event = _read_until_end(0, deadline, MAX_EVENT_BYTES)
    if event is None:
        return b""
    inlet, outlet = os.pipe()
    child = os.fork()
    if child == 0:
        _work(arguments, event, outlet, deadline)
    os.close(outlet)
    answer = _read_until_end(inlet, deadline, _MAX_ANSWER_BYTES)
    if answer is None:
        os.kill(child, _SIGKILL)
        return b""
    return answer


def _work(arguments: list[str], event: bytes, outlet: int, deadline: float) -> None:
    """Be the child: work out the answer, hand it over whole, and end."""
    try:
        nowhere = os.open(os.devnull, os.O_RDWR)
        for standard in (0, 1, 2):
            os.dup2(nowhere, standard)
        from ecc_memory.reminders.run import answer

        os.write(outlet, answer(arguments, event, os.environ, deadline))
    except BaseException:  # noqa: BLE001, S110
        pass
    finally:
        os._exit(0)


def _read_until_end(fd: int, deadline: float, most: int) -> bytes | None:
    """Read all that comes; None when the end does not come in time or there is too much.

    What is too much is still read, because a harness may take a closed pipe for a failure.
    """
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    parts: list[bytes] = []
    size = 0
    while True:
        left = deadline - time.monotonic()
        if left <= 0 or not poll.poll(left * 1000):
            return None
        chunk = os.read(fd, 1 << 16)
        if not chunk:
            return b"".join(parts) if size <= most else None
        size += len(chunk)
        if size <= most:
            parts.append(chunk)
