"""System calls of a real process, watched or made to fail by strace(1)."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import pytest

from .programs import ROOT

WRITING = "openat,write,fsync,fdatasync,link,linkat,rename,renameat,renameat2,unlink,unlinkat,mkdirat,mkdir"


class Call(NamedTuple):
    """One system call that succeeded.

    Attributes:
        name: without ``at`` and ``2`` at the end.
        paths: the files it names or whose descriptors it has, in order.
        flags: the whole line, to look for flags in.
    """

    name: str
    paths: tuple[str, ...]
    flags: str


def require_strace() -> str:
    """The program, or skip the test."""
    program = shutil.which("strace")
    if program is None:
        pytest.skip("strace is not here: apt-get install strace")
    done = subprocess.run([program, "true"], capture_output=True, check=False)
    if done.returncode:
        pytest.skip("strace may not trace here (ptrace is forbidden)")
    return program


def run_python(program: str, *words: object, strace: Iterable[str]) -> subprocess.CompletedProcess[str]:
    """Run a Python program under strace with these options."""
    command = [require_strace(), "-f", "--seccomp-bpf", "-qq", *strace, sys.executable, "-c", program]
    return subprocess.run(
        [*command, *map(str, words)], cwd=ROOT, capture_output=True, text=True, check=False, timeout=120
    )


def calls(program: str, *words: object, folder: Path, log: Path) -> list[Call]:
    """Run a Python program and return what it did to files below ``folder``."""
    done = run_python(program, *words, strace=["-y", "-s", "0", "-o", str(log), "-e", f"trace={WRITING}"])
    assert done.returncode == 0, done.stderr
    found = (_read(line, str(folder)) for line in log.read_text(errors="replace").splitlines())
    return [call for call in found if call is not None]


def _read(line: str, folder: str) -> Call | None:
    match = re.match(r"\d+ +(\w+?)(?:at2?|64)?\((.*)\) += (\d+)(?:<([^>]*)>)?", line)
    if match is None or folder not in line:
        return None
    name, arguments, _, result = match.groups()
    paths: list[str] = []
    base = ""
    for descriptor, text in re.findall(r'<([^>]*)>|"([^"]*)"', arguments):
        if descriptor and name in ("write", "pwrite", "fsync", "fdatasync"):
            paths.append(descriptor)
        elif descriptor:
            base = descriptor
        elif text:
            paths.append(text if text.startswith("/") else f"{base}/{text}")
    return Call(name, tuple(paths) or ((result,) if result else ()), line)
