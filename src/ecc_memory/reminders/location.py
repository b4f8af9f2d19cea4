"""Whether a path leads into a vault, whatever it looks like."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ecc_memory.vault.roots import Place

_VAULT = [".ecc", "memory"]
_SCOPES = ("project", "team")


class Location(NamedTuple):
    """A file in a vault.

    Attributes:
        path: absolute; no folder in it is a link.
        scope: project, team or user.
        names: the folder and file names below the scope's root.
    """

    path: str
    scope: str
    names: tuple[str, ...]


def locate(path: str, cwd: str, home: str, places: Iterable[Place]) -> Location | None:
    """Find the place of a file in a vault.

    Args:
        path: as an agent gave it; it need not exist.
        cwd: what a relative path starts from.
        home: what ``~`` stands for.
        places: the session's scopes, a scope within another before that one. A folder
            ``.ecc/memory`` anywhere else is taken for another project's vault.

    Returns:
        None where it leads into no vault.
    """
    scopes = [(place.scope, place.path) for place in places]
    for candidate in dict.fromkeys(_readings(path, cwd, home)):
        for scope, root in scopes:
            names = _below(candidate, root)
            if names:
                return Location(candidate, scope, names)
        elsewhere = _in_any_vault(candidate)
        if elsewhere is not None:
            return elsewhere
    return None


def _readings(path: str, cwd: str, home: str) -> Iterator[str]:
    """Yield the files that different programs may mean by a path.

    Some drop ``..`` from the text, others let the system resolve it, which differs behind a link;
    some write through a link at the end, others replace it.
    """
    if path == "~" or path.startswith("~/"):
        path = home + path[1:]
    path = os.path.join(cwd, path)
    for reading in (os.path.normpath(path), path):
        folder, name = os.path.split(reading)
        yield os.path.realpath(reading)
        yield os.path.join(os.path.realpath(folder), name)


def _below(path: str, root: str) -> tuple[str, ...] | None:
    """Give the names below ``root``, found by the folders' identity where they exist."""
    try:
        wanted = os.stat(root)
    except OSError:
        wanted = None
    names: list[str] = []
    while not _is(path, root, wanted):
        path, name = os.path.split(path)
        if not name:
            return None
        names.append(name)
    return tuple(reversed(names))


def _in_any_vault(path: str) -> Location | None:
    names = path.split(os.sep)
    folded = _fold(path).split(os.sep)
    for index in range(len(names) - 3):
        scope = folded[index + 2]
        if folded[index : index + 2] == _VAULT and scope in _SCOPES:
            return Location(path, scope, tuple(names[index + 3 :]))
    return None


def _is(path: str, root: str, wanted: os.stat_result | None) -> bool:
    if _fold(path) == _fold(root):
        return True
    try:
        return wanted is not None and os.path.samestat(os.stat(path), wanted)
    except OSError:
        return False


def _fold(path: str) -> str:
    """Make paths comparable: only Apple's file systems take upper and lower case for the same."""
    return path.casefold() if sys.platform == "darwin" else path
