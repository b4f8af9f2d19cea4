"""Many at once: nothing lost, nothing torn, nothing broken."""

from __future__ import annotations

import fcntl
import os
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from pathlib import Path
from threading import Barrier

import pytest

from ecc_memory.errors import InstallError, MemoryExists
from ecc_memory.install import store
from ecc_memory.vault import Vault

from .person import Person
from .programs import figures
from .steps import interrupt, requests


def test_parallel_saves_lost_by_command_line_server_and_api() -> None:
    assert "18 distinct, 0 lost" in figures(
        "tests.faults.concurrency", "saves", "--processes", 6, "--saves", 3
    )


def test_every_pair_of_installers() -> None:
    assert "10 pairs" in figures("tests.faults.concurrency", "installers", "--turns", 1)


def test_an_installer_waits_for_another_and_then_gives_up(tmp_path: Path) -> None:
    person = Person(tmp_path / "home")
    person.install("codex")
    before = person.tree()
    with pytest.MonkeyPatch.context() as patch, open(person.path / ".local/state/ecc-memory/lock") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        patch.setattr(store, "_PATIENCE", 0.1)
        for work in (lambda: person.install("hermes"), lambda: person.uninstall("codex")):
            with pytest.raises(InstallError, match="still running"):
                work()
        assert person.tree() == before
    person.uninstall("codex")


def test_same_id_saved_by_many_at_once(tmp_path: Path) -> None:
    """Whoever is first has it; nobody's text is replaced by another's."""
    person = Person(tmp_path / "home")
    together = Barrier(4)

    def save(vault: Vault, id: str, body: str) -> str | None:
        together.wait()
        try:
            return vault.save(title="T", body=body, id=id).memory.body
        except MemoryExists:
            return None

    with ThreadPoolExecutor(4) as pool:
        for number in range(100):
            vault, id = person.vault(), f"mem_same{number}"
            saved = list(pool.map(lambda body, vault=vault, id=id: save(vault, id, body), "abcd"))
            [winner] = [body for body in saved if body is not None]
            assert vault.read(id).memory.body == winner


def test_same_id_saved_by_another_at_any_moment(tmp_path: Path) -> None:
    """Between any two requests of a save, somebody else saves under the same id."""
    person = Person(tmp_path / "home")
    vault, other = person.vault(), person.vault()

    def save(id: str) -> None:
        vault.save(title="T", body="mine", id=id)

    save("mem_before")
    for number in range(len(requests(lambda: save("mem_measured")))):
        id, winners = f"mem_same{number}", []

        def interfere(id: str = id, winners: list[str] = winners) -> None:
            try:
                other.save(title="T", body="theirs", id=id)
                winners.append("theirs")
            except MemoryExists:
                pass

        try:
            interrupt(number, lambda id=id: save(id), interfere)
            winners.append("mine")
        except MemoryExists:
            pass
        assert [vault.read(id).memory.body] == winners


@pytest.mark.long
def test_sixteen_processes_save_two_hundred_each() -> None:
    figures("tests.faults.concurrency", "saves")


@pytest.mark.long
def test_every_pair_of_installers_many_times() -> None:
    figures("tests.faults.concurrency", "installers", "--turns", 10)


def test_clock_that_goes_backwards(tmp_path: Path) -> None:
    person = Person(tmp_path / "home")
    now = datetime(2026, 7, 26, 12, tzinfo=timezone.utc)
    vault = person.vault()
    ids = [vault.save(title="T", body=f"{n}", now=now - timedelta(hours=n)).memory.id for n in range(30)]
    assert len(set(ids)) == 30
    assert [hit.memory.id for hit in person.vault().search("", limit=30).results] == ids
    assert vault.doctor().ok


def test_change_is_seen_although_the_clock_was_set_back(tmp_path: Path) -> None:
    """A file whose times lie in the future proves nothing about its content, so it is read again."""
    person = Person(tmp_path / "home")
    vault = person.vault()
    saved = vault.save(title="T", body="before")
    [path] = person.memories.rglob("*.md")
    future = datetime.now(timezone.utc).timestamp() + 3600
    for word in (b"before", b"after!", b"later!"):
        path.write_bytes(path.read_bytes().replace(b"before", word).replace(b"after!", word))
        os.utime(path, (future, future))
        assert vault.read(saved.memory.id).memory.body == word.decode()
