"""Where the derived index of a scope is kept, and who may touch it; loads nothing that judges documents."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping

TYPE_CHECKING = False  # as a type checker sees it; importing ``typing`` costs a hook more than it gives
if TYPE_CHECKING:
    import sqlite3

SWITCH_VARIABLE = "ECC_MEMORY_INDEX"
FORMAT = 1
"""The ``user_version`` of a store whose tables are those of this version."""

PATIENCE = 0.05
"""Seconds that a reader may have to wait while a log is put away."""


def cache_folder(env: Mapping[str, str], home: str) -> str | None:
    """Return the folder of the stores; None where the home folder is not known.

    A relative ``XDG_CACHE_HOME`` counts as unset, as the XDG Base Directory Specification says.
    """
    base = env.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):
        base = os.path.join(home, ".cache")
    return os.path.realpath(os.path.join(base, "ecc-memory")) if os.path.isabs(base) else None


def is_wanted(env: Mapping[str, str]) -> bool:
    """Whether the user has not switched the index off, with ``ECC_MEMORY_INDEX=0``."""
    return env.get(SWITCH_VARIABLE, "").strip().lower() not in ("0", "false", "no", "off")


def store_path(folder: str, root: str) -> str:
    """Return the file of the scope whose root folder, absolute and resolved, is ``root``."""
    import hashlib

    return os.path.join(folder, hashlib.sha256(os.fsencode(root)).hexdigest()[:32] + ".sqlite")


def is_private(path: str) -> bool:
    """Whether there is a file of ours; one that others can touch counts for nothing."""
    try:
        status = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & 0o077


def connect(path: str, patience: float) -> sqlite3.Connection:
    """Open an existing database, waiting at most so many seconds for others.

    Raises:
        ImportError: this Python has no SQLite.
        sqlite3.Error: it cannot be opened.
    """
    import sqlite3

    name = "".join(f"%{byte:02x}" for byte in os.fsencode(path))  # whatever characters it has
    return sqlite3.connect(f"file:{name}?mode=rw", uri=True, timeout=patience, isolation_level=None)
