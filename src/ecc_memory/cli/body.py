"""The body of a memory from standard input or a file; never from the command line."""

from __future__ import annotations

import errno
import os
import stat
import sys
from typing import BinaryIO

from ecc_memory.errors import InvalidMemory, UsageError, VaultIO

MAX_INPUT = 1024 * 1024
"""Bytes read at most: far above the 64 KiB a body may have, far below what could hurt."""


def read_body(*, stdin: bool, body_file: str | None) -> str:
    """Return the body from exactly one of the two sources.

    Args:
        stdin: read standard input to its end.
        body_file: read this file, which must be regular and not a symbolic link.

    Raises:
        UsageError: none or both sources were given, or the file is not a regular one.
        InvalidMemory: the input is larger than 1 MiB or is not UTF-8.
        VaultIO: the operating system refused the read.
    """
    if stdin == (body_file is not None):
        raise UsageError("give the body with exactly one of --stdin and --body-file FILE")
    if body_file == "-":
        raise UsageError("--body-file takes the name of a file; for standard input use --stdin")
    if body_file is None:
        return _decoded(_from_stdin(), "standard input")
    return _decoded(_from_file(body_file), "the body file")


def _from_stdin() -> bytes:
    if sys.stdin is None:
        raise UsageError("standard input is closed; pipe the body into the command")
    if sys.stdin.isatty() and sys.stderr is not None:
        sys.stderr.write("Type the memory, then end it with Ctrl-D on an empty line.\n")
    try:
        return _bounded(sys.stdin.buffer, "standard input")
    except OSError as error:
        raise VaultIO(f"cannot read standard input: {error.strerror}") from None


def _from_file(path: str) -> bytes:
    # Not blocking: opening a FIFO must not wait for a writer that never comes.
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        descriptor = os.open(path, flags)
    except ValueError:
        raise UsageError("the name of the body file holds a NUL character") from None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise UsageError("the body file is a symbolic link; name the file itself", detail=path) from None
        raise VaultIO(f"cannot open the body file: {error.strerror}", detail=path) from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise UsageError("the body file is not a regular file; use --stdin for pipes", detail=path)
    with os.fdopen(descriptor, "rb") as stream:
        try:
            return _bounded(stream, "the body file")
        except OSError as error:
            raise VaultIO(f"cannot read the body file: {error.strerror}", detail=path) from None


def _bounded(stream: BinaryIO, what: str) -> bytes:
    data = stream.read(MAX_INPUT + 1)
    if len(data) > MAX_INPUT:
        raise InvalidMemory(
            f"{what} is larger than 1 MiB, and a body has at most 64 KiB; shorten or split it"
        )
    return data


def _decoded(data: bytes, what: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidMemory(
            f"{what} is not UTF-8: line {line} holds the byte 0x{data[error.start]:02x}; convert it to UTF-8"
        ) from None
