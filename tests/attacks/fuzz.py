"""Coverage-guided fuzzing of everything that reads bytes of others.

    python -m tests.attacks.fuzz [TARGET...] [--seconds 600]

Needs ``pip install atheris`` (Linux, CPython 3.11 to 3.13). Each target runs in a process of its own, for
so many seconds, with at most 1 GiB of memory and 5 seconds of processor time an input; what breaks one is
written to a file that the output names. The exit status says whether all went well.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LONGEST = 8192
MOST_SECONDS = 5.0
INSTRUMENTED = ["ecc_memory", "json", "tomllib", "ruamel.yaml", "markdown_it"]


def main() -> None:
    """Run the targets that the command line names, one after the other."""
    from .targets import TARGETS

    parser = argparse.ArgumentParser(description="Fuzz the readers of ecc-memory.")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"default: {' '.join(TARGETS)}")
    parser.add_argument("--seconds", type=int, default=600, help="for each target (default 600)")
    given = parser.parse_args()
    unknown = set(given.targets) - set(TARGETS)
    if unknown:
        parser.error(f"no target is called {sorted(unknown)[0]}")
    results = [run(name, given.seconds) for name in given.targets or TARGETS]
    sys.exit(any(results))


def run(name: str, seconds: int) -> int:
    """Fuzz one target in a process of its own; return its exit status."""
    from .targets import seeds

    with tempfile.TemporaryDirectory() as folder:
        for number, data in enumerate(seeds(name)):
            (Path(folder) / f"seed-{number}").write_bytes(data[:LONGEST])
        limits = ["-timeout=120", "-rss_limit_mb=1024", f"-max_len={LONGEST}", f"-max_total_time={seconds}"]
        command = [
            sys.executable,
            "-c",
            f"from tests.attacks.fuzz import child; child({name!r})",
            folder,
            *limits,
        ]
        began = time.monotonic()
        done = subprocess.run([*command, "-print_final_stats=1"], capture_output=True, text=True, check=False)
    runs = re.findall(r"number_of_executed_units:\s*(\d+)|Done (\d+) runs", done.stderr)
    count = max((int(number) for pair in runs for number in pair if number), default=0)
    coverage = re.findall(r"\bcov: (\d+)", done.stderr)
    rss = re.findall(r"peak_rss_mb:\s*(\d+)", done.stderr)
    outcome = "nothing found" if done.returncode == 0 else f"BROKEN, status {done.returncode}"
    memory = rss[-1] if rss else "?"
    edges = coverage[-1] if coverage else "?"
    took = f"{time.monotonic() - began:4.0f} s, {count:9,} inputs, {edges:>5} edges, {memory:>4} MiB"
    print(f"{name:9} {took}: {outcome}", flush=True)
    if done.returncode:
        print(done.stdout[-4000:], done.stderr[-1000:], sep="\n")
    return done.returncode


def child(name: str) -> None:
    """Be the process that fuzzes. The readers are not loaded yet, so that their branches can be counted."""
    import atheris

    with atheris.instrument_imports(include=INSTRUMENTED, enable_loader_override=False):
        from .targets import TARGETS

        target = TARGETS[name]
        target(b"")  # loads what is loaded late

    def bounded(data: bytes) -> None:
        began = time.process_time()
        target(data)
        assert time.process_time() - began < MOST_SECONDS, "it takes too long"

    atheris.Setup(sys.argv, bounded)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
