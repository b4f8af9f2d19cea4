"""Start, latency, memory and exit of ``ecc-memory-mcp``, next to a minimal server on the same SDK.

    python benchmarks/mcp_server.py [--runs 10] [--calls 300]

Starts of the two servers alternate, so that both see the same machine. Medians, and the
minimum in parentheses, which is what a quiet machine would give.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

HERE = Path(__file__).parent
OURS = [str(Path(sys.executable).with_name("ecc-memory-mcp"))]
MINIMAL = [sys.executable, str(HERE / "mcp_minimal.py")]

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "0"},
    },
}
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "0"},
}
DISCOVER = {"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": ENVELOPE}}


class Server:
    """A running server, asked one thing at a time."""

    def __init__(self, command: list[str], folder: str) -> None:
        env = {**os.environ, "HOME": folder, "ECC_MEMORY_HARNESS": "bench"}
        env["ECC_MEMORY_PROJECT_ROOT"] = os.path.join(folder, "vault")
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder, env=env
        )

    def send(self, message: dict[str, object]) -> None:
        """Send one message."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, message: dict[str, object]) -> dict[str, object]:
        """Send one request and wait for its answer."""
        assert self.process.stdout is not None
        self.send(message)
        answer: dict[str, object] = json.loads(self.process.stdout.readline())
        return answer

    def call(self, number: int, tool: str, arguments: dict[str, object]) -> dict[str, object]:
        """Call one tool in the handshake era."""
        params = {"name": tool, "arguments": arguments}
        return self.ask({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})

    def status(self, field: str) -> int:
        """Return a size of ``/proc/<pid>/status`` in KiB."""
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(text.split(f"{field}:")[1].split()[0])

    def cpu(self) -> float:
        """Return the processor time used so far, in milliseconds."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")

    def leave(self) -> float:
        """Close standard input and return the milliseconds until the process is gone."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        asked = time.perf_counter()
        self.process.wait()
        self.process.stdout.close()
        return (time.perf_counter() - asked) * 1000


def starts(folder: str, runs: int) -> None:
    """Print spawn-to-answer of both servers, for both openings."""
    print(f"{'first answer, ms':28}{'minimal':>18}{'ecc-memory-mcp':>18}{'ratio':>8}")
    for name, opening in (("initialize", INITIALIZE), ("server/discover", DISCOVER)):
        wall: dict[str, list[float]] = {"minimal": [], "ours": []}
        cpu: dict[str, list[float]] = {"minimal": [], "ours": []}
        rss: dict[str, list[float]] = {"minimal": [], "ours": []}
        gone: dict[str, list[float]] = {"minimal": [], "ours": []}
        for _ in range(runs):
            for kind, command in (("minimal", MINIMAL), ("ours", OURS)):
                server = Server(command, folder)
                answer = server.ask(opening)
                wall[kind].append((time.perf_counter() - server.started) * 1000)
                assert "result" in answer, answer
                cpu[kind].append(server.cpu())
                rss[kind].append(server.status("VmRSS") / 1024)
                gone[kind].append(server.leave())
        row(name, wall, "median")
        row("  minimum", wall, "min")
        row("  processor time", cpu, "median")
        row("  resident memory, MiB", rss, "median")
        row("  exit after end of input", gone, "median")


def row(name: str, values: dict[str, list[float]], statistic: str) -> None:
    """Print one line of the comparison."""
    pick: Callable[[list[float]], float] = min if statistic == "min" else statistics.median
    minimal, ours = pick(values["minimal"]), pick(values["ours"])
    print(f"{name:28}{minimal:18.0f}{ours:18.0f}{ours / minimal:8.2f}")


def latency(folder: str, calls: int) -> None:
    """Print the latency of each tool on a vault of 200 memories, and the memory used."""
    server = Server(OURS, folder)
    server.ask(INITIALIZE)
    body = "The token rotation tests pass. " * 60
    spent: dict[str, list[float]] = {}
    identity = ""
    for number in range(200):
        began = time.perf_counter()
        answer = server.call(number, "memory_save", {"title": f"Memory {number}", "body": body})
        spent.setdefault("memory_save", []).append((time.perf_counter() - began) * 1000)
        identity = answer["result"]["structuredContent"]["memory"]["id"]  # type: ignore[index]
    for tool, arguments in (
        ("memory_search", {"query": "token rotation"}),
        ("memory_read", {"id": identity}),
        ("memory_doctor", {}),
    ):
        for number in range(calls):
            began = time.perf_counter()
            answer = server.call(number, tool, dict(arguments))
            spent.setdefault(tool, []).append((time.perf_counter() - began) * 1000)
            assert "result" in answer, answer
    began = time.perf_counter()
    for number in range(calls):
        server.ask({"jsonrpc": "2.0", "id": number, "method": "ping"})
    spent["ping"] = [(time.perf_counter() - began) * 1000 / calls]
    print(f"\n{'call, 200 memories, ms':28}{'p50':>10}{'p95':>10}")
    for name, values in spent.items():
        values.sort()
        print(f"{name:28}{statistics.median(values):10.2f}{values[int(len(values) * 0.95)]:10.2f}")
    print(f"\nresident memory after that: {server.status('VmRSS') / 1024:.0f} MiB")
    server.leave()


def pressure(folder: str) -> None:
    """Print what a 64 MiB line and 5,000 pipelined calls add to the peak memory."""
    for name, lines in (
        ("a line of 64 MiB", [b"x" * (64 * 1024 * 1024)]),
        ("5,000 pipelined searches", [search(number) for number in range(2, 5002)]),
    ):
        server = Server(OURS, folder)
        server.ask(INITIALIZE)
        server.call(1, "memory_search", {"query": "token"})
        before = server.status("VmHWM")
        assert server.process.stdin is not None
        assert server.process.stdout is not None
        began = time.perf_counter()
        writer = write_all(server, lines)
        for _ in lines:
            server.process.stdout.readline()
        writer.join()
        spent = time.perf_counter() - began
        print(f"{name}: peak +{(server.status('VmHWM') - before) / 1024:.1f} MiB in {spent:.2f} s")
        server.leave()


def endings(folder: str, runs: int) -> None:
    """Print how long the process outlives each way in which it can end."""
    print(f"\n{'end, ms until it is gone':28}{'median':>10}{'max':>10}{'status':>10}")
    ways: dict[str, Callable[[Server], None]] = {
        "end of input": lambda server: close(server.process.stdin),
        "SIGTERM": lambda server: server.process.send_signal(signal.SIGTERM),
        "SIGINT": lambda server: server.process.send_signal(signal.SIGINT),
        "closed read end, idle": lambda server: close(server.process.stdout),
    }
    for busy in ("", ", mid-call"):
        for name, end in ways.items():
            spent = []
            for _ in range(runs):
                server = Server(OURS, folder)
                server.ask(INITIALIZE)
                if busy:
                    server.send(json.loads(search(2)))
                began = time.perf_counter()
                end(server)
                status = server.process.wait()
                spent.append((time.perf_counter() - began) * 1000)
                close(server.process.stdin)
                close(server.process.stdout)
            print(f"{name + busy:28}{statistics.median(spent):10.0f}{max(spent):10.0f}{status:10}")
    spent = [orphan(folder) for _ in range(runs)]
    print(f"{'dead parent, open pipe':28}{statistics.median(spent):10.0f}{max(spent):10.0f}{'-':>10}")


def close(stream: IO[bytes] | None) -> None:
    """Close a pipe whose other end may be gone."""
    assert stream is not None
    with contextlib.suppress(OSError):
        stream.close()


def orphan(folder: str) -> float:
    """Kill a server's parent while its input stays open; return the milliseconds it lives on."""
    parent = (
        "import subprocess, sys, time; print(subprocess.Popen(sys.argv[1:]).pid, flush=True); time.sleep(60)"
    )
    env = {**os.environ, "HOME": folder, "ECC_MEMORY_HARNESS": "bench"}
    process = subprocess.Popen(
        [sys.executable, "-c", parent, *OURS],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=folder,
        env=env,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    server = Path(f"/proc/{int(process.stdout.readline())}/stat")
    process.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
    process.stdin.flush()
    process.stdout.readline()
    process.kill()
    process.wait()
    began = time.perf_counter()
    with contextlib.suppress(OSError):
        while server.read_text().rsplit(")", 1)[1].split()[0] != "Z":
            time.sleep(0.002)
    spent = (time.perf_counter() - began) * 1000
    close(process.stdin)
    close(process.stdout)
    return spent


def search(number: int) -> bytes:
    """Return one pipelined call."""
    params = {"name": "memory_search", "arguments": {"query": "token rotation"}}
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}).encode()


def write_all(server: Server, lines: list[bytes]) -> threading.Thread:
    """Write all lines from a thread, since the pipe is smaller than they are."""

    def write() -> None:
        assert server.process.stdin is not None
        for line in lines:
            server.process.stdin.write(line + b"\n")
        server.process.stdin.flush()

    thread = threading.Thread(target=write)
    thread.start()
    return thread


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=10, help="starts of each server and opening")
    parser.add_argument("--calls", type=int, default=300, help="calls of each tool")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        starts(folder, options.runs)
        latency(folder, options.calls)
        pressure(folder)
        endings(folder, max(3, options.runs // 2))
