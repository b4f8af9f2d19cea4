"""Standard output is protocol only, and no detail of this machine is in it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

from ecc_memory.mcp.launch import Launch
from ecc_memory.mcp.server import build_server
from ecc_memory.vault import Vault

from .conftest import Machine
from .process import call, modern, request

NOISE = """
import atexit, os, subprocess, sys, threading, time, warnings
print("noise while loading")
atexit.register(print, "noise at exit")

def babble():
    while sys.stdout is not sys.stderr:  # until the server has reserved standard output
        time.sleep(0.001)
    while True:
        print("noise", "\\u2713")
        os.write(1, b"raw noise\\n")
        subprocess.run(["echo", "a child's noise"])
        warnings.warn("noise")
        time.sleep(0.02)

threading.Thread(target=babble, daemon=True).start()
"""


def test_stdout_pollution(machine: Machine, tmp_path: Path, document: Callable[..., str]) -> None:
    folder = machine.project / ".ecc/memory/project/notes"
    folder.mkdir(parents=True)
    (folder / "broken.md").write_text("not a memory")
    (folder / "alien.md").write_text(document(kind='"decision"'))
    noisy = tmp_path / "noisy"
    noisy.mkdir()
    (noisy / "sitecustomize.py").write_text(NOISE)
    broken_plugin(noisy)
    server = machine.open(
        PYTHONPATH=str(noisy), PYTHONDEVMODE="1", PYTHONWARNINGS="always", PYTHONIOENCODING="utf-8"
    )
    for number in range(20):
        server.ask(call(number, "memory_search", query="x"))
    server.ask(call("d", "memory_doctor"))
    server.end_input()
    assert server.wait() == 0
    server._threads[0].join()
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in server.raw)
    assert "noise while loading" in server.errors()
    assert "a child's noise" in server.errors()


def broken_plugin(folder: Path) -> None:
    (folder / "ecc_memory_broken.py").write_text("print('noise of a plugin')\nraise RuntimeError('broken')\n")
    metadata = folder / "ecc_memory_broken-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: ecc-memory-broken\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text("[ecc_memory]\nbroken = ecc_memory_broken\n")


def test_a_child_process_gets_no_input(machine: Machine) -> None:
    server = machine.open()
    assert os.readlink(f"/proc/{server.process.pid}/fd/0") == os.devnull


@pytest.mark.parametrize(
    "env",
    [
        {"PYTHONIOENCODING": "ascii"},
        {"PYTHONUTF8": "0", "LC_ALL": "C"},
        {"PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"},
    ],
    ids=["ascii", "c-locale", "cp1252"],
)
def test_locale_encoding_on_stdio(machine: Machine, env: dict[str, str]) -> None:
    server = machine.open(**env)
    text = "✓ 設計 🧠"
    server.write(
        json.dumps(call(1, "memory_save", title=text, body=text), ensure_ascii=False).encode() + b"\n"
    )
    saved = server.receive()["result"]["structuredContent"]["memory"]
    assert server.succeed("memory_read", id=saved["id"])["memory"]["body"] == text
    assert text.encode() in b"".join(server.raw)
    assert text.encode() in machine.documents()[0].read_bytes()


def refusing_vaults(machine: Machine) -> dict[str, Callable[[], None]]:
    """Ways to spoil a vault, each with what it takes."""
    root = machine.project / ".ecc/memory/project"

    def foreign_gitignore() -> None:
        root.mkdir(parents=True)
        (root / ".gitignore").write_text("mine\n")

    def link() -> None:
        root.parent.mkdir(parents=True)
        root.symlink_to(machine.home)

    def file() -> None:
        root.parent.mkdir(parents=True)
        root.write_text("a file")

    def invalid() -> None:
        (root / "notes").mkdir(parents=True)
        (root / "notes" / "hostname-and-path.md").write_text(f"see {machine.home}")

    return {"foreign-gitignore": foreign_gitignore, "link": link, "file": file, "invalid": invalid}


@pytest.mark.parametrize("era", ["handshake", "modern"])
@pytest.mark.parametrize("trouble", ["foreign-gitignore", "link", "file", "invalid"])
def test_no_path_reaches_a_client(machine: Machine, trouble: str, era: str) -> None:
    refusing_vaults(machine)[trouble]()
    server = machine.start()
    dress: Any = modern if era == "modern" else dict
    if era == "handshake":
        server.open()
    answers = [
        server.ask(dress(message))
        for message in (
            request("l", "tools/list"),
            call("w", "memory_save", title="t", body="b"),
            call("s", "memory_search", query="x"),
            call("r", "memory_read", id="mem_not_there"),
            call("d", "memory_doctor"),
            call("u", "memory_search", scopes=["user"]),
            call("n", "no_such_tool"),
        )
    ]
    wire = b"".join(server.raw).decode()
    assert str(machine.home) not in wire
    assert str(machine.home.parent) not in wire
    assert "hostname-and-path" not in wire
    assert "Traceback" not in wire
    assert any(answer.get("result", {}).get("isError") for answer in answers)


@pytest.mark.parametrize("mode", ["legacy", "auto"], ids=["handshake", "modern"])
@pytest.mark.parametrize("tool", ["memory_save", "memory_search", "memory_read", "memory_doctor"])
def test_an_unforeseen_exception_says_nothing_and_is_logged(
    mode: str, tool: str, caplog: pytest.LogCaptureFixture
) -> None:
    def vault() -> Vault:
        raise RuntimeError("detail of /home/someone/private")

    arguments = {"memory_save": {"title": "t", "body": "b"}, "memory_read": {"id": "mem_abc"}}.get(tool, {})

    async def talk() -> Any:
        async with Client(build_server(Launch("codex", {}), vault), mode=mode) as client:
            return await client.call_tool(tool, arguments)

    result = anyio.run(talk)
    assert result.is_error
    assert result.structured_content is None
    error = json.loads(result.content[0].text)["error"]
    assert error["code"].startswith("MEMORY_")
    assert "private" not in error["message"]
    assert "detail of /home/someone/private" in caplog.text


def test_the_doctor_of_a_server_starts_no_program(machine: Machine, tmp_path: Path) -> None:
    """What git tracks is asked by the doctor that a person runs."""
    program, started = tmp_path / "bin" / "git", tmp_path / "started"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n: > '{started}'\n")
    program.chmod(0o755)
    server = machine.open(PATH=str(program.parent))
    server.succeed("memory_save", title="t", body="b")
    assert server.succeed("memory_doctor")["ok"]
    assert not started.exists()
