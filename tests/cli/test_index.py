"""The index's commands."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import time

import pytest

from .conftest import Program


def state(ecc: Program, *args: str) -> list[tuple[str, int, object]]:
    payload = ecc("index", *args, "--json").safe().json
    assert payload["schemaVersion"] == "ecc.memory.index.v1"
    return [(each["scope"], each["documents"], each["trouble"]) for each in payload["scopes"]]


def test_index_is_built_shown_and_dropped(ecc: Program) -> None:
    ecc.save("A title")
    assert state(ecc, "status") == [("project", 0, None), ("team", 0, None)]
    time.sleep(2.2)  # what was saved in this moment is not believed yet
    assert state(ecc, "rebuild") == [("project", 1, None), ("team", 0, None)]
    shown = ecc("index", "status", "--scope", "project").safe()
    assert shown.out.startswith("project: 1 documents, ")
    assert str(ecc.home / ".cache/ecc-memory") in shown.out
    assert ecc("search", "title", "--json").json["diagnostics"]["total"] == 1
    assert state(ecc, "drop") == [("project", 0, None), ("team", 0, None)]
    assert ecc("index", "status").out == "project: no index\nteam: no index\n"
    assert ecc("search", "title", "--json").json["diagnostics"]["total"] == 1


def test_index_that_cannot_be_stored(ecc: Program) -> None:
    ecc.save("A title")
    (ecc.home / ".cache").write_text("in the way")
    time.sleep(2.2)
    assert ecc("index", "rebuild", "--scope", "project").safe().status == 1
    assert ecc("search", "title", "--json").json["diagnostics"]["total"] == 1


def test_unknown_scope_is_refused(ecc: Program) -> None:
    assert ecc("index", "status", "--scope", "galaxy", "--json").refused(2) == "ECC_MEMORY_USAGE"


@pytest.mark.parametrize("terminal", [True, False])
def test_progress_goes_to_a_terminal_only(ecc: Program, terminal: bool) -> None:
    folder = ecc.vault / "notes"
    folder.mkdir(parents=True)
    for number in range(300):
        (folder / f"{number}.md").write_bytes(b"junk")
    code = (
        "import time\nfrom ecc_memory.vault import judge, scan\nreal = judge.judge\n"
        "def slow(*a):\n    time.sleep(0.006)\n    return real(*a)\n"
        "scan.judge = slow\nfrom ecc_memory.cli.run import run\nrun('ecc-memory')"
    )
    ours, theirs = pty.openpty() if terminal else os.pipe()
    command = [sys.executable, "-c", code, "index", "rebuild", "--scope", "project"]
    process = subprocess.Popen(command, cwd=ecc.cwd, env=ecc.env, stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    shown = b""
    while chunk := read(ours):
        shown += chunk
    os.close(ours)
    assert process.wait() == 0
    assert (b"%" in shown) is terminal


def read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 1 << 16)
    except OSError:  # how a pseudo-terminal ends
        return b""
