"""Killing programs at random points of their work, and looking at what they leave.

    python -m tests.faults.crash {save,install,uninstall,index} [--rounds 1000] [--seed 0]

Three of four rounds kill (SIGKILL) just before or after a request to the operating system, of all those of
the work that write: each such moment once, in random order, before any comes again. The others kill after a
random time. The exit status is 1 when a promise was broken.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

from ecc_memory.install.status import status
from ecc_memory.vault import Vault, parse_document
from ecc_memory.vault.index import LEAST_DOCUMENTS

from .person import Person, leftovers, lost_or_torn
from .steps import WRITING, die_at, requests

SAVES = 4
BATCH = 50
"""How many rounds of saves share a home; the first half of them start without a vault."""
Acknowledge = Callable[[bytes], object]
Work = Callable[[Acknowledge], object]
"""What a child does; it is given a way to acknowledge."""
Aim = tuple[int, str]
"""A moment, as :func:`die_at` counts them, and the request that it lies before or after."""


class Killer:
    """Runs work in children and kills them.

    Attributes:
        killed: how many children died before their work was done.
    """

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._aims: dict[str, list[Aim]] = {}
        self._left: dict[str, list[Aim]] = {}
        self._tried: defaultdict[str, set[Aim]] = defaultdict(set)
        self._seconds: dict[str, float] = {}
        self.killed = 0

    @property
    def moments(self) -> int:
        """How many moments the works have at which they can be killed exactly."""
        return sum(map(len, self._aims.values()))

    @property
    def untried(self) -> int:
        """How many of them no child was killed at yet."""
        return sum(len(aims) - len(self._tried[name]) for name, aims in self._aims.items())

    def measure(self, name: str, work: Work, prepare: Callable[[], object] = lambda: None) -> None:
        """Do the work here, each time after ``prepare``, to know the requests that it makes, and its time.

        What a second, warm run makes, and a third again, is what a child will make.
        """
        with open(os.devnull, "wb", buffering=0) as nobody:
            runs = []
            for _ in range(3):
                prepare()
                runs.append(requests(lambda: work(nobody.write)))
            assert runs[1] == runs[2], f"{name} makes other requests each time"
            prepare()
            self._seconds[name] = _seconds_in_child(lambda: work(nobody.write))
        aims = [
            (2 * at + after, each) for at, each in enumerate(runs[2]) if each in WRITING for after in (0, 1)
        ]
        assert self._aims.setdefault(name, aims) == aims, f"{name} makes other requests than before"

    def run(self, name: str, work: Work) -> list[bytes]:
        """Start the work in a child, kill it, return what it had acknowledged.

        Three times of four at one of the exact moments, and at each of them once before any comes again.
        """
        by_time = self._random.random() < 0.25
        aim = None if by_time else self._next_aim(name)
        inlet, outlet = os.pipe()
        child = os.fork()
        if child == 0:
            _be_killed(work, outlet, aim)
        os.close(outlet)
        if by_time:
            time.sleep(self._random.uniform(0, self._seconds[name]))
            os.kill(child, signal.SIGKILL)
        with open(inlet, "rb") as stream:
            said = stream.read().split()
        status = os.waitpid(child, 0)[1]
        self.killed += os.WIFSIGNALED(status)
        if os.WIFEXITED(status) and os.WEXITSTATUS(status):
            raise AssertionError(f"{name}: the child failed by itself")
        return said

    def _next_aim(self, name: str) -> Aim:
        left = self._left.setdefault(name, [])
        if not left:
            left += self._random.sample(self._aims[name], len(self._aims[name]))
        self._tried[name].add(left[-1])
        return left.pop()


def _seconds_in_child(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    return time.perf_counter() - began


def _be_killed(work: Work, outlet: int, aim: Aim | None) -> None:
    status = 1
    try:
        with open(outlet, "wb", buffering=0) as stream:
            if aim is None:
                work(stream.write)
            else:
                die_at(*aim, lambda: work(stream.write))
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def save(rounds: int, killer: Killer) -> Iterator[str]:
    """Every acknowledged memory is there and whole; no other document is ever anything but whole."""
    acknowledged = found = left = 0
    bodies = random.Random(1)
    while rounds > 0:
        with home() as person:
            vault = person.vault()

            def work(acknowledge: Acknowledge, vault: Vault = vault) -> None:
                for _ in range(SAVES):
                    body = "word " * bodies.randrange(1, 10_000)
                    acknowledge(vault.save(title="T", body=body).memory.id.encode() + b" ")

            def start_anew(person: Person = person) -> None:
                shutil.rmtree(person.project / ".ecc", ignore_errors=True)

            killer.measure("saves", work)
            killer.measure("first saves", work, start_anew)
            for number in range(min(rounds, BATCH)):
                rounds -= 1
                is_first = number < BATCH // 2
                start_anew() if is_first else None
                before = _documents_and_leftovers(person)
                promised = killer.run("first saves" if is_first else "saves", work)
                after = _documents_and_leftovers(person)
                acknowledged += len(promised)
                found += len(after[0] - before[0])
                left += len(after[1] - before[1])
                for id in promised:
                    text = (person.memories / "notes" / f"{id.decode()}.md").read_text("utf-8")
                    assert parse_document(text).id == id.decode()
                report = vault.doctor()
                assert report.ok, report.findings
                assert report.memory_count == len(after[0])
                named = {re.split("[:/]", warning.path)[-1] for warning in report.warnings}
                assert named == {path.name for path in after[1]}
                vault.save(title="T", body="the next one is not hindered")
    yield f"{acknowledged} saves acknowledged, {found} memories found and valid, 0 lost, 0 partial"
    yield f"{left} temporary files left behind, all named by the doctor"


def _documents_and_leftovers(person: Person) -> tuple[set[Path], set[Path]]:
    return set(person.memories.rglob("*.md")), set(leftovers(person.memories))


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
        start = old if command == "install" else new

        def work(_: object) -> None:
            person.install_all() if command == "install" else person.uninstall()

        def prepare() -> None:
            person.uninstall() if command == "install" else person.install_all()

        killer.measure(command, work, prepare)
        for number in range(rounds):
            prepare()
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


def index(rounds: int, killer: Killer) -> Iterator[str]:
    """Answers do not depend on what became of the index."""
    with home() as person:
        person.fill(LEAST_DOCUMENTS)
        expected = person.vault(ECC_MEMORY_INDEX="0").search("title", limit=100)

        def work(_: object) -> None:
            person.vault().search("title")

        def start_anew() -> None:
            for path in cache.glob("*"):
                path.unlink()

        cache = person.path / ".cache/ecc-memory"
        killer.measure("index", work, start_anew)
        work(None)
        assert any(cache.glob("*.sqlite")), "there is no index to be killed at"
        written = 0
        for _ in range(rounds):
            start_anew()
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
    print(f"  {killer.moments} moments to be killed at exactly, {killer.untried} of them not tried")
    for line in lines:
        print(f"  {line}")
    sys.exit(0)


if __name__ == "__main__":
    main()
