"""A person's home with a project and the configuration of all four harnesses in it."""

from __future__ import annotations

import os
import time
from pathlib import Path

from ecc_memory.harness.plugins import Plugins
from ecc_memory.install.request import ALL_PARTS
from ecc_memory.testing.home import Home, Tree
from ecc_memory.vault import Vault

HARNESSES = ("claude", "codex", "hermes", "opencode")
THEIRS = {
    ".codex/config.toml": b'# mine\nmodel = "x"\n\n[mcp_servers.other]\ncommand = "other"\n',
    ".codex/AGENTS.md": b"# My rules\n\nBe brief.\n",
    ".hermes/config.yaml": b"# mine\nmodel: x\nmcp_servers:\n  other:\n    command: other\n",
    ".config/opencode/opencode.json": b'{\n  "model": "x",\n  "mcp": {}\n}\n',
    ".claude/settings.json": b'{"model": "opus"}\n',
    ".local/state/theirs": b"",
    ".cache/theirs": b"",
}
"""What is there before us, one way or another shared with us."""


class Person(Home):
    """A home as :class:`ecc_memory.testing.home.Home` makes it, lived in, with the four real adapters."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, Plugins.load({}).adapters)
        if "PYTHONPATH" in os.environ:  # the sources that are tested, should they not be the installed ones
            self.env["PYTHONPATH"] = os.environ["PYTHONPATH"]
        for name, data in THEIRS.items():
            self.write(self.path / name, data)

    def vault(self, **env: str) -> Vault:
        """Open the vault anew, as another process would."""
        return Vault.open(cwd=self.project, env={**self.env, **env}, home=self.path)

    def install_all(self) -> None:
        """Install every part into every harness."""
        self.install(*HARNESSES, parts=ALL_PARTS)

    def fill(self, count: int) -> None:
        """Put memories into the project scope, old enough to be kept in the index."""
        saved = self.vault().save(title="Title 0", body="body " * 50, id="mem_filled0")
        first = self.memories.parent / saved.path.replace(":", "/")
        for number in range(1, count):
            text = first.read_text("utf-8").replace("mem_filled0", f"mem_filled{number}")
            first.with_name(f"mem_filled{number}.md").write_text(
                text.replace("Title 0", f"Title {number}"), "utf-8"
            )
        time.sleep(2.1)  # the clock's grain, after which a file's state proves its content

    @property
    def memories(self) -> Path:
        """The folder of the project scope."""
        return self.project / ".ecc/memory/project"


def lost_or_torn(now: Tree, old: Tree, new: Tree) -> list[str]:
    """Name the files that are neither what they were nor what they were to become."""
    files = {name for tree in (old, new) for name, facts in tree.items() if facts[0] != "folder"}
    files = {name for name in files if not name.endswith("ecc-memory/receipts.json")}
    return sorted(name for name in files if now.get(name) not in (old.get(name), new.get(name)))


def leftovers(folder: Path) -> list[Path]:
    """Every temporary file of ours below a folder."""
    return [
        Path(where, name)
        for where, _, names in os.walk(folder)
        for name in names
        if name.startswith((".ecc-tmp-", ".ecc-memory-"))
    ]
