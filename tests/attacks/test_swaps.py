"""Files exchanged for links, FIFOs, devices and monsters while programs work on them."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import pytest

from ecc_memory.errors import InstallError, VaultUnsafe
from ecc_memory.install import files

from ..faults.person import Person
from ..faults.programs import figures
from ..faults.steps import interrupt, requests
from .swaps import VICTIMS


@pytest.mark.parametrize("victim", VICTIMS)
def test_exchanged_while_at_work(victim: str) -> None:
    moments, rounds = {"install": (50, 25), "status": (10, 10), "index": (30, 20)}.get(victim, (100, 60))
    words = (victim, "--moments", moments, "--rounds", rounds)
    assert "nothing outside touched" in figures("tests.attacks.swaps", *words)


@pytest.mark.long
@pytest.mark.parametrize("victim", VICTIMS)
def test_exchanged_thousands_of_times(victim: str) -> None:
    number = 500 if victim in ("index", "status", "install") else 3000
    figures("tests.attacks.swaps", victim, "--moments", number, "--rounds", number)


@pytest.mark.parametrize("name", ["lock", "receipts.json"])
@pytest.mark.parametrize("kind", ["link", "dangling", "fifo", "folder"])
def test_something_else_in_place_of_lock_or_receipts(tmp_path: Path, name: str, kind: str) -> None:
    """Configuration may be a link, which is followed; what is ours alone may not."""
    person = Person(tmp_path / "home")
    person.install("codex")
    place, outside = person.path / ".local/state/ecc-memory" / name, tmp_path / "outside"
    place.unlink()
    if kind == "fifo":
        os.mkfifo(place)
    elif kind == "folder":
        place.mkdir()
    else:
        place.symlink_to(outside)
        if kind == "link":
            outside.write_text("mine")
    before = person.tree()
    for refused in (lambda: person.install("hermes"), lambda: person.uninstall("codex")):
        with pytest.raises(
            InstallError, match=r"link stands|folder stands|no regular file|is a directory|Is a dir"
        ):
            refused()
    assert person.tree() == before
    assert not outside.exists() or outside.read_text() == "mine"


def test_a_link_that_vanishes_while_it_is_followed(tmp_path: Path) -> None:
    link, file = tmp_path / "link", tmp_path / "file"
    file.write_text("theirs")

    def look() -> None:
        with contextlib.suppress(InstallError):
            assert files.look(link).data in (b"theirs", None)

    link.symlink_to(file)
    for number in range(len(requests(look))):
        interrupt(number, look, link.unlink)
        link.symlink_to(file) if not link.is_symlink() else None


def test_a_link_to_the_right_gitignore_is_not_the_right_gitignore(tmp_path: Path) -> None:
    """What protects the private scope must be in it, not somewhere that another hand can change."""
    person = Person(tmp_path / "home")
    elsewhere = tmp_path / "gitignore"
    elsewhere.write_bytes(b"*\n!.gitignore\n")
    person.memories.mkdir(parents=True)
    (person.memories / ".gitignore").symlink_to(elsewhere)
    with pytest.raises(VaultUnsafe, match="gitignore"):
        person.vault().save(title="T", body="B")
