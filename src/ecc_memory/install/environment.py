"""The running installation: where its programs are, and whether they will still be there tomorrow."""

from __future__ import annotations

import os
import re
import sys
import sysconfig
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from itertools import pairwise
from pathlib import Path

from ecc_memory.errors import InstallError

SERVER_PROGRAM = "ecc-memory-mcp"
HOOK_PROGRAM = "ecc-memory-hook"

_DISTRIBUTION = "ecc-memory"
_UV_CACHE = re.compile(r"(archive|builds|environments)-v\d+\Z")
_PIPX_CACHES = (("pipx", ".cache"), (".cache", "pipx"), ("Caches", "pipx"))


def server_program() -> Path:
    """Return the absolute path of ``ecc-memory-mcp`` of the running installation.

    Raises:
        InstallError: it is not there, or this environment will be thrown away.
    """
    launcher = throw_away(Path(sys.prefix))
    if launcher is not None:
        raise InstallError(
            f"ecc-memory runs from a throw-away environment of {launcher}, so the command written into a "
            "configuration would vanish; install it first (uv tool install ecc-memory, pipx install "
            "ecc-memory or pip install ecc-memory), then run the install from there",
            detail=sys.prefix,
        )
    for candidate in _candidates():
        if os.access(candidate, os.X_OK):
            return candidate
    raise InstallError(f"{SERVER_PROGRAM} is missing from this installation; install ecc-memory again")


def throw_away(prefix: Path) -> str | None:
    """Return the launcher whose cache ``prefix`` lies in, None for an environment that stays.

    ``uvx`` and ``uv run`` build theirs in versioned folders of uv's cache, ``pipx run`` in pipx's
    cache (pipx.pypa.io/stable/how-pipx-works, docs.astral.sh/uv/concepts/cache).
    """
    for parts in (prefix.parts, Path(os.path.realpath(prefix)).parts):
        if any(_UV_CACHE.match(part) for part in parts):
            return "uvx"
        if any(pair in _PIPX_CACHES for pair in pairwise(parts)):
            return "pipx run"
    return None


def _candidates() -> Iterator[Path]:
    """Yield where the program may be: where its distribution says, else where scripts go."""
    try:
        files = distribution(_DISTRIBUTION).files or []
    except PackageNotFoundError:
        files = []
    for file in files:
        if file.name == SERVER_PROGRAM:
            yield Path(os.path.abspath(str(file.locate())))
    yield Path(os.path.abspath(sysconfig.get_path("scripts"))) / SERVER_PROGRAM
