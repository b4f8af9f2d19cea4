"""A person with a project, and the installed hook run the way a harness runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from ecc_memory.vault import Vault

HOOK = Path(sys.executable).parent / "ecc-memory-hook"
TRIES = 20


@dataclass
class Session:
    """A home, a project in it, and a harness's session there."""

    home: Path
    project: Path
    env: dict[str, str] = field(default_factory=dict)

    def vault(self, cwd: Path | None = None) -> Vault:
        return Vault.open(cwd or self.project, self.env, self.home)

    def save(self, title: str = "A title", body: str = "A body.", **fields: Any) -> Path:
        """Save a memory and give its file."""
        saved = self.vault().save(title=title, body=body, **fields)
        scope, _, name = saved.path.partition(":")
        return Path(self.vault().place(scope).path) / name

    def start(self, *arguments: str, cwd: Path | None = None) -> subprocess.Popen[bytes]:
        env = {"PATH": os.environ["PATH"], "HOME": str(self.home), "PYTHONWARNINGS": "error", **self.env}
        pipe = subprocess.PIPE
        return subprocess.Popen(
            [str(HOOK), *arguments], cwd=cwd or self.project, env=env, stdin=pipe, stdout=pipe, stderr=pipe
        )

    def hook(self, *arguments: str, event: bytes | Mapping[str, object], cwd: Path | None = None) -> bytes:
        """Run the hook once; whatever happens, it succeeds and stays off standard error."""
        data = event if isinstance(event, bytes) else json.dumps(event).encode()
        with self.start(*arguments, cwd=cwd) as process:
            out, err = process.communicate(data, timeout=30)
        assert (process.returncode, err) == (0, b"")
        return out

    def answer(
        self, *arguments: str, event: Mapping[str, object], says: bytes = b"", cwd: Path | None = None
    ) -> bytes:
        """Run the hook until it answers: on a busy machine it may run out of time, and then says less."""
        answers = (self.hook(*arguments, event=event, cwd=cwd) for _ in range(TRIES))
        return next((answer for answer in answers if answer and says in answer), b"")

    def event(self, name: str, **more: object) -> dict[str, object]:
        common = {
            "session_id": "s",
            "transcript_path": "/t",
            "cwd": str(self.project),
            "hook_event_name": name,
        }
        return {**common, **more}


@pytest.fixture
def session(tmp_path: Path) -> Session:
    home = tmp_path / "home"
    project = home / "work" / "shop"
    project.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    return Session(home, project)
