"""Which instruction files Claude Code reads, so that our text reaches it exactly once.

Seen in Claude Code 2.1: it reads ``CLAUDE.md``, ``.claude/CLAUDE.md`` and ``CLAUDE.local.md`` in the
project and in every folder above, follows their ``@path`` imports outside code, and reads
``AGENTS.md`` itself only where none of them holds a word. Files in a ``rules`` folder and the global
``CLAUDE.md`` suppress nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

_NAMES = ("CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md")
_IMPORT = re.compile(r"(?<!\S)@(\S+)")
_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)


def reads_agents_md(root: Path, config_home: Path, home: Path) -> bool:
    """Say whether Claude Code reads the project's ``AGENTS.md``, or would if there was one.

    Args:
        root: the project root.
        config_home: Claude's own folder, whose ``CLAUDE.md`` is global even below home.
        home: what ``~`` in an import stands for.
    """
    own = config_home / "CLAUDE.md"
    candidates = (folder / name for folder in (root, *root.parents) for name in _NAMES)
    memories = [path for path in candidates if path != own and _text(path).strip()]
    return not memories or reaches(memories, root / "AGENTS.md", home)


def reaches(files: Iterable[Path], wanted: Path, home: Path) -> bool:
    """Say whether one of the files is ``wanted``, by whatever name, or imports it in the end.

    Args:
        files: instruction files; those that do not exist count for nothing.
        wanted: the file that is looked for.
        home: what ``~`` in an import stands for.
    """
    goal, seen, ahead = wanted.resolve(), set[Path](), [path for path in files if path.is_file()]
    while ahead:
        path = ahead.pop()
        real = path.resolve()
        if real == goal:
            return True
        if real not in seen:
            seen.add(real)
            targets = (_target(name, path.parent, home) for name in _IMPORT.findall(_outside_code(path)))
            ahead += [target for target in targets if target.is_file()]
    return False


def _target(name: str, folder: Path, home: Path) -> Path:
    return home / name[2:] if name.startswith("~/") else folder / name


def _outside_code(path: Path) -> str:
    return _CODE.sub("", _text(path))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    except OSError:
        return ""
