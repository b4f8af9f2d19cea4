"""What the hooks cost: time from start to end, as multiples of a bare interpreter start.

    python benchmarks/hooks.py [--runs 30]

The programs run in turn, so that all see the same machine. For each the median and the minimum (what a
quiet machine would give), both also as ratios, and the longest run. The last rows are troubles, in which
a reminder must end within 300 ms.
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
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from ecc_memory.vault import Vault, parse_document, serialize_document

BIN = Path(sys.executable).parent
SIZES = (10, 300, 1_000, 5_000, 15_000)
BARE = "python -c pass"
BODY = "The token rotation tests pass; what remains is the logout path. " * 20


class Program(NamedTuple):
    """Something to be timed: a command, its folder, what it reads, and whether it says something."""

    command: list[str]
    cwd: Path
    event: bytes
    speaks: bool


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=30, help="runs of each program (default 30)")
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        programs = {
            BARE: Program([sys.executable, "-c", "pass"], home, b"", speaks=False),
            **reminders(home),
            **guards(home),
            **troubles(home),
        }
        env = {"HOME": folder, "PATH": os.environ.get("PATH", os.defpath)}
        times: dict[str, list[float]] = {name: [] for name in programs}
        said: dict[str, int] = dict.fromkeys(programs, 0)
        for _ in range(runs):
            for name, program in programs.items():
                took, spoke = measure(program, env)
                times[name].append(took)
                said[name] += spoke
    report(programs, times, said, runs)


def reminders(home: Path) -> dict[str, Program]:
    """Make vaults of several sizes, each with a session that starts in it."""
    made = {}
    for size in SIZES:
        project = home / f"project-{size}"
        fill(project, size)
        made[f"reminder, {size:,} memories"] = reminder(project, speaks=True)
    time.sleep(2.1)  # a file's state proves its content once it is older than the clock's grain
    for size in SIZES:
        Vault.open(home / f"project-{size}", {}, home).search(
            "rotation"
        )  # leaves an index, if that is worth it
    unknown = home / "project-unknown"
    fill(unknown, SIZES[-2])
    made[f"reminder, {SIZES[-2]:,} memories, no index"] = reminder(unknown, speaks=True)
    empty = home / "empty"
    empty.mkdir()
    return {"reminder, no vault": reminder(empty, speaks=False), **made}


def guards(home: Path) -> dict[str, Program]:
    """Make a write elsewhere, which passes, and two into a vault, which do not."""
    project = home / f"project-{SIZES[0]}"
    memory = next((project / ".ecc/memory/project/notes").glob("*.md"))
    targets = {
        "guard, a file elsewhere": (project / "README.md", False),
        "guard, a memory": (memory, True),
        "guard, no valid document": (memory.with_name("new.md"), True),
    }
    return {name: guard(project, path, speaks=speaks) for name, (path, speaks) in targets.items()}


def troubles(home: Path) -> dict[str, Program]:
    """Make what could hold a hook up."""
    project = home / "fifo"
    fill(project, 3)
    os.mkfifo(project / ".ecc/memory/project/notes/waiting.md")
    linked = home / "linked"
    (linked / ".ecc").mkdir(parents=True)
    (linked / ".ecc/memory").symlink_to(project / ".ecc/memory")
    endless = reminder(project, speaks=False)._replace(event=b"x" * 6_000_000)
    hanging = [sys.executable, "-c", HANGS, "reminder"]
    return {
        "trouble: a FIFO among the memories": reminder(project, speaks=True),
        "trouble: a link in place of the vault": reminder(linked, speaks=False),
        "trouble: 6 MB that are no event": endless,
        "trouble: a child that hangs": Program(hanging, home, b"{}", speaks=False),
    }


HANGS = (
    "import time; import ecc_memory.reminders.run as run; run.answer = lambda *_: time.sleep(60); "
    "from ecc_memory.reminders.hook import main; main()"
)


def reminder(project: Path, *, speaks: bool) -> Program:
    """Describe the hook of a session's start."""
    command = [str(BIN / "ecc-memory-hook"), "reminder", "--harness", "claude", "--tools", "mcp__v__"]
    event = {"hook_event_name": "SessionStart", "source": "startup", "cwd": str(project)}
    return Program([*command, "--event", "SessionStart"], project, json.dumps(event).encode(), speaks)


def guard(project: Path, path: Path, *, speaks: bool) -> Program:
    """Describe the hook of a write."""
    command = [str(BIN / "ecc-memory-hook"), "guard", "--harness", "claude", "--tools", "mcp__v__"]
    tool = {"tool_name": "Write", "tool_input": {"file_path": str(path), "content": "# Notes\n" * 100}}
    event = {"hook_event_name": "PreToolUse", "cwd": str(project), **tool}
    return Program([*command, "--event", "PreToolUse"], project, json.dumps(event).encode(), speaks)


def fill(project: Path, size: int) -> None:
    """Make a vault of so many memories of 1.5 KB: one that the product saves, and copies of it."""
    project.mkdir()
    saved = Vault.open(project, {}, project.parent / "person").save(title="Token rotation", body=BODY)
    first = project / ".ecc/memory/project" / saved.path.partition(":")[2]
    document = serialize_document(parse_document(first.read_text()))
    for number in range(1, size):
        copy = document.replace(saved.memory.id, f"mem_copy{number:06}")
        first.with_name(f"mem_copy{number:06}.md").write_text(copy)


def measure(program: Program, env: dict[str, str]) -> tuple[float, bool]:
    """Return the milliseconds to a program's end, and whether it said something."""
    began = time.perf_counter()
    done = subprocess.run(
        program.command, cwd=program.cwd, env=env, input=program.event, capture_output=True, check=True
    )
    return (time.perf_counter() - began) * 1000, bool(done.stdout)


def report(
    programs: dict[str, Program], times: dict[str, list[float]], said: dict[str, int], runs: int
) -> None:
    """Print what the machine is and the table."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    print(
        f"{os.cpu_count()} cores, {memory:.0f} GiB, {platform.system()}, "
        f"{platform.python_implementation()} {platform.python_version()}, {runs} runs each\n"
    )
    print("| program | median ms | minimum ms | median ratio | minimum ratio | longest ms | answered |")
    print("|---|---|---|---|---|---|---|")
    bare: dict[Callable[[list[float]], float], float] = {
        figure: figure(times[BARE]) for figure in (statistics.median, min)
    }
    for name, values in times.items():
        middle, least = statistics.median(values), min(values)
        print(
            f"| {name} | {middle:.0f} | {least:.0f} | {middle / bare[statistics.median]:.1f} "
            f"| {least / bare[min]:.1f} | {max(values):.0f} | {said[name]} of {runs} |"
        )
        if said[name] and not programs[name].speaks:
            sys.exit(f"{name}: something was said")


if __name__ == "__main__":
    main()
