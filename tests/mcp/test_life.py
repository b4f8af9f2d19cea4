"""When the server ends, and what is on disk then. How fast it does is in benchmarks/mcp_server.py."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ecc_memory.vault import parse_document

from .conftest import Machine
from .process import COMMAND, INITIALIZE, PATIENCE, call, request

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


def test_orphan_after_client_dies_end_of_input(machine: Machine) -> None:
    with Path(os.devnull).open("rb") as nothing:
        done = subprocess.run(
            [COMMAND],
            stdin=nothing,
            capture_output=True,
            cwd=machine.project,
            env=machine.env(),
            timeout=PATIENCE,
        )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_what_was_asked_before_the_end_of_input_is_answered(machine: Machine) -> None:
    lines = [INITIALIZE, call(1, "memory_save", title="t", body="b"), request(2, "tools/list")]
    done = subprocess.run(
        [COMMAND],
        input=b"".join(json.dumps(line).encode() + b"\n" for line in lines),
        capture_output=True,
        cwd=machine.project,
        env=machine.env(),
        timeout=PATIENCE,
    )
    assert {json.loads(line)["id"] for line in done.stdout.splitlines()} == {"open", 1, 2}
    assert (done.returncode, done.stderr) == (0, b"")
    assert len(machine.documents()) == 1


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("moment", ["loading", "idle", "busy"])
def test_a_signal_ends_it_quietly(machine: Machine, number: signal.Signals, moment: str) -> None:
    server = machine.start()
    if moment == "loading":
        server.send(INITIALIZE)
        wait_for_private_descriptors(server.process.pid)
    else:
        server.open()
    if moment == "busy":
        for identity in range(40):
            server.send(call(identity, "memory_search", query="x"))
    server.process.send_signal(number)
    assert server.wait() == 128 + number
    assert server.errors() == ""


def wait_for_private_descriptors(pid: int) -> None:
    """Wait until the server has taken the protocol off descriptor 1, which is before it loads the SDK."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            if os.readlink(f"/proc/{pid}/fd/0") == os.devnull:
                return
        except OSError:
            pass
        time.sleep(0.002)
    raise AssertionError("the server never came so far")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_save_under_way_is_complete_or_absent(machine: Machine, number: signal.Signals) -> None:
    body = "The token rotation tests pass. " * 2000
    for round_ in range(4):
        server = machine.open()
        for identity in range(40):
            server.send(call(identity, "memory_save", title=f"{round_}-{identity}", body=body))
        answered = [server.receive() for _ in range(3 * round_)]
        server.process.send_signal(number)
        server.wait()
        server._threads[0].join()
        answers = [*answered, *(json.loads(line) for line in server.raw[1 + len(answered) :])]
        saved = {
            answer["result"]["structuredContent"]["memory"]["id"] for answer in answers if "result" in answer
        }
        on_disk = {parse_document(path.read_text("utf-8")).id for path in machine.documents()}
        assert saved <= on_disk
        if number == signal.SIGTERM:
            left = [path for path in (machine.project / ".ecc").rglob(".*") if path.name != ".gitignore"]
            assert left == []


@pytest.mark.parametrize("moment", ["idle", "busy"])
def test_a_closed_read_end_is_quiet(machine: Machine, moment: str) -> None:
    process = subprocess.Popen(
        [COMMAND],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=machine.project,
        env=machine.env(),
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
    process.stdin.flush()
    process.stdout.readline()
    process.stdout.close()
    if moment == "busy":
        with contextlib.suppress(OSError):  # it may have noticed already
            for identity in range(40):
                process.stdin.write(json.dumps(request(identity, "tools/list")).encode() + b"\n")
            process.stdin.flush()
    assert process.wait(PATIENCE) == 0
    assert process.stderr.read() == b""
    process.stderr.close()
    with contextlib.suppress(OSError):
        process.stdin.close()


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc for the orphan")
def test_orphan_after_client_dies_with_a_copy_of_its_pipe_open(machine: Machine) -> None:
    """The parent is killed while somebody else still holds the write end: no end of input comes."""
    parent = (
        "import subprocess, sys, time\n"
        "server = subprocess.Popen(sys.argv[1:], stdin=0)\n"
        "print(server.pid, file=sys.stderr, flush=True)\n"
        "time.sleep(600)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", parent, COMMAND],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=machine.project,
        env=machine.env(),
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    pid = int(process.stderr.readline())
    process.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["id"] == "open"
    process.kill()
    process.wait()
    deadline = time.monotonic() + PATIENCE
    while is_running(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not is_running(pid)
    for stream in (process.stdin, process.stdout, process.stderr):
        stream.close()


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"  # dead, but its new parent has not looked yet


def test_a_server_without_standard_error_works(machine: Machine) -> None:
    script = f'exec "{COMMAND}" 2>&-'
    line = json.dumps(INITIALIZE).encode() + b"\n"
    done = subprocess.run(
        ["/bin/sh", "-c", script],
        input=line,
        capture_output=True,
        cwd=machine.project,
        env=machine.env(),
        timeout=PATIENCE,
    )
    assert done.returncode == 0
    assert json.loads(done.stdout)["id"] == "open"


def test_a_log_that_nobody_reads_does_not_stop_it(machine: Machine) -> None:
    """Each of these makes the SDK log a warning, together far more than a pipe holds."""
    process = subprocess.Popen(
        [COMMAND],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=machine.project,
        env=machine.env(),
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
    bad = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "x", "reason": 5}}
    for _ in range(3000):
        process.stdin.write(json.dumps(bad).encode() + b"\n")
    process.stdin.write(json.dumps(request("after", "ping")).encode() + b"\n")
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["id"] == "open"
    assert json.loads(process.stdout.readline())["id"] == "after"
    process.stdin.close()
    assert process.wait(PATIENCE) == 0
    logged = process.stderr.read()
    assert b"ecc-memory-mcp: dropped 'notifications/cancelled'" in logged
    process.stdout.close()
    process.stderr.close()
