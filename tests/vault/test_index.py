"""The index: never needed, never wrong, never in the way, and private."""

from __future__ import annotations

import os
import resource
import shutil
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from ecc_memory.vault import Vault, index, scan
from ecc_memory.vault.document import MAX_DOCUMENT_BYTES
from ecc_memory.vault.index import LEAST_DOCUMENTS
from ecc_memory.vault.tree import Folder

from .conftest import World

Make = Callable[..., str]


@pytest.fixture(autouse=True)
def fine_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trust a file after some milliseconds, which the clock of a test machine's file system keeps."""
    monkeypatch.setattr(scan, "_GRAIN_NS", 20_000_000)


@pytest.fixture
def large(world: World, document: Make) -> World:
    """A vault just large enough to be stored."""
    folder = world.project / "notes"
    folder.mkdir(parents=True)
    for number in range(LEAST_DOCUMENTS):
        text = document(id=f'"mem_{number:04}"', title=f'"Note {number}"', body=f"word{number} findme\n")
        (folder / f"{number:04}.md").write_text(text)
    settle()
    return world


def settle() -> None:
    time.sleep(0.04)


def stores(world: World) -> list[Path]:
    return sorted((world.home / ".cache/ecc-memory").glob("*.sqlite"))


def answers(vault: Vault) -> object:
    return [
        *(vault.search(query, limit=100).to_json() for query in ("", "findme", "word7", "Word-7", "note 1")),
        vault.doctor().to_json(),
    ]


def reads(world: World) -> int:
    """How many documents a new process reads for a search."""
    code = (
        "import sys\nfrom ecc_memory.vault import scan, Vault\n"
        f"scan._GRAIN_NS = {scan._GRAIN_NS}\n"
        "count = 0\ndef judge(*a):\n    global count\n    count += 1\n    return real(*a)\n"
        "real, scan.judge = scan.judge, judge\n"
        "Vault.open(cwd=sys.argv[1], env={}, home=sys.argv[2]).search('findme')\nprint(count)"
    )
    arguments = [sys.executable, "-c", code, world.repository, world.home]
    return int(subprocess.run(arguments, capture_output=True, text=True, check=True).stdout)


def plain(world: World) -> object:
    return answers(Vault.open(cwd=world.repository, env={"ECC_MEMORY_INDEX": "0"}, home=world.home))


def test_second_process_reads_nothing_and_a_changed_file_once(large: World) -> None:
    assert reads(large) == LEAST_DOCUMENTS
    assert reads(large) == 0
    path = large.project / "notes/0007.md"
    path.write_text(path.read_text().replace("word7", "word8"))
    settle()
    assert reads(large) == 1
    assert reads(large) == 0


def test_small_vault_has_no_store_and_loads_no_sqlite(world: World) -> None:
    world.open().save(title="A", body="findme")
    settle()
    code = (
        "import sys\nfrom ecc_memory.vault import Vault\n"
        "Vault.open(cwd=sys.argv[1], env={}, home=sys.argv[2]).search('findme')\n"
        "print(sorted({'sqlite3', 'hashlib'} & set(sys.modules)))"
    )
    arguments = [sys.executable, "-S", "-c", code, world.repository, world.home]
    env = {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(arguments, capture_output=True, text=True, check=True, env=env)
    assert done.stdout == "[]\n"
    assert not (world.home / ".cache").exists()


def test_dry_run_writes_no_index_either(large: World) -> None:
    large.env["ECC_DRY_RUN"] = "1"
    before = large.files()
    assert large.open().search("findme", limit=1).diagnostics.total == LEAST_DOCUMENTS
    assert large.files() == before
    del large.env["ECC_DRY_RUN"]
    large.open().search("findme", limit=1)
    assert len(stores(large)) == 1, "without a dry run a vault of this size gets its index"


def test_store_is_private_and_outside_the_vault(large: World) -> None:
    before = {path: path.read_bytes() for path in large.repository.rglob("*.md")}
    large.open().search("findme")
    (store,) = stores(large)
    assert stat.S_IMODE(store.stat().st_mode) == 0o600
    assert stat.S_IMODE(store.parent.stat().st_mode) == 0o700
    assert {path: path.read_bytes() for path in large.repository.rglob("*.md")} == before
    assert not list(large.repository.rglob("*.sqlite*"))


def test_store_goes_where_xdg_says_but_never_into_a_vault(large: World, tmp_path: Path) -> None:
    large.env["XDG_CACHE_HOME"] = str(tmp_path / "elsewhere")
    large.open().search("findme")
    assert len(list((tmp_path / "elsewhere/ecc-memory").glob("*.sqlite"))) == 1
    large.env["XDG_CACHE_HOME"] = str(large.project)
    large.open().search("findme")
    assert not (large.project / "ecc-memory").exists()
    large.env["XDG_CACHE_HOME"] = "relative"
    large.open().search("findme")
    assert len(stores(large)) == 1


@pytest.mark.parametrize("name", ["100%25 ?mode=ro#x", "ünï", os.fsdecode(b"\xff\xfe")])
def test_cache_folder_of_any_name(large: World, tmp_path: Path, name: str) -> None:
    large.env["XDG_CACHE_HOME"] = str(tmp_path / name)
    assert answers(large.open()) == plain(large)
    assert len(list((tmp_path / name / "ecc-memory").glob("*.sqlite"))) == 1
    assert len(os.listdir(tmp_path)) == 2


def test_index_can_be_switched_off(large: World) -> None:
    large.env["ECC_MEMORY_INDEX"] = "0"
    assert len(large.open().search("findme").results) == 20
    assert not stores(large)


def test_suspected_secret_is_in_no_file_of_the_store(large: World, document: Make) -> None:
    token = "gh" + "p_" + "a1B2c3D4e5" * 4
    path = large.project / "notes/leak.md"
    path.write_text(document(id='"mem_leak"', body=f"harmless {'x' * 50}\n"))
    settle()
    large.open().search("findme")
    path.write_text(document(id='"mem_leak"', body=f"distinctive {token}\n"))
    settle()
    large.open().search("findme")
    for file in stores(large)[0].parent.iterdir():
        assert token.encode() not in file.read_bytes()
        assert b"distinctive" not in file.read_bytes()


def test_deleted_memory_leaves_the_store(large: World) -> None:
    large.open().search("findme")
    (large.project / "notes/0042.md").unlink()
    large.open().search("findme")
    assert all(b"word42 " not in file.read_bytes() for file in stores(large)[0].parent.iterdir())


def truncate(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    for at in range(5000, len(data), 997):
        data[at] ^= 0x20
    path.write_bytes(data)


def renew(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()


def other_maker(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("UPDATE maker SET fingerprint = x'00'")
    connection.execute("UPDATE document SET record = x'00', checksum = 3523407757")
    connection.commit()
    connection.close()


def make_link(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to(path.with_name("elsewhere"))


DAMAGE: dict[str, Callable[[Path], object]] = {
    "missing": os.unlink,
    "empty": lambda path: os.truncate(path, 0),
    "truncated": truncate,
    "not a database": lambda path: path.write_bytes(b"x" * 100_000),
    "flipped bits": flip,
    "newer version": renew,
    "other maker": other_maker,
    "folder": lambda path: (path.unlink(), path.mkdir()),
    "link": make_link,
    "readable by others": lambda path: path.chmod(0o644),
    "no folder": lambda path: shutil.rmtree(path.parent),
    "file instead of the folder": lambda path: (shutil.rmtree(path.parent), path.parent.write_text("")),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_store_changes_no_answer(large: World, damage: str) -> None:
    expected = answers(large.open())
    DAMAGE[damage](stores(large)[0])
    assert answers(large.open()) == expected
    assert answers(large.open()) == expected == plain(large)


def test_newer_store_is_left_alone(large: World) -> None:
    large.open().search("findme")
    (store,) = stores(large)
    renew(store)
    before = store.read_bytes()
    large.open().search("findme")
    assert store.read_bytes() == before
    status = large.open().index.store(large.open().place("project"))
    assert status is not None
    assert "another version" in str(status.status().trouble)


def test_damaged_store_is_made_anew(large: World) -> None:
    large.open().search("findme")
    stores(large)[0].write_bytes(b"x" * 100_000)
    assert reads(large) == LEAST_DOCUMENTS
    reads(large)
    assert reads(large) == 0


def test_busy_store_is_read_and_not_waited_for(large: World) -> None:
    expected = answers(large.open())
    connection = sqlite3.connect(stores(large)[0], isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("DELETE FROM document")
    assert reads(large) == 0
    path = large.project / "notes/0007.md"
    path.write_text(path.read_text().replace("word7", "word8"))
    settle()
    assert answers(large.open()) == plain(large) != expected
    connection.execute("ROLLBACK")
    connection.close()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything; the run as a user covers this")
def test_read_only_cache(large: World) -> None:
    (large.home / ".cache").mkdir()
    (large.home / ".cache").chmod(0o500)
    assert answers(large.open()) == plain(large)


def test_full_disk(large: World) -> None:
    code = (
        "import resource, sys\nfrom ecc_memory.vault import scan, Vault\n"
        f"scan._GRAIN_NS = {scan._GRAIN_NS}\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))\n"
        "print(len(Vault.open(cwd=sys.argv[1], env={}, home=sys.argv[2]).search('findme').results))"
    )
    arguments = [sys.executable, "-c", code, large.repository, large.home]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    assert done.stdout == "20\n"
    assert answers(large.open()) == plain(large)


def test_python_without_sqlite(large: World) -> None:
    code = (
        "import sys\nsys.modules['sqlite3'] = None\nfrom ecc_memory.vault import Vault\n"
        "print(len(Vault.open(cwd=sys.argv[1], env={}, home=sys.argv[2]).search('findme').results))"
    )
    arguments = [sys.executable, "-c", code, large.repository, large.home]
    assert subprocess.run(arguments, capture_output=True, text=True, check=True).stdout == "20\n"
    assert not stores(large)


def test_many_processes_at_once(large: World) -> None:
    code = (
        "import sys\nfrom ecc_memory.vault import scan, Vault\n"
        f"scan._GRAIN_NS = {scan._GRAIN_NS}\n"
        "for round in range(5):\n"
        "    vault = Vault.open(cwd=sys.argv[1], env={}, home=sys.argv[2])\n"
        "    vault.save(title='Own', body='findme own')\n"
        "    for _ in range(3):\n"
        f"        assert vault.search('findme', limit=1).diagnostics.total > {LEAST_DOCUMENTS} + round\n"
    )
    arguments = [sys.executable, "-c", code, large.repository, large.home]
    processes = [subprocess.Popen(arguments, stderr=subprocess.PIPE) for _ in range(8)]
    for process in processes:
        assert process.communicate()[1] == b""
        assert process.returncode == 0
    settle()
    assert large.open().search("own").diagnostics.total == 40
    assert answers(large.open()) == plain(large)
    with closing(sqlite3.connect(stores(large)[0])) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_many_threads_on_one_vault(large: World) -> None:
    vault = large.open()
    totals: list[int] = []

    def work() -> None:
        for _ in range(10):
            vault.save(title="T", body="findme")
            totals.append(vault.search("findme", limit=1).diagnostics.total)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(totals) == 40
    assert max(totals) == vault.search("findme").diagnostics.total == LEAST_DOCUMENTS + 40


def test_big_vault_slow(large: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A save reads no memory, a search only what has changed and of that no more than a document may be."""
    large.open().search("findme")
    huge = large.project / "notes/huge.md"
    huge.write_bytes(b"findme " * 150_000)
    settle()
    read: list[tuple[str, int]] = []
    folder_read = Folder.read

    def noted(folder: Folder, name: str, most: int) -> object:
        data, status = folder_read(folder, name, most)
        read.append((name, len(data)))
        return data, status

    monkeypatch.setattr(Folder, "read", noted)
    saved = large.open().save(title="A", body="findme").memory.id
    assert {name for name, _ in read} == {".gitignore", f"{saved}.md"}
    read.clear()
    settle()
    found = large.open().search("findme", limit=1)
    assert found.diagnostics.total == LEAST_DOCUMENTS + 1
    assert {name for name, _ in read} == {"huge.md", f"{saved}.md"}
    assert max(size for _, size in read) == MAX_DOCUMENT_BYTES + 1
    large.env["ECC_MEMORY_MAX_FILES"] = "100"
    assert large.open().search("findme").diagnostics.truncated


def test_save_touches_no_index(large: World) -> None:
    large.open().search("findme")
    (store,) = stores(large)
    before = store.stat()
    for _ in range(3):
        large.open().save(title="A", body="B")
    assert store.stat() == before


def test_unwritable_store_is_not_tried_at_every_call(large: World, monkeypatch: pytest.MonkeyPatch) -> None:
    (large.home / ".cache").write_text("in the way")
    vault = large.open()
    vault.search("findme")
    called = []
    monkeypatch.setattr(index.Index, "store", lambda *_: called.append(1))
    vault.search("findme")
    assert answers(vault) == plain(large)


def test_rebuild_stores_a_small_scope_and_tells_how_far_it_is(world: World) -> None:
    for _ in range(5):
        world.open().save(title="A", body="findme")
    settle()
    vault = world.open()
    steps: list[int] = []
    assert vault.index.rebuild(vault.place("project"), vault.limits, steps.append)
    assert sum(steps) == 10
    store = vault.index.store(vault.place("project"))
    assert store is not None
    assert store.status()[0] == 5
    assert reads(world) == 0
    assert vault.index.drop(vault.place("project"))
    assert not vault.index.drop(vault.place("project"))
    assert list((world.home / ".cache/ecc-memory").iterdir()) == []


def test_descriptors_are_given_back(large: World) -> None:
    vault = large.open()
    answers(vault)
    before = os.listdir("/dev/fd")
    answers(vault)
    assert os.listdir("/dev/fd") == before
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] > len(before)
