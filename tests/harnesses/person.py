"""A person with a home of their own, one project, and the real programs on the path."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

BIN = Path(sys.executable).parent
SECONDS = 120
OURS = ("ecc-memory", "unified-memory")
HARNESS_STATE = (
    ".cache/",
    ".claude.json",
    ".claude/backups/",
    ".claude/projects/",
    ".claude/sessions/",
    ".claude/telemetry/",
    ".codex/sessions/",
    ".codex/logs",
    ".codex/state",
    ".codex/thread_history",
    ".hermes/logs/",
    ".hermes/sessions/",
    ".hermes/state.db",
    ".hermes/.skills_prompt_snapshot.json",
    ".local/share/opencode/",
    "src/repo/.ecc/",
)
"""What harnesses write down about their sessions, and the vault itself: neither is an installation."""


@dataclass
class Person:
    """Someone who uses coding agents.

    Attributes:
        home: their home folder.
        project: a git repository in it.
        programs: the folders that hold the harnesses' programs.
        env: what is set beyond the bare minimum.
    """

    home: Path
    project: Path
    programs: tuple[Path, ...]
    env: dict[str, str] = field(default_factory=dict)

    def environment(self, **more: str) -> dict[str, str]:
        """Give the environment of this person's programs."""
        path = os.pathsep.join([str(BIN), *map(str, self.programs), os.environ["PATH"]])
        base = {"HOME": str(self.home), "PATH": path, "LANG": "C.UTF-8", "COLUMNS": "200"}
        return {**base, **self.env, **more}

    def run(self, *argv: str, said: str = "", **env: str) -> subprocess.CompletedProcess[str]:
        """Run a program as this person in the project; ``said`` is what they type."""
        return subprocess.run(
            argv,
            cwd=self.project,
            env=self.environment(**env),
            input=said,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )

    def output(self, *argv: str, said: str = "", **env: str) -> str:
        """Run a program that must succeed and give what it printed."""
        done = self.run(*argv, said=said, **env)
        assert done.returncode == 0, f"{argv}: {done.stdout}{done.stderr}"
        return done.stdout

    def ecc(self, *arguments: str) -> str:
        """Run ``ecc memory``, which must succeed."""
        return self.output(str(BIN / "ecc"), "memory", *arguments)

    def write(self, path: str, text: str) -> Path:
        """Write a file below the home folder, exactly as given."""
        file = self.home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
        return file

    def files(self) -> dict[str, bytes]:
        """Give every regular file below home by its path, git's own left out."""
        found = (path for path in self.home.rglob("*") if path.is_file() and ".git" not in path.parts)
        return {str(path.relative_to(self.home)): path.read_bytes() for path in found}

    def traces(self) -> list[str]:
        """Give what is left of us: files of our name, and settings or instructions that speak of us."""
        return [
            path
            for path, content in self.files().items()
            if not path.startswith(HARNESS_STATE)
            and any(word in path or word.encode() in content for word in OURS)
        ]
