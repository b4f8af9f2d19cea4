"""Saving: create-only, whole or not at all, and only what may be kept."""

from __future__ import annotations

import contextlib
import itertools
import os
import subprocess
import sys
import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from ecc_memory.errors import DryRun, EccMemoryError, InvalidMemory, MemoryExists, UsageError, VaultUnsafe
from ecc_memory.vault import Vault, parse_document

from .conftest import World, git


def test_saved_file_is_canonical_private_and_where_it_says(world: World) -> None:
    now = datetime(2026, 7, 26, 20, 0, 0, 123_999, tzinfo=timezone.utc)
    saved = world.open().save(title=" T ", body="\nBody\n\n", tags=["a"], now=now)
    path = world.project / "notes" / f"{saved.memory.id}.md"
    assert saved.path == f"project:notes/{saved.memory.id}.md"
    assert parse_document(path.read_text("utf-8")) == saved.memory
    assert saved.memory.id.startswith("mem_20260726_")
    assert len(saved.memory.id) == len("mem_20260726_") + 20
    assert saved.memory.created_at == saved.memory.updated_at == "2026-07-26T20:00:00.123Z"
    assert path.stat().st_mode & 0o777 == 0o600
    assert {p.stat().st_mode & 0o777 for p in [path.parent, world.project, world.repository / ".ecc"]} == {
        0o700
    }
    assert (world.project / ".gitignore").read_bytes() == b"*\n!.gitignore\n"
    assert os.listdir(path.parent) == [path.name]


def test_early_year_is_written_with_four_digits(world: World) -> None:
    memory = world.open().save(title="T", body="B", now=datetime(20, 1, 2, tzinfo=timezone.utc)).memory
    assert memory.created_at == "0020-01-02T00:00:00.000Z"
    assert memory.id.startswith("mem_00200102_")


@pytest.mark.parametrize(
    "now",
    [
        datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=5))),
        datetime(9999, 12, 31, 23, tzinfo=timezone(timedelta(hours=-5))),
    ],
    ids=["before year 1", "after year 9999"],
)
def test_time_that_utc_cannot_say_is_refused(world: World, now: datetime) -> None:
    with pytest.raises(UsageError, match="years 1 to 9999"):
        world.open().save(title="T", body="B", now=now)


def test_wrong_arguments_raise_errors_of_ours(world: World) -> None:
    vault = world.open()
    nonsense: Any = None
    for call in (
        lambda: vault.search(nonsense),
        lambda: vault.search("x", kinds=[nonsense]),
        lambda: vault.search("x", scopes=nonsense or 5),
        lambda: vault.save(title="T", body="B", tags=nonsense),
        lambda: vault.init(nonsense),
        lambda: vault.place(nonsense),
    ):
        with pytest.raises(UsageError):
            call()


def test_saved_result_as_json_has_no_body(world: World) -> None:
    value = world.open().save(title="T", body="B").to_json()
    assert list(value) == ["schemaVersion", "memory", "path"]
    assert value["schemaVersion"] == "ecc.memory.write.v1"
    assert "body" not in value["memory"]  # type: ignore[operator]


def test_project_memories_are_ignored_by_git_and_team_memories_are_not(world: World) -> None:
    world.open().init()
    world.open().save(title="Private", body="B")
    world.open().save(title="Shared", body="B", scope="team")
    status = git("status", "--porcelain", "--untracked-files=all", cwd=world.repository)
    assert "team/notes/mem_" in status
    assert "project/notes" not in status


SAVE = """
import sys
from ecc_memory.vault import Vault
vault = Vault.open(cwd=sys.argv[1], env={})
for index in range(int(sys.argv[2])):
    print(vault.save(title="Same title", body=f"{sys.argv[3]}-{index}").memory.id)
"""


def test_parallel_saves_lost(world: World) -> None:
    """Threads of this process and other processes at once: one file each, none lost."""
    vault = world.open()
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", SAVE, str(world.repository), "10", str(worker)],
            stdout=subprocess.PIPE,
            text=True,
        )
        for worker in range(5)
    ]
    with ThreadPoolExecutor(16) as pool:
        here = list(pool.map(lambda n: vault.save(title="Same title", body=f"here-{n}").memory.id, range(50)))
    ids = [*here, *(line for worker in workers for line in worker.communicate()[0].split())]
    assert [worker.returncode for worker in workers] == [0] * 5
    assert len(set(ids)) == 100
    report = vault.doctor()
    assert (report.ok, report.memory_count) == (True, 100)
    assert {vault.read(identity).memory.title for identity in ids[::10]} == {"Same title"}


def test_two_processes_one_store(world: World) -> None:
    for worker in ("a", "b"):
        subprocess.run(
            [sys.executable, "-c", SAVE, str(world.repository), "3", worker], check=True, capture_output=True
        )
    assert world.open().doctor().memory_count == 6


@pytest.mark.parametrize("obstacle", ["memory", "other kind", "folder", "link", "fifo"])
def test_write_tool_overwrites(world: World, obstacle: str) -> None:
    vault = world.open()
    vault.init()
    target = world.project / "notes" / "mem_taken.md"
    target.parent.mkdir()
    if obstacle == "memory":
        vault.save(title="First", body="B", id="mem_taken")
    elif obstacle == "other kind":
        vault.save(title="First", body="B", id="mem_taken", kind="decision")
    elif obstacle == "folder":
        target.mkdir()
    elif obstacle == "link":
        target.symlink_to(world.home / "elsewhere")
    else:
        os.mkfifo(target)
    before = world.files()
    with pytest.raises(MemoryExists, match="mem_taken exists; save under a new id and link to the old one"):
        vault.save(title="Second", body="B", id="mem_taken")
    assert world.files() == before
    assert not (world.home / "elsewhere").exists()


@pytest.mark.parametrize("other", ["team", "user"])
def test_id_of_another_scope_is_taken(world: World, other: str) -> None:
    vault = world.open()
    saved = vault.save(title="T", body="The first.", kind="lesson", scope=other, id="mem_mine")
    before = world.files()
    with pytest.raises(MemoryExists, match="mem_mine exists; save under a new id"):
        vault.save(title="T", body="The second.", id="mem_mine")
    assert world.files() == before
    assert vault.read("mem_mine", scopes=["project", other]).memory == saved.memory


def test_scope_that_cannot_be_looked_at_takes_no_id(world: World, tmp_path: Path) -> None:
    (world.repository / ".ecc/memory").mkdir(parents=True)
    world.team.symlink_to(tmp_path)
    assert world.open().save(title="T", body="B", id="mem_mine").memory.id == "mem_mine"


@pytest.mark.parametrize(
    "title", ["大语言模型概述", "断路器自动恢复", "Иван", "محمد", "🧠🔥", "!!!", "👩‍👩‍👧‍👦 family"]
)
def test_cjk_title_collapses(world: World, title: str) -> None:
    vault = world.open()
    first, second = (vault.save(title=title, body="B") for _ in range(2))
    assert first.memory.id != second.memory.id
    assert vault.read(first.memory.id).memory.title == title


def test_blank_title_is_refused(world: World) -> None:
    with pytest.raises(InvalidMemory, match="it is blank"):
        world.open().save(title=" \t ", body="B")


@pytest.mark.parametrize(
    ("title", "fine"),
    [
        ("本" * 100, True),
        ("a" * 200, True),
        ("a" * 300, False),
        ("👩‍👩‍👧" * 25, True),
        ("👩‍👩‍👧" * 26, False),
    ],
)
def test_title_bytes_not_chars(world: World, title: str, fine: bool) -> None:
    if fine:
        saved = world.open().save(title=title, body="B")
        assert len(saved.path.rpartition("/")[2].encode()) <= 120
    else:
        with pytest.raises(InvalidMemory, match=r"1 to 200 characters .* UTF-16 units \(\d+ bytes\)"):
            world.open().save(title=title, body="B")


def test_short_random_suffix_collides(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A generator that repeats: the next number is taken, nothing is overwritten."""
    real = uuid.uuid4
    numbers = [uuid.UUID(int=7)] * 5

    def repeating() -> uuid.UUID:
        # Temporary names use the generator too; only ids are asked for from vault.py.
        caller = sys._getframe(1).f_globals["__name__"]
        return numbers.pop() if caller == "ecc_memory.vault.vault" and numbers else real()

    monkeypatch.setattr(uuid, "uuid4", repeating)
    vault = world.open()
    ids = {vault.save(title="T", body=str(n)).memory.id for n in range(3)}
    assert len(ids) == 3
    assert vault.doctor().memory_count == 3


TITLES = [
    *("Governance: Rootkeeper", "C:\\agent\\x", "*Italic*", "- dash", "#hash", '"quoted"', "yes", "null"),
    *("2026-01-01", "1e3", "---", "a\u2028b", "[[x]]y", "`tick`"),
]


@pytest.mark.parametrize("title", TITLES)
def test_colon_in_title_breaks_frontmatter(world: World, title: str) -> None:
    vault = world.open()
    saved = vault.save(title=title, body="B")
    assert vault.read(saved.memory.id).memory.title == title


@pytest.mark.parametrize("title", ["a\nb", "a\u0085b", "a\x1b]0;x\x07", "a\x9b31m", "a\u202eb"])
def test_title_with_control_characters_is_refused(world: World, title: str) -> None:
    with pytest.raises(InvalidMemory, match="title holds"):
        world.open().save(title=title, body="B")


PATHS = [
    "../../etc/passwd",
    "..\\..\\x",
    "mem_1/../../x",
    "%2e%2e/",
    "C:mem",
    "\\\\host\\share",
    "mem_1\0",
    "mem_1.md",
    "．．",
]


@pytest.mark.parametrize("value", PATHS)
def test_path_traversal(world: World, value: str) -> None:
    vault = world.open()
    before = world.files()
    attempts = [
        lambda: vault.save(title="T", body="B", id=value),
        lambda: vault.save(title="T", body="B", kind=value),
        lambda: vault.save(title="T", body="B", scope=value),
        lambda: vault.save(title="T", body="B", links=[value]),
        lambda: vault.save(title="T", body="B", target_harnesses=[f"{value}/"]),
        lambda: vault.save(title="T", body="B", tags=[f"{value}/"]),
        lambda: vault.save(title="T", body="B", source_harness=f"{value}/"),
        lambda: vault.read(value),
        lambda: vault.read("mem_1", scopes=[value]),
        lambda: vault.search("", kinds=[value]),
        lambda: vault.search("", target_harness=f"{value}/"),
        lambda: vault.doctor(scopes=[value]),
        lambda: vault.init([value]),
    ]
    for attempt in attempts:
        with pytest.raises((InvalidMemory, UsageError)):
            attempt()
    assert world.files() == before


@pytest.mark.parametrize("link", [".ecc", ".ecc/memory", ".ecc/memory/project", ".ecc/memory/project/notes"])
def test_linked_folder_is_refused(world: World, link: str) -> None:
    outside = world.home / "outside"
    outside.mkdir()
    path = world.repository / link
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(outside)
    with pytest.raises(VaultUnsafe, match="symbolic link"):
        world.open().save(title="T", body="B")
    assert list(outside.iterdir()) == []


def test_foreign_gitignore_stops_writes(world: World) -> None:
    world.project.mkdir(parents=True)
    ignore = world.project / ".gitignore"
    for content in (b"", b"*\n", b"*\r\n!.gitignore\r\n", b"*\n!.gitignore\n!notes\n"):
        ignore.write_bytes(content)
        for attempt in (lambda: world.open().init(), lambda: world.open().save(title="T", body="B")):
            with pytest.raises(VaultUnsafe, match="gitignore"):
                attempt()
        assert ignore.read_bytes() == content
    ignore.unlink()
    ignore.symlink_to("/dev/null")
    with pytest.raises(VaultUnsafe, match="gitignore"):
        world.open().save(title="T", body="B")
    assert os.listdir(world.project) == [".gitignore"]
    world.open().save(title="T", body="B", scope="team")


@pytest.mark.parametrize("swapped", [".ecc/memory/project/notes", ".ecc/memory/project", ".ecc/memory"])
def test_swapped_parent_folder_does_not_redirect_a_write(world: World, swapped: str) -> None:
    """Somebody keeps exchanging a folder of the vault for a link while we save and read."""
    outside = world.home / "outside"
    (outside / "project" / "notes").mkdir(parents=True)
    (outside / "notes").mkdir()
    world.open().save(title="T", body="B")
    path, stop = world.repository / swapped, threading.Event()

    def exchange() -> None:
        """Move the real folder away, put a link there, move the folder back; a save may make its own."""
        for number in itertools.count():
            if stop.is_set():
                return
            aside = world.home / f"aside-{number}"
            with contextlib.suppress(OSError):
                path.rename(aside)
            with contextlib.suppress(OSError):
                path.symlink_to(outside)
            with contextlib.suppress(OSError):
                path.unlink()
            with contextlib.suppress(OSError):
                aside.rename(path)

    attacker = threading.Thread(target=exchange)
    attacker.start()
    saved = set()
    try:
        for number in range(2000):
            with contextlib.suppress(EccMemoryError):
                saved.add(world.open().save(title="T", body=f"{number}").memory.id)
            if number % 100 == 0:
                with contextlib.suppress(EccMemoryError):
                    world.open().search("T", limit=1)
    finally:
        stop.set()
        attacker.join()
    assert saved
    assert [found for found in outside.rglob("*") if not found.is_dir()] == []
    assert saved <= {found.stem for found in world.home.rglob("mem_*.md") if found.is_file()}


def test_dry_run_binds_every_write(world: World) -> None:
    world.env["ECC_DRY_RUN"] = "1"
    before = world.files()
    for attempt in (lambda: world.open().init(), lambda: world.open().save(title="T", body="B")):
        with pytest.raises(DryRun):
            attempt()
    assert world.files() == before
    assert world.open().search("").results == ()


def test_init_is_repeatable_and_says_what_it_made(world: World) -> None:
    assert world.open().init().created == ("project:", "team:")
    assert world.open().init().created == ()
    assert world.open().init(["user"]).to_json() == {
        "schemaVersion": "ecc.memory.init.v1",
        "scopes": ["user"],
        "created": ["user:"],
    }


def test_single_text_in_place_of_a_list(world: World) -> None:
    with pytest.raises(UsageError, match="a list is needed"):
        world.open().save(title="T", body="B", tags="auth")


def test_naive_time_is_refused(world: World) -> None:
    with pytest.raises(UsageError, match="aware"):
        world.open().save(title="T", body="B", now=datetime(2026, 1, 1))  # noqa: DTZ001


def test_body_bounds(world: World) -> None:
    vault = world.open()
    vault.save(title="T", body="本" * 21845 + "x")
    with pytest.raises(InvalidMemory, match="at most 65536"):
        vault.save(title="T", body="x" * (1 << 20))
    with pytest.raises(InvalidMemory, match="surrogate"):
        vault.save(title="T", body="\ud800")
    with pytest.raises(InvalidMemory, match="body is empty"):
        vault.save(title="T", body="\n")


def test_environment_and_home_default_to_the_process(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(world.home))
    monkeypatch.delenv("ECC_MEMORY_PROJECT_ROOT", raising=False)
    monkeypatch.delenv("ECC_MEMORY_USER_ROOT", raising=False)
    monkeypatch.chdir(world.repository)
    assert Path(Vault.open().place("user").path) == world.home / ".ecc/memory"
