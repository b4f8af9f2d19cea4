"""Start-up of the programs, as multiples of a bare interpreter start on the same machine.

    python benchmarks/startup.py [--runs 20]

The programs run in turn, so that all see the same machine. Printed are the medians, the minima
(what a quiet machine would give) and both as ratios, ready for docs/performance.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BIN = Path(sys.executable).parent
MEMORIES = 10
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "startup", "version": "0"},
    },
}
PROGRAMS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "ecc --version": [str(BIN / "ecc"), "--version"],
    "ecc memory search": [str(BIN / "ecc"), "memory", "search", "rotation"],
    "ecc-memory-mcp, to its first answer": [str(BIN / "ecc-memory-mcp")],
}


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=20, help="runs of each program (default 20)")
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as folder:
        env = {
            "HOME": folder,
            "PATH": os.environ.get("PATH", os.defpath),
            "ECC_MEMORY_PROJECT_ROOT": os.path.join(folder, "vault"),
            "ECC_MEMORY_HARNESS": "bench",
        }
        for number in range(MEMORIES):
            save(number, folder, env)
        times: dict[str, list[float]] = {name: [] for name in PROGRAMS}
        for _ in range(runs):
            for name, command in PROGRAMS.items():
                times[name].append(measure(command, folder, env))
    report(times, runs)


def save(number: int, folder: str, env: dict[str, str]) -> None:
    """Put one memory of 1.5 KB into the vault."""
    body = f"Note {number}: the token rotation tests pass. " * 35
    command = [str(BIN / "ecc"), "memory", "save", "--title", f"Rotation {number}", "--stdin"]
    subprocess.run(command, cwd=folder, env=env, input=body.encode(), stdout=subprocess.DEVNULL, check=True)


def measure(command: list[str], folder: str, env: dict[str, str]) -> float:
    """Return the milliseconds to the program's end, for the server to its first answer."""
    began = time.perf_counter()
    with subprocess.Popen(
        command, cwd=folder, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        if command[0].endswith("ecc-memory-mcp"):
            process.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
            process.stdin.flush()
            assert b'"result"' in process.stdout.readline()
            took = time.perf_counter() - began
            process.stdin.close()
            process.wait()
        else:
            process.stdin.close()
            process.stdout.read()
            process.wait()
            took = time.perf_counter() - began
        assert process.returncode == 0, command
    return took * 1000


def report(times: dict[str, list[float]], runs: int) -> None:
    """Print what the machine is and the table."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    print(
        f"{os.cpu_count()} cores, {memory:.0f} GiB, {platform.system()}, "
        f"{platform.python_implementation()} {platform.python_version()}, "
        f"{runs} runs each, {MEMORIES} memories\n"
    )
    print("| program | median ms | minimum ms | median ratio | minimum ratio |\n|---|---|---|---|---|")
    bare = next(iter(times.values()))
    for name, values in times.items():
        middle, least = statistics.median(values), min(values)
        print(
            f"| `{name}` | {middle:.0f} | {least:.0f} | {middle / statistics.median(bare):.1f} "
            f"| {least / min(bare):.1f} |"
        )


if __name__ == "__main__":
    main()
