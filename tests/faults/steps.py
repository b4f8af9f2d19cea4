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
WRITING = {
    *("open", "write", "fsync", "link", "unlink", "rename", "replace", "mkdir", "rmdir", "fchmod", "flock"),
    *("stream.write", "stream.flush"),
}
_OF_STREAMS = {"write", "flush", "read"}


def request(function: object) -> str | None:
    """The name of a C function that asks the operating system for something, None for any other."""
    name = getattr(function, "__name__", "")
    if name in _REQUESTS.get(getattr(function, "__module__", None) or "", ()):
        return name
    owner = type(getattr(function, "__self__", None))
    return f"stream.{name}" if owner.__module__ == "_io" and name in _OF_STREAMS else None


def requests(work: Callable[[], object]) -> list[str]:
    """Do the work and return the requests that it made."""
    made: list[str] = []

    def note(_frame: FrameType, event: str, function: object) -> None:
        name = request(function) if event == "c_call" else None
        if name is not None:
            made.append(name)

    _profiled(work, note)
    return made


def die_at(moment: int, work: Callable[[], object]) -> None:
    """Do the work until a moment, then be killed: 0 is before the first request, 1 after it, and so on."""
    passed = 0

    def watch(_frame: FrameType, event: str, function: object) -> None:
        nonlocal passed
        if event in ("c_call", "c_return", "c_exception") and request(function) is not None:
            if passed == moment:
                os.kill(os.getpid(), signal.SIGKILL)
            passed += 1

    _profiled(work, watch)


def fail_at(number: int, error: int, work: Callable[[], object]) -> None:
    """Do the work with one request, counted from 0, failing with an ``errno`` before anything is done."""
    made = 0

    def spoil(_frame: FrameType, event: str, function: object) -> None:
        nonlocal made
        if event == "c_call" and request(function) is not None:
            made += 1
            if made == number + 1:
                raise OSError(error, os.strerror(error))

    _profiled(work, spoil)


def _profiled(work: Callable[[], object], hook: Callable[[FrameType, str, object], None]) -> None:
    sys.setprofile(hook)
    try:
        work()
    finally:
        sys.setprofile(None)
