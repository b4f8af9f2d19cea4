"""Where a harness keeps its things, looked up the way harnesses do it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from ecc_memory.harness.types import Surroundings


def config_home(where: Surroundings, variable: str, default: str) -> Path:
    """Give a harness's configuration folder, absolute; it need not exist.

    Args:
        where: home folder and environment.
        variable: the harness's own override, such as ``CODEX_HOME``. Empty or blank counts as
            unset; a relative value counts from the working directory; ``~`` is not expanded.
        default: the folder below home that it uses otherwise.
    """
    value = where.env.get(variable, "")
    return Path(os.path.abspath(value)) if value.strip() else where.home / default


def program(where: Surroundings, name: str) -> Path | None:
    """Give the absolute path of a harness's program on ``PATH``, or None."""
    found = shutil.which(name, path=where.env.get("PATH", ""))
    return Path(os.path.abspath(found)) if found else None
