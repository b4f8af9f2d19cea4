"""Killing programs at random points of their work, and looking at what they leave.

    python -m tests.faults.crash {save,install,uninstall,index} [--rounds 1000] [--seed 0]

Half of the rounds kill (SIGKILL) just before or after a request to the operating system, drawn from all that
the work makes in order to write; the other half after a random time. The exit status is 1 when a promise was
broken.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import re
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from ecc_memory.install.status import status
from ecc_memory.vault import Vault, parse_document

from .person import Person, leftovers, lost_or_torn
from .steps import WRITING, die_at, requests

SAVES = 4
DOCUMENTS = 300
Work = Callable[[Callable[[bytes], object]], object]
"""What a child does; it is given a way to acknowledge."""


class Killer:
    """Runs work in children and kills them.

    Attributes:
        killed: how many children died before their work was done.
    """

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._known: dict[str, tuple[list[int], float]] = {}
        self.killed = 0

    def measure(self, name: str, work: Work) -> None:
        """Do the work once in this process, to know how long it is."""
        began = time.perf_counter()
        names = requests(lambda: work(lambda _: None))
        moments = [2 * at + after for at, name in enumerate(names) if name in WRITING for after in (0, 1)]
        self._known[name] = moments, time.perf_counter() - began

    def run(self, name: str, work: Work) -> list[bytes]:
        """Start the work in a child, kill it at a random point, return what it had acknowledged."""
        moments, seconds = self._known[name]
        by_time = self._random.random() < 0.5
        moment, pause = self._random.choice(moments), self._random.uniform(0, seconds)
        inlet, outlet = os.pipe()
        child = os.fork()
        if child == 0:
            _be_killed(work, outlet, None if by_time else moment)
        os.close(outlet)
        if by_time:
            time.sleep(pause)
            os.kill(child, signal.SIGKILL)
        with open(inlet, "rb") as stream:
            said = stream.read().split()
        status = os.waitpid(child, 0)[1]
        self.killed += os.WIFSIGNALED(status)
        if os.WIFEXITED(status) and os.WEXITSTATUS(status):
            raise AssertionError(f"{name}: the child failed by itself")
        return said


def _be_killed(work: Work, outlet: int, moment: int | None) -> None:
    status = 1
    try:
        if moment is None:
            work(lambda word: os.write(outlet, word))
        else:
            die_at(moment, lambda: work(lambda word: os.write(outlet, word)))
        status = 0
    finally:
        os._exit(status)


def save(rounds: int, killer: Killer) -> Iterator[str]:
    """Every acknowledged memory is there and whole; no other document is ever anything but whole."""
    acknowledged = found = left = 0
    bodies = random.Random(1)
    while rounds > 0:
        with home() as person:
            vault = person.vault()

            def work(acknowledge: Callable[[bytes], object], vault: Vault = vault) -> None:
                for _ in range(SAVES):
                    body = "word " * bodies.randrange(1, 10_000)
                    acknowledge(vault.save(title="T", body=body).memory.id.encode() + b" ")

            killer.measure("save", work)
            for _ in range(min(rounds, 50)):
                rounds -= 1
                promised = killer.run("save", work)
                acknowledged += len(promised)
                for id in promised:
                    text = (person.memories / "notes" / f"{id.decode()}.md").read_text("utf-8")
                    assert parse_document(text).id == id.decode()
                report = vault.doctor()
                assert report.ok, report.findings
                named = {re.split("[:/]", warning.path)[-1] for warning in report.warnings}
                assert named == {path.name for path in leftovers(person.memories)}
            found += report.memory_count - SAVES
            left += len(named)
    yield f"{acknowledged} saves acknowledged, {found} memories found and valid, 0 lost, 0 partial"
    yield f"{left} temporary files left behind, all named by the doctor"


def install(rounds: int, killer: Killer) -> Iterator[str]:
    """Each file has its old or its new bytes; the next run completes the work or takes it all out."""
    yield from _installer(rounds, killer, "install")


def uninstall(rounds: int, killer: Killer) -> Iterator[str]:
    """The same for taking it out."""
    yield from _installer(rounds, killer, "uninstall")


def _installer(rounds: int, killer: Killer, command: str) -> Iterator[str]:
    half_done = left = 0
    with home() as person:
        old = person.tree()
        person.install_all()
        new = person.tree()
        start, end = (old, new) if command == "install" else (new, old)

        def work(_: object) -> None:
            person.install_all() if command == "install" else person.uninstall()

        person.uninstall() if command == "install" else None
        killer.measure(command, work)
        for number in range(rounds):
            person.uninstall() if command == "install" else person.install_all()
            assert person.tree() == start
            killer.run(command, work)
            now = person.tree()
            assert lost_or_torn(now, old, new) == []
            half_done += now not in (old, new)
            names = leftovers(person.path)
            left += len(names)
            assert set(status(person.context, run_checks=False).leftovers) == set(names)
            if number % 2:
                person.install_all()
                assert person.tree() == new
            person.uninstall()
            assert person.tree() == old
    yield f"{half_done} times something was half done: every file old or new, completed or taken back after"
    yield f"{left} temporary files left behind, all named by status, none there after the next run"
    del end


def index(rounds: int, killer: Killer) -> Iterator[str]:
    """Answers do not depend on what became of the index."""
    with home() as person:
        person.fill(DOCUMENTS)
        expected = person.vault(ECC_MEMORY_INDEX="0").search("title", limit=100)

        def work(_: object) -> None:
            person.vault().search("title")

        killer.measure("index", work)
        written = 0
        cache = person.path / ".cache/ecc-memory"
        for _ in range(rounds):
            for path in cache.glob("*"):
                path.unlink()
            killer.run("index", work)
            written += any(cache.glob("*.sqlite"))
            for _ in range(2):
                assert person.vault().search("title", limit=100) == expected
    yield f"{written} times the index had been begun; 0 answers differed"


@contextlib.contextmanager
def home() -> Iterator[Person]:
    """Give a person a home that goes afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        yield Person(Path(folder, "home"))


SCENARIOS: dict[str, Callable[[int, Killer], Iterator[str]]] = {
    "save": save,
    "install": install,
    "uninstall": uninstall,
    "index": index,
}


def main() -> None:
    """Run one scenario and print what came of it."""
    parser = argparse.ArgumentParser(description="Kill programs at work.")
    parser.add_argument("scenario", choices=SCENARIOS)
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    killer = Killer(given.seed)
    lines = list(SCENARIOS[given.scenario](given.rounds, killer))
    print(f"{given.scenario}: {given.rounds} rounds, {killer.killed} killed at work")
    for line in lines:
        print(f"  {line}")
    sys.exit(0)


if __name__ == "__main__":
    main()
