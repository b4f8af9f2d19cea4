"""Full and read-only file systems, limits, permissions and system calls that fail, all of them real.

What is refused is refused in words, and leaves everything as it was; afterwards the same work succeeds.
"""

from __future__ import annotations

import contextlib
import errno
import os
import resource
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ecc_memory.errors import EccMemoryError, InstallError, VaultIO, VaultUnsafe

from .person import HARNESSES, Person, leftovers
from .strace import run_python

NOBODY = 65534
PAGE = 4096


def mounted(folder: Path, options: str) -> None:
    """Mount a file system in memory on a folder, or skip the test."""
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], capture_output=True, check=False
    )
    if done.returncode:
        pytest.skip("no file system may be mounted here")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 4 MiB and 400 files of its own."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted(folder, "size=4m,nr_inodes=400,mode=0700")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def leave_free(disk: Path, pages: int) -> None:
    """Fill a disk up to so many pages."""
    filler = disk / "filler"
    with open(filler, "ab") as stream, contextlib.suppress(OSError):
        while True:
            os.write(stream.fileno(), bytes(PAGE))
    os.truncate(filler, filler.stat().st_size - pages * PAGE)


def take_files(disk: Path, free: int) -> None:
    """Use up the disk's files but so many."""
    folder = disk / "many"
    folder.mkdir()
    for number in range(os.statvfs(disk).f_ffree - free):
        (folder / str(number)).touch()


def documents(person: Person) -> set[Path]:
    return set(person.memories.rglob("*.md"))


@pytest.mark.parametrize("kind", ["pages", "files"])
def test_full_disk_refuses_saves_and_keeps_what_is_there(disk: Path, kind: str) -> None:
    person = Person(disk / "home")
    first = person.vault().save(title="T", body="B")
    outcomes = set()
    for free in range(8):
        if kind == "pages":
            leave_free(disk, free)
        else:
            take_files(disk, free)
        before = documents(person)
        try:
            person.vault().save(title="T", body="word " * 3000, kind="decision")
            outcomes.add("saved")
            assert len(documents(person)) == len(before) + 1
        except VaultIO as error:
            outcomes.add("refused" if os.strerror(errno.ENOSPC) in error.message else error.message)
            assert documents(person) == before
        assert leftovers(disk) == []
        assert person.vault().doctor().ok
        assert person.vault().read(first.memory.id).memory.body == "B"
        subprocess.run(["rm", "-rf", str(disk / "filler"), str(disk / "many")], check=True)
    assert outcomes == {"saved", "refused"}
    person.vault().save(title="T", body="B")


@pytest.mark.parametrize("kind", ["pages", "files"])
def test_full_disk_refuses_installations_and_takes_them_back(disk: Path, kind: str) -> None:
    person = Person(disk / "home")
    before = person.tree()
    person.install(*HARNESSES)
    needed = sum(1 for facts in person.tree().values() if facts[0] != "link") - len(before)
    person.uninstall()
    outcomes = []
    for free in range(0, needed + 24, 4):
        if kind == "pages":
            leave_free(disk, free)
        else:
            take_files(disk, free)
        try:
            person.install(*HARNESSES)
            outcomes.append("installed")
        except InstallError as error:
            outcomes.append("refused" if "the disk is full" in error.message else error.message)
            assert person.tree() == before
        subprocess.run(["rm", "-rf", str(disk / "filler"), str(disk / "many")], check=True)
        person.uninstall()
        assert person.tree() == before
    assert set(outcomes) == {"refused", "installed"}


def test_full_disk_when_uninstalling(disk: Path) -> None:
    person = Person(disk / "home")
    before = person.tree()
    person.install(*HARNESSES)
    installed = person.tree()
    leave_free(disk, 0)
    try:
        person.uninstall()
    except InstallError:
        assert person.tree() == installed
    (disk / "filler").unlink()
    person.uninstall()
    assert person.tree() == before


def test_read_only_file_system(disk: Path) -> None:
    person = Person(disk / "home")
    saved = person.vault().save(title="Found", body="B")
    before = person.tree(times=True)
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    for refused in (lambda: person.vault().save(title="T", body="B"), lambda: person.install("codex")):
        with pytest.raises(EccMemoryError, match=r"[Rr]ead-only|may not be written"):
            refused()
    assert person.vault().read(saved.memory.id).memory.title == "Found"
    assert len(person.vault().search("found").results) == 1
    assert person.tree(times=True) == before


@contextlib.contextmanager
def ordinary_person() -> Iterator[Person]:
    """Be a user who is not root, with a home that is theirs."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        os.chmod(folder, 0o755)
        person = Person(Path(folder, "home"))
        person.vault().save(title="T", body="B")  # and so loads whatever root alone may be able to
        person.install(*HARNESSES)
        person.uninstall()
        if os.geteuid() != 0:
            yield person
            return
        subprocess.run(["chown", "-R", str(NOBODY), folder], check=True)
        os.setresuid(NOBODY, NOBODY, 0)
        try:
            yield person
        finally:
            os.setresuid(0, 0, 0)


@pytest.mark.parametrize("folder", ["", "notes"])
def test_missing_permission_in_the_vault(folder: str) -> None:
    with ordinary_person() as person:
        person.vault().save(title="Found", body="B")
        closed = person.memories / folder
        closed.chmod(0o500)
        before = person.tree()
        kind = "note" if folder else "decision"
        with pytest.raises(VaultIO, match="Permission denied"):
            person.vault().save(title="T", body="B", kind=kind)
        assert person.tree() == before
        assert len(person.vault().search("found").results) == 1
        closed.chmod(0)
        for refused in (
            lambda: person.vault().save(title="T", body="B", kind=kind),
            lambda: person.vault().read("mem_absent"),
        ):
            with pytest.raises(EccMemoryError):
                refused()
        assert person.vault().search("found").diagnostics.truncated
        assert not person.vault().doctor().ok
        closed.chmod(0o700)
        assert person.tree()["work/project/.ecc/memory/project"] == ("folder", 0o700)


@pytest.mark.parametrize(
    "place", [".codex", ".local/state", ".local/state/ecc-memory", ".claude", ".config/opencode", ".hermes"]
)
def test_missing_permission_when_installing(place: str) -> None:
    with ordinary_person() as person:
        before = person.tree()
        if place.endswith("ecc-memory"):
            (person.path / place).mkdir()
        closed = person.path / place
        closed.chmod(0o500)
        start = person.tree()
        with pytest.raises(InstallError, match=r"permission|may not be written"):
            person.install(*HARNESSES)
        assert person.tree() == start
        closed.chmod(0o700)
        person.install(*HARNESSES)
        installed = person.tree()
        closed.chmod(0o500)
        try:
            person.uninstall()
        except InstallError:
            closed.chmod(0o700)
            assert person.tree() == installed
        closed.chmod(0o700)
        person.uninstall()
        assert files_of(person) == {name for name, facts in before.items() if facts[0] == "file"}


def files_of(person: Person) -> set[str]:
    return {name for name, facts in person.tree().items() if facts[0] == "file"}


@pytest.fixture
def immutable(tmp_path: Path) -> Iterator[list[Path]]:
    """A list of what is made immutable and free again afterwards."""
    made: list[Path] = []
    yield made
    for path in made:
        subprocess.run(["chattr", "-i", str(path)], check=True)


def forbid_changes(path: Path, made: list[Path]) -> None:
    try:
        done = subprocess.run(["chattr", "+i", str(path)], capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("chattr is not here")
    if done.returncode:
        pytest.skip("nothing can be made immutable here")
    made.append(path)


def test_immutable_folder_and_file(tmp_path: Path, immutable: list[Path]) -> None:
    person = Person(tmp_path / "home")
    person.vault().save(title="T", body="B")
    forbid_changes(person.memories / "notes", immutable)
    forbid_changes(person.path / ".codex/config.toml", immutable)
    before = person.tree()
    with pytest.raises(VaultIO, match="Operation not permitted") as error:
        person.vault().save(title="T", body="B")
    assert "hard links" not in error.value.message
    with pytest.raises(InstallError, match=r"not permit|read-only"):
        person.install(*HARNESSES)
    assert person.tree() == before


@contextlib.contextmanager
def limited(which: int, to: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(which)
    resource.setrlimit(which, (to, hard))
    try:
        yield
    finally:
        resource.setrlimit(which, (soft, hard))


def test_limit_of_the_size_of_files(tmp_path: Path) -> None:
    person = Person(tmp_path / "home")
    person.vault().init()
    for limit in (0, 10, 500, 4000):
        with limited(resource.RLIMIT_FSIZE, limit), pytest.raises(VaultIO, match="File too large"):
            person.vault().save(title="T", body="word " * 3000)
        assert documents(person) == set()
        assert leftovers(person.path) == []


def test_too_many_open_files(tmp_path: Path) -> None:
    person = Person(tmp_path / "home")
    before = person.tree()
    person.install("codex")  # loads what is loaded late
    person.uninstall()
    saved = person.vault().save(title="Found", body="B")
    person.vault().search("found")
    lowest = len(os.listdir("/proc/self/fd")) - 1
    refused = saves = 0
    for free in range(10):
        there = documents(person)
        with limited(resource.RLIMIT_NOFILE, lowest + free):
            try:
                person.vault().save(title="T", body="B")
                saves += 1
            except (VaultIO, VaultUnsafe):
                refused += 1
            found = [len(person.vault().search("found", limit=1).results)]
            truncated = person.vault().search("found").diagnostics.truncated
            with contextlib.suppress(InstallError):
                person.install("codex")
        assert len(documents(person)) == len(there) + (saves > 0)
        assert truncated or found == [1], "less than everything, and not said"
        person.uninstall()
    assert refused
    assert saves
    assert person.vault().read(saved.memory.id).memory.title == "Found"
    assert {name: person.tree()[name] for name in before} == before


SAVE = """
import sys
from ecc_memory.vault import Vault
from ecc_memory.errors import EccMemoryError
try:
    print("saved", Vault.open(cwd=sys.argv[1], env={}, home=sys.argv[2]).save(title="T", body="B").memory.id)
except EccMemoryError as error:
    print("refused", error.message)
"""


@pytest.mark.parametrize(
    ("injection", "outcome"),
    [
        ("fsync:error=EIO:when=4", "Input/output error"),  # of the temporary file, after three folders
        ("fsync:error=EIO:when=5+", "Input/output error"),
        ("linkat:error=ESTALE:when=1+", "Stale file handle"),
        ("linkat:error=EPERM:when=1+", "no hard links"),
        ("mkdirat:error=EDQUOT:when=3", "Disk quota exceeded"),
        ("write:error=ENOSPC:when=1", "No space left"),
        ("write:error=EINTR:when=1", None),  # Python asks again (PEP 475)
        ("fsync:error=EINTR:when=1", None),
        ("unlinkat:error=EIO:when=1+", None),  # a temporary stays
    ],
)
def test_system_calls_that_fail(tmp_path: Path, injection: str, outcome: str | None) -> None:
    person = Person(tmp_path / "home")
    name = injection.partition(":")[0]
    options = ["-o", str(tmp_path / "log"), "-e", f"trace={name}", "-e", f"inject={injection}"]
    done = run_python(SAVE, person.project, person.path, strace=options)
    assert done.returncode == 0, done.stderr
    assert "INJECTED" in (tmp_path / "log").read_text()
    if outcome is None:
        assert done.stdout.startswith("saved ")
        assert len(documents(person)) == 1
    else:
        assert done.stdout.startswith("refused ")
        assert outcome in done.stdout
        assert documents(person) == set()
    assert person.vault().doctor().ok
    assert len(leftovers(person.path)) == (2 if name == "unlinkat" else 0)
    person.vault().save(title="T", body="B")
