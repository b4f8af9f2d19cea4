"""Which vault a server serves, and how it says so."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from .conftest import Machine, git
from .process import COMMAND, ServerProcess, call


def save(server: ServerProcess, scope: str = "project", title: str = "t") -> dict[str, Any]:
    return server.succeed("memory_save", title=title, body="b", scope=scope)


def refused(server: ServerProcess, scope: str = "project") -> str:
    result = server.ask(call("refused", "memory_save", title="t", body="b", scope=scope))["result"]
    assert result["isError"] is True
    text = result["content"][0]["text"]
    assert "MEMORY_WRITE_REJECTED" in text
    return str(text)


def titles(server: ServerProcess, **arguments: Any) -> list[str]:
    found = server.succeed("memory_search", **arguments)
    return [hit["memory"]["title"] for hit in found["results"]]


def test_a_sub_folder_belongs_to_its_repository(machine: Machine) -> None:
    folder = machine.project / "deep" / "below"
    folder.mkdir(parents=True)
    reply = save(machine.open(cwd=folder))
    assert reply["vault"] == {"scope": "project", "name": "shop", "source": "working directory"}
    assert len(machine.documents()) == 1


def test_a_folder_without_a_repository_is_its_own_project(machine: Machine) -> None:
    folder = machine.home / "plain"
    folder.mkdir()
    assert save(machine.open(cwd=folder))["vault"]["name"] == "plain"
    assert (folder / ".ecc/memory/project").is_dir()


@pytest.mark.parametrize("place", ["root", "home", "gone"])
def test_cwd_is_home_or_root(machine: Machine, place: str) -> None:
    cwd = {"root": Path("/"), "home": machine.home, "gone": machine.home / "gone"}[place]
    if place == "gone":
        server = start_in_a_deleted_folder(machine, cwd)
    else:
        server = machine.start(cwd=cwd, ECC_MEMORY_ALLOW_USER_SCOPE="1")
    assert "result" in server.open()
    for scope in ("project", "team"):
        text = refused(server, scope)
        assert "ECC_MEMORY_PROJECT_ROOT" in text
        assert "working directory" in text
    assert titles(server) == []  # reading goes on
    report = server.succeed("memory_doctor")
    assert all("ECC_MEMORY_PROJECT_ROOT" in vault["refusal"] for vault in report["vaults"])
    assert save(server, "user")["vault"] == {"scope": "user", "name": "home", "source": "home"}
    assert not (machine.home / ".ecc/memory/project").exists()
    assert not Path("/.ecc").exists()


def start_in_a_deleted_folder(machine: Machine, folder: Path) -> ServerProcess:
    """Start a server whose working directory is gone before it looks."""
    folder.mkdir()
    command = ["/bin/sh", "-c", 'rmdir "$1" && exec "$0"', COMMAND, str(folder)]
    return machine.run(command, folder, machine.env(ECC_MEMORY_ALLOW_USER_SCOPE="1"))


def test_the_explicit_root_wins_over_the_hosts_variable_over_the_working_directory(machine: Machine) -> None:
    other = machine.home / "other"
    other.mkdir()
    git("init", "-q", ".", cwd=other)
    root = machine.home / "chosen"
    host = machine.open(CLAUDE_PROJECT_DIR=str(other))
    assert save(host)["vault"] == {"scope": "project", "name": "other", "source": "CLAUDE_PROJECT_DIR"}
    explicit = machine.open(CLAUDE_PROJECT_DIR=str(other), ECC_MEMORY_PROJECT_ROOT=str(root))
    assert save(explicit, title="explicit")["vault"] == {
        "scope": "project",
        "name": "chosen",
        "source": "ECC_MEMORY_PROJECT_ROOT",
    }
    argument = machine.start("--project-root", str(root))
    argument.open()
    assert titles(argument) == ["explicit"]
    assert machine.documents() == []
    report = explicit.succeed("memory_doctor")
    assert [vault["source"] for vault in report["vaults"]] == ["ECC_MEMORY_PROJECT_ROOT"] * 2


def test_the_hosts_variable_may_name_what_is_no_project(machine: Machine) -> None:
    for value in ("/", str(machine.home / "gone")):
        assert "CLAUDE_PROJECT_DIR" in refused(machine.open(CLAUDE_PROJECT_DIR=value))
    assert "absolute" in refused(machine.open(CLAUDE_PROJECT_DIR="some/where"))
    assert save(machine.open(CLAUDE_PROJECT_DIR=" "))["vault"]["source"] == "working directory"


@pytest.mark.parametrize("value", ["mem", "$HOME/mem", "./mem"])
def test_relative_path_resolved_against_package(machine: Machine, value: str) -> None:
    server = machine.open(ECC_MEMORY_PROJECT_ROOT=value)
    text = refused(server)
    assert "ECC_MEMORY_PROJECT_ROOT must be an absolute path" in text
    assert not list(machine.project.glob("**/mem"))


def test_a_root_below_the_home_folder(machine: Machine) -> None:
    assert save(machine.open(ECC_MEMORY_PROJECT_ROOT="~/mem"))["vault"]["name"] == "mem"
    assert len(list((machine.home / "mem/project").rglob("*.md"))) == 1
    assert save(machine.open(ECC_MEMORY_PROJECT_ROOT=""))["vault"]["source"] == "working directory"


@pytest.mark.parametrize("place", ["beside", "inside"])
def test_worktree_splits_memory(machine: Machine, place: str) -> None:
    """A linked worktree shares the project scope, has a team scope of its own, and says which is which."""
    git("commit", "-q", "--allow-empty", "-m", "x", cwd=machine.project)
    tree = {"beside": machine.home / "wt", "inside": machine.project / ".worktrees" / "wt"}[place]
    git("worktree", "add", "-q", tree, cwd=machine.project)
    server = machine.open(cwd=tree)
    assert save(server, title="shared")["vault"]["name"] == "shop"
    assert save(server, "team", title="of the branch")["vault"]["name"] == "wt"
    assert titles(machine.open(harness="claude")) == ["shared"]
    vaults = server.succeed("memory_doctor")["vaults"]
    assert [(vault["scope"], vault["name"]) for vault in vaults] == [("project", "shop"), ("team", "wt")]
    server.close()
    shutil.rmtree(tree / ".ecc")
    git("worktree", "remove", tree, cwd=machine.project)
    assert titles(machine.open(harness="claude")) == ["shared"]


def test_worktree_wants_isolation(machine: Machine) -> None:
    git("commit", "-q", "--allow-empty", "-m", "x", cwd=machine.project)
    git("worktree", "add", "-q", machine.home / "wt", cwd=machine.project)
    own = str(machine.home / "wt/.ecc/memory")
    server = machine.open(cwd=machine.home / "wt", ECC_MEMORY_PROJECT_ROOT=own)
    assert save(server)["vault"]["source"] == "ECC_MEMORY_PROJECT_ROOT"
    assert titles(machine.open()) == []


def test_basename_collision_leaks_projects(machine: Machine) -> None:
    folders = [machine.home / "work" / "my-app", machine.home / "personal" / "my-app"]
    for folder in folders:
        folder.mkdir(parents=True)
    save(machine.open(cwd=folders[0]))
    assert titles(machine.open(cwd=folders[1])) == []


def test_reminder_from_other_project(machine: Machine) -> None:
    """An empty query lists the newest of this project, never of another."""
    save(machine.open(), title="of the shop")
    other = machine.home / "other"
    other.mkdir()
    assert titles(machine.open(cwd=other), query="") == []


@pytest.mark.skipif(sys.platform != "linux", reason="such a folder name needs a file system of bytes")
def test_a_project_folder_whose_name_is_not_utf8(machine: Machine) -> None:
    folder = os.fsencode(machine.home) + b"/caf\xe9"
    os.mkdir(folder)
    server = machine.open(cwd=Path(os.fsdecode(folder)))
    assert save(server)["vault"]["name"] == "caf?"
