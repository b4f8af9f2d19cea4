"""What the doctor says about a vault that others work on: merges, version control."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest

from ecc_memory.vault.conflict import conflict_line

from .conftest import World, git


def test_server_side_sync_wipes_files(world: World, document: Callable[..., str]) -> None:
    """A real merge of two versions of a team memory, left as git leaves it."""
    path = world.team / "notes" / "shared.md"
    path.parent.mkdir(parents=True)

    def commit(body: str) -> None:
        path.write_text(document(scope='"team"', body=f"Common.\n\n{body}\n\nEnd.\n"))
        git("add", ".", cwd=world.repository)
        git("commit", "-q", "-m", "x", cwd=world.repository)

    commit("At first.")
    git("checkout", "-q", "-b", "theirs", cwd=world.repository)
    commit("They say this.")
    git("checkout", "-q", "-", cwd=world.repository)
    commit("We say that.")
    with pytest.raises(subprocess.CalledProcessError):
        git("merge", "theirs", cwd=world.repository)
    before = path.read_bytes()
    report = world.open().doctor()
    (warning,) = report.warnings
    assert (warning.code, warning.path) == ("merge-markers", "team:notes/shared.md")
    assert path.read_text().split("\n")[(warning.line or 0) - 1].startswith("<<<<<<< HEAD")
    assert "remove the lines" in warning.repair
    assert (report.ok, report.findings) == (True, ())
    assert path.read_bytes() == before


def test_merge_markers_for_another_harness_are_not_counted(world: World) -> None:
    body = "<<<<<<< a\nb\n=======\nc\n>>>>>>> d"
    world.open().save(title="T", body=body, target_harnesses=["claude"])
    assert world.open().doctor(target_harness="codex").warnings == ()
    assert [each.code for each in world.open().doctor(target_harness="claude").warnings] == ["merge-markers"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> main", 2),
        ("<<<<<<< HEAD\nb\n||||||| base\na\n=======\nc\n>>>>>>> main", 1),
        ("<<<<<<< HEAD\r\nb\r\n=======\r\nc\r\n>>>>>>> main\r\n", 1),
        ("<<<<<<< old\n\n<<<<<<< HEAD\n=======\n>>>>>>> main", 3),
        ("```\n<<<<<<< a\n```\n<<<<<<< HEAD\n=======\n>>>>>>> main", 4),
        ("`````\n```\n<<<<<<< a\n=======\n>>>>>>> b\n`````", None),
        ("~~~ text\n<<<<<<< a\n```\n=======\n>>>>>>> b\n~~~~\n", None),
        ("```\n<<<<<<< a\n=======\n>>>>>>> b", None),
        ("```a```\n<<<<<<< a\n=======\n>>>>>>> b", 2),
        ("<<<<<<< HEAD\n>>>>>>> main\n=======", None),
        ("=======\n<<<<<<< HEAD\n>>>>>>> main", None),
        (" <<<<<<< HEAD\n=======\n>>>>>>> main", None),
        ("<<<<<<< HEAD\n========\n>>>>>>> main", None),
        ("Title\n=======\n", None),
    ],
)
def test_lines_that_git_left(text: str, line: int | None) -> None:
    assert conflict_line(text) == line
