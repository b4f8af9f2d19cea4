"""What several harnesses read at the same place, so that they share one copy.

The skills folder ``.agents/skills``, a project's ``AGENTS.md`` and, where a person linked their
instruction files together, Codex's global one belong to several harnesses at once. Adapters that
describe the same artifact there become owners of one copy.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from ecc_memory.harness.locate import config_home
from ecc_memory.harness.types import SKILL_NAME, OwnedFile, Surroundings

AGENTS_SKILLS = Path(".agents", "skills")
"""Read by Codex and OpenCode below home and below a project."""

_SILENCED_BY_AGENTS_MD = ("CLAUDE.md", "CONTEXT.md", ".cursorrules")
_OUR_BLOCK = re.compile(r"<!-- ecc-memory:begin -->.*?<!-- ecc-memory:end -->", re.DOTALL)


def skill_in(folder: Path, skill: Mapping[str, bytes]) -> tuple[OwnedFile, ...]:
    """Describe the skill as a folder of its own below ``folder``, a skills folder.

    Args:
        folder: the skills folder, such as ``~/.agents/skills``.
        skill: relative POSIX path -> bytes, as in ``InstallRequest.skill``.
    """
    return tuple(OwnedFile("skill", folder / SKILL_NAME / name, content) for name, content in skill.items())


def project_agents_md(root: Path) -> Path | None:
    """Give the project's ``AGENTS.md``, or None when it would silence another file for our sake alone.

    OpenCode and Hermes read ``CLAUDE.md`` (OpenCode also ``CONTEXT.md``, Hermes also
    ``.cursorrules``) only where there is no ``AGENTS.md``. Where one of those is all a project
    has, an ``AGENTS.md`` with nothing but our block would make them stop reading it.

    Args:
        root: the project root.
    """
    agents_md = root / "AGENTS.md"
    silenced = any((root / name).exists() for name in _SILENCED_BY_AGENTS_MD)
    return None if silenced and not _says_something(agents_md) else agents_md


def user_agents_md(where: Surroundings) -> Path:
    """Give Codex's global instruction file, the only user-level file that gets a block of ours.

    Codex reads ``AGENTS.override.md`` if that holds more than white space, else ``AGENTS.md``.
    People who keep one text for all agents link the others' files to it; a harness whose own
    file turns out to be this one becomes an owner of the block.
    """
    home = config_home(where, "CODEX_HOME", ".codex")
    override = home / "AGENTS.override.md"
    return override if _says_something(override) else home / "AGENTS.md"


def _says_something(path: Path) -> bool:
    """Say whether a file holds more than white space and our block."""
    if not path.is_file():
        return False
    text = path.read_text(encoding="utf-8", errors="replace")
    return _OUR_BLOCK.sub("", text).strip() != ""
