"""What the doctor says about a vault that others work on: merges, version control."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ecc_memory.vault import DoctorReport
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


@pytest.fixture
def outside(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that a program, started by whatever a repository says, would make."""
    world.env["PATH"] = os.environ["PATH"]
    monkeypatch.setattr("ecc_memory.vault.git._SECONDS", 60)  # a busy machine answers all the same
    return tmp_path / "started"


def codes(report: DoctorReport) -> list[str]:
    return [each.code for each in (*report.findings, *report.warnings)]


def program(path: Path, marker: Path, more: str = "") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n: > '{marker}'\n{more}\n")
    path.chmod(0o755)


@pytest.mark.usefixtures("outside")
def test_gitignore_direction_wrong(world: World) -> None:
    """Private memory that git tracks is a finding, shared memory that it ignores a warning."""
    vault = world.open()
    saved = vault.save(title="Private", body="For me.")
    vault.save(title="Shared", body="For all.", scope="team")
    git("add", "-A", cwd=world.repository)
    assert codes(vault.doctor()) == []

    git("add", "-f", world.project, cwd=world.repository)
    report = vault.doctor()
    (finding,) = report.findings
    assert (finding.code, finding.path, report.ok) == ("tracked-private-memory", "project:", False)
    assert "git tracks a file of the project scope" in finding.message
    command = re.search(r"git (rm --cached -r \S+)", finding.repair)
    assert command is not None
    git(*command[1].split(), cwd=world.repository)
    assert codes(vault.doctor()) == []
    assert vault.read(saved.memory.id).memory == saved.memory

    (world.repository / ".gitignore").write_text("# mine\nmemory/\n")
    report = vault.doctor()
    (warning,) = report.warnings
    assert (warning.code, warning.path, report.ok) == ("ignored-team-memory", "team:", True)
    assert "ignores the team scope, so nobody else gets it: .gitignore, line 2 (memory/)" in warning.message
    assert codes(vault.doctor(scopes=["project"])) == []


@pytest.mark.usefixtures("outside")
@pytest.mark.parametrize(
    ("file", "rules", "said"),
    [
        ("work/app/.git/info/exclude", ".ecc\n", "the team scope, so nobody else gets it: .git/info/exclude"),
        ("work/app/.gitignore", "lessons/\n", "a part of the team scope, so nobody else"),
        (
            "work/app/.ecc/.gitignore",
            "*.md\n",
            "the team scope, so nobody else gets it: .ecc/.gitignore, line 1",
        ),
        (".config/git/ignore", "/.ecc/\n", "gets it: ~/.config/git/ignore, line 1 (/.ecc/)"),
        ("work/app/.gitignore", "*.md\n!.ecc/**/*.md\n", None),
        ("work/app/.gitignore", "/memory/\n.ecc/memory/project/\n", None),
    ],
)
def test_rule_that_hides_the_team_scope_is_named(
    world: World, file: str, rules: str, said: str | None
) -> None:
    world.open().init()
    (world.home / file).parent.mkdir(parents=True, exist_ok=True)
    (world.home / file).write_text(rules)
    messages = [each.message for each in world.open().doctor().warnings]
    assert [said in message for message in messages] == ([True] if said else [])


@pytest.mark.usefixtures("outside")
def test_tracked_memory_of_a_worktree_and_of_an_override(world: World) -> None:
    git("worktree", "add", "-q", "../wt", "-b", "feature", cwd=world.repository)
    worktree = world.repository.parent / "wt"
    vault = world.open(worktree)
    vault.save(title="Private", body="For me.")
    (worktree / ".gitignore").write_text(".ecc/\n")
    vault.init()
    git("add", "-f", ".ecc", cwd=world.repository)
    assert codes(vault.doctor()) == ["tracked-private-memory", "ignored-team-memory"]

    world.env["ECC_MEMORY_PROJECT_ROOT"] = str(world.repository / "kept")
    vault = world.open()
    vault.save(title="Private", body="For me.")
    git("add", "-f", "kept", cwd=world.repository)
    (finding,) = vault.doctor().findings
    assert "git rm --cached -r project in the folder that ECC_MEMORY_PROJECT_ROOT names" in finding.repair


def test_hostile_repository_starts_no_program(world: World, outside: Path) -> None:
    vault = world.open()
    vault.save(title="Private", body="For me.")
    vault.init()
    git("add", "-f", world.project, cwd=world.repository)
    (world.repository / ".gitignore").write_text(".ecc/\n")
    trap = world.repository / "trap"
    program(trap, outside)
    for setting in ("core.fsmonitor", "core.pager", "core.sshCommand", "alias.ls-files", "pager.ls-files"):
        git("config", setting, f"!{trap}" if setting.startswith("alias") else trap, cwd=world.repository)
    git("config", "core.hooksPath", world.repository / "hooks", cwd=world.repository)
    for name in ("post-index-change", "fsmonitor-watchman", "query-watchman"):
        program(world.repository / "hooks" / name, outside)
    index = world.repository / ".git" / "index"
    before = index.read_bytes(), index.stat().st_mtime_ns
    assert codes(vault.doctor()) == ["tracked-private-memory", "ignored-team-memory"]
    assert not outside.exists()
    assert (index.read_bytes(), index.stat().st_mtime_ns) == before
    git("status", cwd=world.repository)
    assert outside.exists(), "the trap is one"


def test_git_of_the_repository_is_not_started(
    world: World, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(world.repository / "git", outside)
    monkeypatch.chdir(world.repository)
    world.env["PATH"] = f".{os.pathsep}{os.pathsep}bin"
    vault = world.open()
    vault.init()
    (world.repository / ".gitignore").write_text(".ecc/\n")
    assert codes(vault.doctor()) == []
    assert not outside.exists()


@pytest.mark.usefixtures("outside")
def test_variables_of_git_point_nowhere_else(world: World, tmp_path: Path) -> None:
    git("init", "-q", "elsewhere", cwd=tmp_path)
    world.env |= {
        "GIT_DIR": str(tmp_path / "elsewhere/.git"),
        "GIT_WORK_TREE": str(tmp_path / "elsewhere"),
        "GIT_INDEX_FILE": str(tmp_path / "index"),
    }
    vault = world.open()
    vault.save(title="Private", body="For me.")
    git("add", "-f", world.project, cwd=world.repository)
    assert codes(vault.doctor()) == ["tracked-private-memory"]


@pytest.mark.parametrize("how", ["fails", "hangs", "absent", "broken repository", "no repository"])
def test_git_that_cannot_tell_is_silence(
    world: World, outside: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    vault = world.open()
    vault.save(title="Private", body="For me.")
    vault.init()
    git("add", "-f", world.project, cwd=world.repository)
    (world.repository / ".gitignore").write_text(".ecc/\n")
    if how == "broken repository":
        (world.repository / ".git/index").write_bytes(b"not an index")
        (world.repository / ".git/HEAD").unlink()
    elif how == "no repository":
        (world.repository / ".git").rename(tmp_path / "git")
    else:
        if how == "hangs":
            monkeypatch.setattr("ecc_memory.vault.git._SECONDS", 0.2)
        if how != "absent":
            program(
                tmp_path / "bin/git", outside, "echo project; exit 3" if how == "fails" else "exec sleep 60"
            )
        world.env["PATH"] = str(tmp_path / "bin")
    report = world.open().doctor()
    assert codes(report) == []
    assert outside.exists() or how != "fails"


def test_only_the_doctor_starts_git_and_only_when_asked(world: World, outside: Path, tmp_path: Path) -> None:
    program(tmp_path / "bin/git", outside)
    world.env["PATH"] = str(tmp_path / "bin")
    vault = world.open()
    vault.init()
    saved = vault.save(title="T", body="B", scope="team")
    vault.search("T")
    vault.read(saved.memory.id)
    vault.doctor(ask_git=False)
    assert not outside.exists()
    vault.doctor()
    assert outside.exists()
