"""Exchanging what a program works on for something else while it works.

    python -m tests.attacks.swaps [VICTIM...] [--moments 3000] [--rounds 3000] [--seed 0]

An attacker puts links, FIFOs, devices, folders, huge and sparse files, or nothing in the place of folders,
documents, the ``.gitignore``, temporary files, the lock, the receipts and the index, and the real thing back.
First at exact moments, each just before a request that the victim makes to the operating system: so many are
drawn of all combinations of request, place and swap. Then, in a process of its own, again and again, for so
many rounds of the victim's work. Nothing outside may be read or written, nothing may hang or crash.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import itertools
import os
import random
import resource
import signal
import stat
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from ecc_memory.errors import EccMemoryError
from ecc_memory.install.status import status
from ecc_memory.reminders.counts import OutOfTime
from ecc_memory.reminders.run import answer

from ..faults.person import Person
from ..faults.steps import interrupt, requests

CANARY = "canary-of-the-world-outside"
DEADLINE = 60  # seconds that one operation may take, on a machine however busy
MEMORY = 1 << 30


class Scene:
    """A person, and a world outside that must neither be read nor changed."""

    def __init__(self, folder: Path) -> None:
        self.person = Person(folder / "home")
        self.outside = folder / "outside"
        for below in ("project/notes", "team/notes", "notes", "memory/project/notes", "ecc-memory"):
            (self.outside / below).mkdir(parents=True)
            (self.outside / below / "mem_outside.md").write_text(_document(CANARY))
        (self.outside / "file").write_text(_document(CANARY))
        for number in range(5):
            self.person.vault().save(title=f"T{number}", body="B", id=f"mem_inside{number}")
        self.before = self.outside_now()

    def outside_now(self) -> dict[str, object]:
        """Everything outside: names, kinds, bytes and times of change."""
        found: dict[str, object] = {}
        for path in sorted(self.outside.rglob("*")):
            facts = path.lstat()
            held = path.read_bytes() if stat.S_ISREG(facts.st_mode) else b""
            found[str(path)] = (facts.st_mode, facts.st_mtime_ns, facts.st_nlink, held)
        return found

    def targets(self, victim: str) -> list[Path]:
        """What is worth exchanging while the victim works."""
        person = self.person
        if victim in ("install", "status"):
            state = person.path / ".local/state/ecc-memory"
            return [state / "lock", state / "receipts.json"]
        if victim == "index":
            return list((person.path / ".cache/ecc-memory").glob("*")) or [person.path / ".cache/ecc-memory"]
        vault = person.memories
        if victim == "documents":
            return sorted(vault.glob("notes/*.md"))
        folders = [vault, vault / "notes", vault.parent, vault.parent.parent]
        return [
            *folders,
            vault / ".gitignore",
            vault / "notes" / "mem_inside1.md",
            vault / "notes" / "temporary",
        ]


def _document(body: str) -> str:
    values = {
        "schema": "ecc.memory.v1",
        "id": "mem_outside",
        "title": body,
        "kind": "note",
        "scope": "project",
    }
    values |= {"trust": "unreviewed", "status": "active", "source_harness": "x"}
    moment = '"2026-07-26T20:00:00.000Z"'
    lines = [f'{name}: "{value}"' for name, value in values.items()]
    lines += [
        'target_harnesses: ["all"]',
        "tags: []",
        "links: []",
        f"created_at: {moment}",
        f"updated_at: {moment}",
    ]
    return "\n".join(["---", *lines, "---", "", body, ""])


class Attacker:
    """Exchanges one thing after the other, for as long as it lives."""

    def __init__(self, scene: Scene, targets: list[Path], seed: int) -> None:
        self.random = random.Random(seed)
        self.targets = targets
        self.aside = scene.outside.parent / "aside"
        self.aside.mkdir(exist_ok=True)
        self.outside = scene.outside
        self.swaps: list[Callable[[Path], object]] = [
            lambda path: None,
            lambda path: path.symlink_to(self.outside),
            lambda path: path.symlink_to(self.outside / "file"),
            lambda path: path.symlink_to(self.outside / "absent"),
            lambda path: path.symlink_to(path),
            lambda path: path.symlink_to("/dev/zero"),
            lambda path: path.symlink_to("/proc/self/mem"),
            os.mkfifo,
            lambda path: path.mkdir(),
            lambda path: path.write_bytes(b"x" * 200_000),
            lambda path: _sparse(path, 1 << 40),
            lambda path: os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 5)),
            lambda path: os.mknod(path, stat.S_IFSOCK | 0o600),
        ]

    def forever(self, victim: int) -> None:
        """Attack until killed, or until the victim is gone."""
        while os.getppid() == victim:
            self.once()
        os._exit(0)

    def once(self) -> None:
        """Move something away, put something else there, put it back."""
        undo = self.swap(self.random.choice(self.targets), self.random.choice(self.swaps))
        for _ in range(self.random.randrange(200)):
            pass  # between nothing and long enough to be met
        undo()

    def swap(self, path: Path, put: Callable[[Path], object]) -> Callable[[], None]:
        """Move something away and put something else there; return what puts it back."""
        if path.name == "temporary":
            path = next(path.parent.glob(".ecc-tmp-*"), path.parent / ".gitignore")
        kept = self.aside / str(self.random.random())
        with contextlib.suppress(OSError):
            path.rename(kept)
        with contextlib.suppress(OSError):
            put(path)

        def undo() -> None:
            with contextlib.suppress(OSError):
                path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
            with contextlib.suppress(OSError):
                kept.rename(path)

        return undo


def _sparse(path: Path, size: int) -> None:
    path.touch()
    os.truncate(path, size)


def work(scene: Scene, victim: str, number: int) -> object:
    """Do once what the victim does; return what it saw."""
    person = scene.person
    if victim == "save":
        return person.vault().save(title="T", body=f"{number}").memory.id
    if victim == "read":
        vault = person.vault(ECC_MEMORY_INDEX="0")
        return vault.search("").to_json(), vault.doctor().to_json(), vault.read("mem_inside1").to_json()
    if victim == "documents":
        return person.vault(ECC_MEMORY_INDEX="0").search("").to_json()
    if victim == "hook":
        words = ["reminder", "--harness", "codex", "--event", "SessionStart"]
        event = b'{"hook_event_name":"SessionStart","source":"startup"}'
        env = {**person.env, "PWD": str(person.project)}
        os.chdir(person.project)
        return answer(words, event, env, float("inf"))
    if victim == "index":
        return person.vault().search("T").to_json()
    if victim == "status":
        found = status(person.context, run_checks=False)
        return [artifact.state for one in found.installations for artifact in one.artifacts]
    person.install("codex")
    person.uninstall("codex")
    return None


VICTIMS = ("save", "read", "documents", "hook", "index", "install", "status")


class Victim:
    """Works in a scene, and is watched.

    Attributes:
        outcomes: how often it was done, and refused.
    """

    def __init__(self, scene: Scene, name: str) -> None:
        self.scene = scene
        self.name = name
        self.outcomes: Counter[str] = Counter()
        if name in ("index", "status", "install"):
            scene.person.install("codex")
            scene.person.fill(250)
            scene.person.vault().search("T")
        self.targets = scene.targets(name)

    def work(self) -> None:
        """Work once, in time, without reading from outside."""
        faulthandler.dump_traceback_later(DEADLINE, exit=True)
        try:
            seen = work(self.scene, self.name, self.outcomes.total())
            self.outcomes["done"] += 1
            assert CANARY not in repr(seen), f"read from outside: {seen!r}"
        except (EccMemoryError, OutOfTime) as error:
            self.outcomes["refused"] += 1
            refusal = str(error)
            assert CANARY not in refusal
        finally:
            faulthandler.cancel_dump_traceback_later()


def at_random(victim: Victim, rounds: int, seed: int) -> None:
    """Let a victim work so many times while another process attacks."""
    here = os.getpid()
    attacker = os.fork()
    if attacker == 0:
        Attacker(victim.scene, victim.targets, seed).forever(here)
    try:
        for _ in range(rounds):
            victim.work()
    finally:
        os.kill(attacker, signal.SIGKILL)
        os.waitpid(attacker, 0)


def exactly(victim: Victim, most: int, seed: int) -> tuple[int, int]:
    """Attack once just before a request that the victim makes, in one place and way, and then another.

    Args:
        victim: who works.
        most: how many combinations are drawn, should there be more.
        seed: of the draw.

    Returns:
        How many combinations were tried, and how many there are.
    """
    attacker = Attacker(victim.scene, victim.targets, seed)
    victim.work()
    moments = range(len(requests(victim.work)))
    tries = list(itertools.product(moments, victim.targets, attacker.swaps))
    for moment, path, put in attacker.random.sample(tries, min(most, len(tries))):
        undo: list[Callable[[], None]] = []
        interrupt(
            moment, victim.work, lambda path=path, put=put, undo=undo: undo.append(attacker.swap(path, put))
        )
        for each in undo:
            each()
    return min(most, len(tries)), len(tries)


def attack(name: str, moments: int, rounds: int, seed: int) -> Iterator[str]:
    """Attack a victim in both ways."""
    with tempfile.TemporaryDirectory() as folder:
        scene = Scene(Path(folder))
        victim = Victim(scene, name)
        tried, all_of_them = exactly(victim, moments, seed)
        assert scene.outside_now() == scene.before, "something outside was changed"
        at_random(victim, rounds, seed)
        assert scene.outside_now() == scene.before, "something outside was changed"
    done, refused = victim.outcomes["done"], victim.outcomes["refused"]
    yield f"{name}: {tried} of {all_of_them} exact moments and {rounds} rounds: nothing outside touched"
    yield f"  {done} done, {refused} refused"


def main() -> None:
    """Attack the victims that the command line names."""
    parser = argparse.ArgumentParser(description="Exchange files under a program's hands.")
    parser.add_argument("victims", nargs="*", metavar="VICTIM", help=f"default: {' '.join(VICTIMS)}")
    parser.add_argument("--moments", type=int, default=3000)
    parser.add_argument("--rounds", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for victim in given.victims or VICTIMS:
        print("\n".join(attack(victim, given.moments, given.rounds, given.seed)), flush=True)
    sys.exit(0)


if __name__ == "__main__":
    main()
