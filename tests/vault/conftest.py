"""A home folder, a real git repository in it, and a vault opened there."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from ecc_memory.vault import Vault


def git(*arguments: str | Path, cwd: Path) -> str:
    """Run real git, with an identity of its own and no configuration of the machine's."""
    command = [
        "git",
        "-c",
        "user.name=t",
        "-c",
        "user.email=t@example.invalid",
        "-c",
        "init.defaultBranch=main",
    ]
    command += ["-c", "protocol.file.allow=always"]
    done = subprocess.run(
        [*command, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, check=True
    )
    return done.stdout


@dataclass
class World:
    """One person's machine, as far as a vault is concerned."""

    home: Path
    repository: Path
    env: dict[str, str] = field(default_factory=dict)

    def open(self, cwd: Path | None = None) -> Vault:
        return Vault.open(cwd=cwd or self.repository, env=self.env, home=self.home)

    @property
    def project(self) -> Path:
        return self.repository / ".ecc/memory/project"

    @property
    def team(self) -> Path:
        return self.repository / ".ecc/memory/team"

    def files(self) -> dict[str, bytes]:
        """Every file below the home folder but git's own, with its bytes."""
        return {
            str(path.relative_to(self.home)): path.read_bytes()
            for path in sorted(self.home.rglob("*"))
            if path.is_file() and not path.is_symlink() and ".git" not in path.parts
        }


@pytest.fixture
def world(tmp_path: Path) -> World:
    repository = tmp_path / "home" / "work" / "app"
    repository.mkdir(parents=True)
    git("init", "-q", ".", cwd=repository)
    git("commit", "-q", "--allow-empty", "-m", "x", cwd=repository)
    return World(tmp_path / "home", repository)


@pytest.fixture
def document() -> Callable[..., str]:
    """A valid document with some lines exchanged."""

    def make(**changes: str) -> str:
        fields = {
            "schema": '"ecc.memory.v1"',
            "id": '"mem_by_hand"',
            "title": '"By hand"',
            "kind": '"note"',
            "scope": '"project"',
            "trust": '"unreviewed"',
            "status": '"active"',
            "source_harness": '"codex"',
            "target_harnesses": '["all"]',
            "tags": "[]",
            "links": "[]",
            "created_at": '"2026-07-26T20:00:00.000Z"',
            "updated_at": '"2026-07-26T20:00:00.000Z"',
        }
        body = changes.pop("body", "Written by hand.\n")
        fields.update(changes)
        return "\n".join(["---", *(f"{key}: {value}" for key, value in fields.items()), "---", "", body])

    return make
