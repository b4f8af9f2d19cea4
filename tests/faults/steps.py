"""Stopping a piece of work, or making it fail, at an exact one of its requests to the operating system.

The interpreter tells a profiling function of every call of a function written in C, before and after it
(``sys.setprofile``). So nothing has to be replaced: the code runs as it is, and at the chosen request the
process is killed, or the request fails with the error of our choice.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from types import FrameType

_REQUESTS = {
    "posix": {
        *("open", "read", "write", "fsync", "link", "unlink", "remove", "rename", "replace"),
        *("mkdir", "rmdir", "stat", "lstat", "fstat", "scandir", "listdir", "chmod", "fchmod"),
        *("fchown", "chown", "dup", "readlink", "listxattr", "getxattr", "setxattr"),
    },
    "fcntl": {"flock"},
    "_io": {"open"},
}  # fmt: skip
_OF_OBJECTS = {
    "_io": {"write", "flush", "read"},
    "sqlite3": {"execute", "executemany"},
}
WRITING = {
    *("open", "write", "fsync", "link", "unlink", "rename", "replace", "mkdir", "rmdir", "fchmod", "flock"),
    *("_io.write", "_io.flush", "sqlite3.execute", "sqlite3.executemany"),
}


def request(function: object) -> str | None:
    """The name of a C function that asks the operating system for something, None for any other."""
    name = getattr(function, "__name__", "")
    if name in _REQUESTS.get(getattr(function, "__module__", None) or "", ()):
        return name
    owner = type(getattr(function, "__self__", None)).__module__
    return f"{owner}.{name}" if name in _OF_OBJECTS.get(owner, ()) else None


def requests(work: Callable[[], object]) -> list[str]:
    """Do the work and return the requests that it made."""
    made: list[str] = []

    def note(_frame: FrameType, event: str, function: object) -> None:
        name = request(function) if event == "c_call" else None
        if name is not None:
            made.append(name)

    _profiled(work, note)
    return made


class Missed(Exception):
    """The work made other requests than it was measured to make."""


def die_at(moment: int, expected: str, work: Callable[[], object]) -> None:
    """Do the work until a moment, then be killed: 0 is before the first request, 1 after it, and so on.

    Raises:
        Missed: the request of that moment is not the expected one, or the work was done before.
    """
    passed = 0

    def watch(_frame: FrameType, event: str, function: object) -> None:
        nonlocal passed
        name = request(function) if event in ("c_call", "c_return", "c_exception") else None
        if name is None:
            return
        if passed == moment:
            if name != expected:
                raise Missed(f"moment {moment} is at {name}, not {expected}")
            os.kill(os.getpid(), signal.SIGKILL)
        passed += 1

    _profiled(work, watch)
    raise Missed(f"the work was done before moment {moment}, at {expected}")


def interrupt(number: int, work: Callable[[], object], other: Callable[[], object]) -> None:
    """Do the work, and something else just before one of its requests, counted from 0.

    What the other raises, the request raises.
    """
    made = 0

    def watch(_frame: FrameType, event: str, function: object) -> None:
        nonlocal made
        if event == "c_call" and request(function) is not None:
            made += 1
            if made == number + 1:
                other()

    _profiled(work, watch)


def fail_at(number: int, error: int, work: Callable[[], object]) -> None:
    """Do the work with one request, counted from 0, failing with an ``errno`` before anything is done."""

    def fail() -> None:
        raise OSError(error, os.strerror(error))

    interrupt(number, work, fail)


def _profiled(work: Callable[[], object], hook: Callable[[FrameType, str, object], None]) -> None:
    sys.setprofile(hook)
    try:
        work()
    finally:
        sys.setprofile(None)
