"""The whole corpus through the whole installer: each file where its harness reads it, ours in and out again.

``benchmarks/fidelity.py`` prints the figures; ``test_fidelity.py`` holds them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ecc_memory.errors import InstallError
from ecc_memory.harness.plugins import Plugins
from ecc_memory.harness.types import Level
from ecc_memory.install.request import ALL_PARTS
from ecc_memory.testing import Home

from .edit.test_corpus import FILES, variants

ADAPTERS = Plugins.load({}).adapters
PLACES: dict[str, tuple[str, Level, str]] = {
    "json/claude-mcp": ("claude", "project", "work/project/.mcp.json"),
    "json/claude-settings": ("claude", "user", ".claude/settings.json"),
    "json/claude-state": ("claude", "user", ".claude.json"),
    "json/codex-hooks": ("codex", "user", ".codex/hooks.json"),
    "json/opencode": ("opencode", "user", ".config/opencode/opencode{suffix}"),
    "toml/codex": ("codex", "user", ".codex/config.toml"),
    "yaml/hermes": ("hermes", "user", ".hermes/config.yaml"),
    "markdown/agents": ("codex", "user", ".codex/AGENTS.md"),
    "markdown/codex": ("codex", "user", ".codex/AGENTS.md"),
    "markdown/hermes-soul": ("hermes", "user", ".hermes/SOUL.md"),
    "markdown/": ("codex", "project", "work/project/AGENTS.md"),
}
"""Where a file goes, by the beginning of its name; the first that fits. Claude's settings and state, and the
soul of Hermes, are there to be left alone."""

IDENTICAL, ALONE, REFUSED = "given back", "left alone", "refused"


class Trial:
    """One file of the corpus, in one of its forms, in a home of its own.

    Attributes:
        outcome: ``given back`` (edited in between), ``left alone`` (never touched) or ``refused``.
        reason: why it was refused.
    """

    def __init__(self, folder: Path, name: str, data: bytes) -> None:
        place = next(place for prefix, place in PLACES.items() if name.startswith(prefix))
        slug, level, path = place
        home = Home(folder, ADAPTERS)
        file = home.write(home.path / path.format(suffix=Path(name).suffix), data)
        before = home.tree()
        self.outcome, self.reason = REFUSED, ""
        try:
            home.install(slug, level=level, parts=ALL_PARTS)
        except InstallError as error:
            self.reason = re.sub(r"\s+", " ", error.message)
        else:
            self.outcome = ALONE if file.read_bytes() == data else IDENTICAL
            home.uninstall(slug, level=level)
        self.same = home.tree() == before


def trials(folder: Path, *, every_form: bool) -> Iterator[tuple[str, str, Trial]]:
    """Try every file, in every form of it or as it stands; give name, form and trial."""
    for number, name in enumerate(FILES):
        for form, data in variants(name):
            if every_form or form == "as it is":
                yield name, form, Trial(folder / f"{number}-{form.replace(' ', '-')}", name, data)
