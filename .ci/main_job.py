"""The product's main job, done by an installation: plug into Codex, remember, serve, unplug.

    python .ci/main_job.py

Uses the ``ecc`` beside the running interpreter, a home and a repository made for the purpose,
and compares every byte of the home before and after.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

BIN = Path(sys.executable).parent
BEFORE = {
    ".codex/config.toml": b'# mine\r\nmodel = "gpt-x"   # pinned\r\n[mcp_servers.a]\r\ncommand = "a"',
    ".codex/AGENTS.md": "# My rules\n\nBe brief – always.\n".encode(),
}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "main-job", "version": "1"},
    },
}


def main() -> None:
    """Run the whole job and say what was proved."""
    with tempfile.TemporaryDirectory() as folder:
        home, repository = Path(folder) / "home", Path(folder) / "a repository"
        for name, content in BEFORE.items():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_bytes(content)
        subprocess.run(["git", "init", "--quiet", str(repository)], check=True)
        job = Job(home, repository)
        before = snapshot(home)
        job.install()
        job.remember()
        job.serve()
        job.uninstall()
        assert snapshot(home) == before, "uninstall left something behind"
        print("the home is byte for byte what it was")


class Job:
    """The steps, in one home and one repository."""

    def __init__(self, home: Path, repository: Path) -> None:
        self.repository = repository
        self.config = home / ".codex" / "config.toml"
        self.env = {"HOME": str(home), "PATH": f"{BIN}{os.pathsep}{os.environ.get('PATH', os.defpath)}"}

    def ecc(self, *words: str, body: str = "") -> dict[str, object]:
        """Run a command with ``--json`` and return its payload."""
        command = [str(BIN / "ecc"), "memory", *words, "--json"]
        done = subprocess.run(
            command,
            cwd=self.repository,
            env=self.env,
            input=body,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        payload: dict[str, object] = json.loads(done.stdout)
        return payload

    def install(self) -> None:
        """Plug in; a second time changes nothing."""
        self.ecc("install", "--harness", "codex")
        once = self.config.read_bytes()
        assert set(BEFORE[".codex/config.toml"].splitlines()) <= set(once.splitlines())
        self.ecc("install", "--harness", "codex")
        assert self.config.read_bytes() == once
        print("installed into Codex")

    def remember(self) -> None:
        """Save, search, read."""
        text = "The wheels work – 轮子能用."
        saved = self.ecc("save", "--title", "From the wheel", "--stdin", body=text)
        found = self.ecc("search", "wheel")
        identity = saved["memory"]["id"]  # type: ignore[index]
        assert [hit["memory"]["id"] for hit in found["results"]] == [identity]  # type: ignore[attr-defined]
        assert self.ecc("read", identity)["memory"]["body"] == text  # type: ignore[index]
        print("saved, found and read a memory")

    def serve(self) -> None:
        """Start the server just as Codex would, from its own configuration."""
        if sys.version_info < (3, 11):
            import tomli as tomllib
        else:
            import tomllib
        entry = tomllib.loads(self.config.read_text(encoding="utf-8"))["mcp_servers"]["ecc-memory-vault"]
        done = subprocess.run(
            [entry["command"], *entry.get("args", [])],
            cwd=self.repository,
            env={**self.env, **entry.get("env", {})},
            input=json.dumps(INITIALIZE) + "\n",
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=True,
        )
        answer = json.loads(done.stdout.splitlines()[0])
        print("the server answered:", answer["result"]["serverInfo"])

    def uninstall(self) -> None:
        """Take everything out again."""
        self.ecc("uninstall", "--harness", "codex")
        print("uninstalled")


def snapshot(home: Path) -> dict[str, bytes | None]:
    """Return every file with its bytes, every folder with None."""
    return {
        str(path.relative_to(home)): path.read_bytes() if path.is_file() else None for path in home.rglob("*")
    }


if __name__ == "__main__":
    main()
