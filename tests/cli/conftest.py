"""The program as a user runs it: the installed commands, in a home and a repository of their own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

BIN = Path(sys.executable).parent
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True)
class Done:
    """A finished run."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        assert self.out.count("\n") == 1, self.out
        return json.loads(self.out)

    def refused(self, status: int) -> str:
        """Check the form of every failure under ``--json`` and return the error's code."""
        assert self.status == status, (self.out, self.err)
        assert self.json["schemaVersion"] == "ecc.memory.error.v1"
        assert set(self.json["error"]) == {"code", "message"}
        assert re.fullmatch(r"Error: [^\n]+\n", self.err)
        return self.json["error"]["code"]

    def safe(self) -> Done:
        assert not UNSAFE.search(self.out + self.err), (self.out, self.err)
        return self


class Program:
    """``ecc memory`` in one working directory."""

    def __init__(self, cwd: Path, home: Path) -> None:
        self.cwd = cwd
        self.home = home
        self.vault = cwd / ".ecc" / "memory" / "project"
        self.env = {
            "HOME": str(home),
            "PATH": f"{BIN}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
            "PYTHONWARNINGS": "error",
        }

    def popen(self, *args: str | bytes, program: str = "ecc", **options: Any) -> subprocess.Popen[bytes]:
        words = [str(BIN / program), *(["memory"] if program == "ecc" else []), *args]
        env = {**self.env, **options.pop("env", {})}
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(words, cwd=self.cwd, env=env, **{**pipes, **options})

    def __call__(self, *args: str | bytes, stdin: str | bytes = "", **options: Any) -> Done:
        data = stdin.encode() if isinstance(stdin, str) else stdin
        with self.popen(*args, stdin=subprocess.PIPE, **options) as process:
            out, err = process.communicate(data, timeout=60)
        return Done(process.returncode, out.decode("utf-8"), err.decode("utf-8"))

    def save(self, title: str, body: str = "A body.", *args: str) -> str:
        """Save a memory and return its id."""
        done = self("save", "--title", title, "--stdin", "--json", *args, stdin=body)
        assert done.status == 0, done
        return done.json["memory"]["id"]


@pytest.fixture
def ecc(tmp_path: Path) -> Program:
    repository, home = tmp_path / "repo", tmp_path / "home"
    home.mkdir()
    (repository / ".git").mkdir(parents=True)
    return Program(repository, home)
