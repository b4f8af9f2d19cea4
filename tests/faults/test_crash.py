"""Killed at random points: nothing acknowledged is lost, nothing partial is ever seen."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from ecc_memory.install import files
from ecc_memory.install.diagnosis import diagnose
from ecc_memory.install.status import status

from .person import Person
from .programs import figures


@pytest.mark.parametrize(
    ("scenario", "rounds"), [("save", 40), ("install", 6), ("uninstall", 6), ("index", 8)]
)
def test_killed_at_random_points(scenario: str, rounds: int) -> None:
    assert " killed at work" in figures("tests.faults.crash", scenario, "--rounds", rounds)


@pytest.mark.long
@pytest.mark.parametrize("scenario", ["save", "install", "uninstall", "index"])
def test_killed_a_thousand_times(scenario: str) -> None:
    figures("tests.faults.crash", scenario)


def test_leftovers_of_saves_go_when_nobody_can_be_writing_them(tmp_path: Path) -> None:
    person = Person(tmp_path / "home")
    person.vault().save(title="T", body="B")
    notes = person.memories / "notes"
    old, young, foreign, folder = (
        notes / name
        for name in (f".ecc-tmp-{'0' * 32}", f".ecc-tmp-{'1' * 32}", ".ecc-tmp-mine", f".ecc-tmp-{'2' * 32}")
    )
    folder.mkdir()
    for path in (old, young, foreign):
        path.write_text("half of a memory")
    anchor = person.memories / f".ecc-tmp-{'3' * 32}"
    anchor.write_text("half of a .gitignore")
    real = time.time
    with pytest.MonkeyPatch.context() as patch:  # ctime cannot be set, so an hour has to pass otherwise
        patch.setattr(time, "time", lambda: real() + 3500)
        person.vault().save(title="T", body="B")
        assert old.exists()
        patch.setattr(time, "time", lambda: real() + 3700)
        young.touch()
        os.utime(young, (real() + 3700, real() + 3700))
        person.vault().save(title="T", body="B")
    assert sorted(notes.glob(".*")) == sorted([young, foreign, folder])
    assert not anchor.exists()


def test_leftovers_of_installers_are_named_and_go(tmp_path: Path) -> None:
    person = Person(tmp_path / "home")
    before = person.tree()
    person.install("codex")
    left = person.path / ".codex" / f".ecc-memory-{'0' * 16}.tmp"
    theirs = person.path / ".codex" / ".ecc-memory-notes.tmp"
    left.write_text("half of a configuration")
    theirs.write_text("mine")
    found = status(person.context, run_checks=False)
    assert found.leftovers == (left,)
    remarks = [remark for remark in diagnose(person.context, found) if remark.code == "temporary"]
    assert [(remark.weight, str(left) in remark.message) for remark in remarks] == [("note", True)]
    person.install("codex")
    assert not left.exists()
    assert theirs.read_text() == "mine"
    theirs.unlink()
    person.uninstall()
    assert person.tree() == before


def test_a_second_name_that_a_killed_installer_left_is_no_obstacle(tmp_path: Path) -> None:
    """Killed between giving a new file its name and taking the temporary's: the file has both."""
    person = Person(tmp_path / "home")
    before = person.tree()
    person.install("codex")
    ours = person.path / ".codex" / "config.toml"
    os.link(ours, ours.with_name(f".ecc-memory-{'a' * 16}.tmp"))
    person.uninstall()
    assert person.tree() == before


def test_a_file_that_cannot_be_read_after_it_was_written_is_put_back(tmp_path: Path) -> None:
    person = Person(tmp_path / "home")
    before = person.tree()
    config = person.path / ".codex" / "config.toml"
    real, written = files.look, []

    def look(path: Path) -> files.View:
        view = real(path)
        if path == config and b"ecc-memory-vault" in (view.data or b"") and not written:
            written.append(path)
            raise files.InstallError("a file cannot be read: an I/O error", detail=str(path))
        return view

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "look", look)
        with pytest.raises(files.InstallError, match="put back"):
            person.install("codex")
    assert written
    assert person.tree() == before
