"""A person's machine with a project on it, and servers started there."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from .process import COMMAND, ServerProcess


def git(*arguments: str | Path, cwd: Path) -> str:
    """Run real git with an identity of its own."""
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "init.defaultBranch=main"]
    done = subprocess.run(
        ["git", *identity, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, check=True
    )
    return done.stdout


@dataclass
class Machine:
    """A home folder, a repository in it, and the servers that were started."""

    home: Path
    project: Path
    servers: list[ServerProcess] = field(default_factory=list)

    def env(self, harness: str | None = "codex", **more: str) -> dict[str, str]:
        env = {"PATH": os.environ["PATH"], "HOME": str(self.home), **more}
        return env if harness is None else {"ECC_MEMORY_HARNESS": harness, **env}

    def start(
        self, *arguments: str, harness: str | None = "codex", cwd: Path | None = None, **env: str
    ) -> ServerProcess:
        return self.run([COMMAND, *arguments], cwd or self.project, self.env(harness, **env))

    def run(self, command: list[str], cwd: Path, env: dict[str, str]) -> ServerProcess:
        server = ServerProcess(command, cwd=cwd, env=env)
        self.servers.append(server)
        return server

    def open(self, harness: str = "codex", cwd: Path | None = None, **env: str) -> ServerProcess:
        """Start a server and shake hands."""
        server = self.start(harness=harness, cwd=cwd, **env)
        server.open()
        return server

    def documents(self, scope: str = "project") -> list[Path]:
        return sorted((self.project / ".ecc/memory" / scope).rglob("*.md"))


def make_machine(folder: Path) -> Machine:
    project = folder / "home" / "work" / "shop"
    project.mkdir(parents=True)
    git("init", "-q", ".", cwd=project)
    return Machine(folder / "home", project)


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    made = make_machine(tmp_path)
    yield made
    for server in made.servers:
        server.close()


@pytest.fixture(scope="module")
def steady(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """One server for all tests of a module: whatever one of them sends, the next is served."""
    made = make_machine(tmp_path_factory.mktemp("steady"))
    server = made.open()
    yield server
    server.close()


@pytest.fixture
def document() -> Callable[..., str]:
    """A valid document with some lines exchanged."""

    def make(body: str = "Written by hand.", **changes: str) -> str:
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
            **changes,
        }
        lines = [f"{key}: {value}" for key, value in fields.items()]
        return "\n".join(["---", *lines, "---", "", body, ""])

    return make
