"""Which of OpenCode's configuration files to edit.

Seen in OpenCode 1.18. At user level it merges ``config.json``, ``opencode.json`` and ``opencode.jsonc``,
later ones over earlier ones, and a later ``instructions`` list replaces an earlier one. In a project it
merges the root's ``opencode.json`` and ``opencode.jsonc`` with those in ``.opencode``, and joins the
lists. All may hold comments and trailing commas.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

_NAMES = ("opencode.jsonc", "opencode.json")
_STRING_OR_COMMENT = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_STRING_OR_TRAILING_COMMA = re.compile(r'"(?:\\.|[^"\\])*"|,(?=\s*[}\]])', re.DOTALL)


def user_file(folder: Path) -> Path:
    """Give the user-level file that wins among those that exist, else ``opencode.json``."""
    return _first(folder / name for name in (*_NAMES, "config.json")) or folder / "opencode.json"


def user_instructions_file(folder: Path) -> Path:
    """Give the user-level file whose ``instructions`` count, else the one that :func:`user_file` gives."""
    files = (folder / name for name in (*_NAMES, "config.json"))
    return _first(path for path in files if "instructions" in _keys(path)) or user_file(folder)


def project_file(root: Path) -> Path:
    """Give the project's file: the root's before ``.opencode``'s, else a new one at the root."""
    files = (folder / name for folder in (root, root / ".opencode") for name in _NAMES)
    return _first(files) or root / "opencode.json"


def _first(paths: Iterable[Path]) -> Path | None:
    return next((path for path in paths if path.is_file()), None)


def _keys(path: Path) -> frozenset[str]:
    """Give the top-level keys; none for a file that cannot be read, which the engine will refuse."""
    if not path.is_file():  # to open a pipe would wait for a writer
        return frozenset()
    try:
        text = path.read_text(encoding="utf-8-sig")
        value = json.loads(_drop(_STRING_OR_TRAILING_COMMA, _drop(_STRING_OR_COMMENT, text)))
    except (OSError, ValueError, RecursionError):
        return frozenset()
    return frozenset(value) if isinstance(value, dict) else frozenset()


def _drop(pattern: re.Pattern[str], text: str) -> str:
    """Remove what the pattern finds beside strings."""
    return pattern.sub(lambda found: found[0] if found[0].startswith('"') else "", text)
