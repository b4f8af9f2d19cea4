"""Which project is this?"""

from __future__ import annotations

import os
import pwd
from pathlib import Path

import pytest

from ecc_memory.errors import UsageError, VaultUnsafe
from ecc_memory.vault import Vault

from .conftest import World, git


def anchors(vault: Vault) -> tuple[str, str]:
    return vault.place("project").anchor, vault.place("team").anchor


def test_repository_root_is_found_from_below(world: World) -> None:
    below = world.repository / "src" / "deep"
    below.mkdir(parents=True)
    assert anchors(world.open(below)) == (str(world.repository),) * 2


def test_working_directory_without_a_repository(world: World) -> None:
    folder = world.home / "notes"
    folder.mkdir()
    assert anchors(world.open(folder)) == (str(folder),) * 2


@pytest.mark.parametrize("where", ["../wt", ".worktrees/wt"])
def test_worktree_splits_memory(world: World, where: str) -> None:
    git("worktree", "add", "-q", where, "-b", "feature", cwd=world.repository)
    worktree = (world.repository / where).resolve()
    saved = world.open(worktree).save(title="From the worktree", body="Shared by all worktrees.")
    world.open(worktree).save(title="On the branch", body="Committed with it.", scope="team")
    git("worktree", "remove", "--force", where, cwd=world.repository)
    assert world.open().read(saved.memory.id).memory.title == "From the worktree"
    assert [hit.memory.title for hit in world.open().search("").results] == ["From the worktree"]


def test_worktree_of_a_bare_repository_shares_the_repository(world: World) -> None:
    git("clone", "-q", "--bare", world.repository, "../app.git", cwd=world.repository)
    bare = world.home / "work" / "app.git"
    for name in ("one", "two"):
        git("worktree", "add", "-q", f"../{name}", "-b", name, cwd=bare)
    one, two = world.home / "work/one", world.home / "work/two"
    saved = world.open(one).save(title="T", body="Known to both.")
    assert world.open(two).read(saved.memory.id).memory == saved.memory
    git("worktree", "remove", "--force", "../one", cwd=bare)
    assert world.open(two).read(saved.memory.id).memory == saved.memory
    assert anchors(world.open(two)) == (str(bare), str(two))


def test_hidden_bare_repository_uses_the_folder_around_it(world: World) -> None:
    around = world.home / "work" / "around"
    around.mkdir()
    git("clone", "-q", "--bare", world.repository, ".git", cwd=around)
    git("worktree", "add", "-q", "tree", "-b", "tree", cwd=around)
    assert anchors(world.open(around / "tree")) == (str(around), str(around / "tree"))


def test_submodule_is_a_project_of_its_own(world: World) -> None:
    git("init", "-q", "../lib", cwd=world.repository)
    git("commit", "-q", "--allow-empty", "-m", "x", cwd=world.home / "work/lib")
    git("submodule", "--quiet", "add", str(world.home / "work/lib"), "lib", cwd=world.repository)
    assert anchors(world.open(world.repository / "lib")) == (str(world.repository / "lib"),) * 2
    git("worktree", "add", "-q", "../../lib-wt", "-b", "wt", cwd=world.repository / "lib")
    assert anchors(world.open(world.home / "work/lib-wt")) == (
        str(world.repository / "lib"),
        str(world.home / "work/lib-wt"),
    )


def test_git_dir_variable_is_not_the_project(world: World) -> None:
    world.env["GIT_DIR"] = "/elsewhere/.git"
    assert anchors(world.open()) == (str(world.repository),) * 2


def test_git_file_without_a_back_link_is_not_believed(world: World) -> None:
    """A checkout from a stranger could name any repository of ours in its .git file."""
    git("worktree", "add", "-q", "../wt", "-b", "wt", cwd=world.repository)
    fake = world.home / "downloads" / "evil"
    fake.mkdir(parents=True)
    (fake / ".git").write_text((world.home / "work/wt/.git").read_text())
    assert anchors(world.open(fake)) == (str(fake),) * 2


def test_forged_git_directory_cannot_name_another_folder(world: World) -> None:
    fake = world.home / "downloads" / "evil"
    forged = fake / "store" / "worktrees" / "x"
    forged.mkdir(parents=True)
    (fake / ".git").write_text("gitdir: store/worktrees/x\n")
    (forged / "gitdir").write_text(str(fake / ".git"))
    (forged / "commondir").write_text(str(world.repository / ".git"))
    assert anchors(world.open(fake)) == (str(fake),) * 2
    (forged / "commondir").write_text("../..")
    (fake / "store" / "config").write_text(f"[core]\n\tworktree = {world.repository}\n")
    assert anchors(world.open(fake)) == (str(fake),) * 2


def test_relative_worktree_links_are_followed(world: World) -> None:
    git("worktree", "add", "-q", "../wt", "-b", "wt", cwd=world.repository)
    worktree = world.home / "work/wt"
    (worktree / ".git").write_text("gitdir: ../app/.git/worktrees/wt\n")
    (world.repository / ".git/worktrees/wt/gitdir").write_text("../../../../wt/.git\n")
    assert anchors(world.open(worktree)) == (str(world.repository), str(worktree))


@pytest.mark.parametrize("place", ["/", "home", "gone"])
def test_cwd_is_home_or_root(world: World, place: str) -> None:
    folder = {"/": Path("/"), "home": world.home, "gone": world.home / "gone"}[place]
    vault = world.open(folder)
    before = world.files()
    for scope in ("project", "team"):
        with pytest.raises(VaultUnsafe, match="ECC_MEMORY_PROJECT_ROOT") as refused:
            vault.save(title="T", body="B", scope=scope)
        assert str(world.home) not in refused.value.message
        with pytest.raises(VaultUnsafe, match="ECC_MEMORY_PROJECT_ROOT"):
            vault.init([scope])
    assert world.files() == before
    assert not (world.home / ".ecc").exists()
    saved = vault.save(title="T", body="B", scope="user")
    assert vault.read(saved.memory.id, scopes=["user"]).memory == saved.memory
    assert vault.search("").results == ()


def test_deleted_working_directory(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = world.home / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    vault = Vault.open(env={}, home=world.home)
    assert vault.search("").results == ()
    with pytest.raises(VaultUnsafe, match="does not exist"):
        vault.save(title="T", body="B")


def test_worktree_wants_isolation(world: World) -> None:
    world.env["ECC_MEMORY_PROJECT_ROOT"] = str(world.home / "mine")
    vault = world.open()
    saved = vault.save(title="T", body="B")
    assert (world.home / "mine/project/notes" / f"{saved.memory.id}.md").is_file()
    assert vault.place("project").origin == "ECC_MEMORY_PROJECT_ROOT"
    assert not world.project.exists()


def test_basename_collision_leaks_projects(world: World) -> None:
    twin = world.home / "personal" / "app"
    twin.mkdir(parents=True)
    world.open().save(title="T", body="B")
    assert world.open(twin).search("").results == ()


@pytest.mark.parametrize("value", ["mem", "./mem", "$HOME/mem", "~other/mem"])
@pytest.mark.parametrize("variable", ["ECC_MEMORY_PROJECT_ROOT", "ECC_MEMORY_USER_ROOT"])
def test_relative_path_resolved_against_package(world: World, variable: str, value: str) -> None:
    world.env[variable] = value
    with pytest.raises(UsageError, match="must be an absolute path") as refused:
        world.open()
    assert f"{variable}={value}" in str(refused.value)


@pytest.mark.parametrize("value", ["", "  "])
def test_empty_override_means_unset(world: World, value: str) -> None:
    world.env["ECC_MEMORY_PROJECT_ROOT"] = world.env["ECC_MEMORY_USER_ROOT"] = value
    assert world.open().place("project").anchor == str(world.repository)
    assert world.open().place("user").anchor == str(world.home)


@pytest.mark.parametrize(
    ("project", "user"),
    [("~/.ecc/memory", ""), ("~/v", "~/v"), ("~/v", "~/v/project"), ("~/v", "~/v/team/mine"), ("/", "/team")],
)
def test_scopes_that_lie_in_one_another_are_refused(world: World, project: str, user: str) -> None:
    world.env["ECC_MEMORY_PROJECT_ROOT"] = project
    world.env["ECC_MEMORY_USER_ROOT"] = user
    with pytest.raises(UsageError, match="lie in one another; set ECC_MEMORY_PROJECT_ROOT"):
        world.open()


def test_user_scope_in_the_vault_of_a_repository_is_refused_there_only(world: World) -> None:
    world.env["ECC_MEMORY_USER_ROOT"] = str(world.project.parent)
    with pytest.raises(UsageError, match="set ECC_MEMORY_USER_ROOT"):
        world.open()
    world.open(world.home).search("")


def test_scopes_side_by_side_are_fine(world: World) -> None:
    world.env["ECC_MEMORY_PROJECT_ROOT"] = "~/v"
    world.env["ECC_MEMORY_USER_ROOT"] = "~/v/user"
    world.open()
    world.env["ECC_MEMORY_PROJECT_ROOT"] = "~/.ecc/memory/.hidden"
    world.env["ECC_MEMORY_USER_ROOT"] = ""
    world.open()


def test_home_folder_is_read_whatever_the_user_scope_is_set_to(world: World) -> None:
    world.env["ECC_MEMORY_USER_ROOT"] = "~/.ecc/memory"
    assert world.open(world.home).search("").results == ()


def test_override_below_home_and_not_yet_there(world: World) -> None:
    world.env["ECC_MEMORY_USER_ROOT"] = "~/a/b"
    saved = world.open().save(title="T", body="B", scope="user")
    path = world.home / "a/b/notes" / f"{saved.memory.id}.md"
    assert path.stat().st_mode & 0o777 == 0o600
    assert (world.home / "a").stat().st_mode & 0o777 == 0o700


def test_override_through_a_link_is_resolved_once(world: World) -> None:
    (world.home / "real").mkdir()
    (world.home / "link").symlink_to("real")
    world.env["ECC_MEMORY_PROJECT_ROOT"] = str(world.home / "link")
    world.open().save(title="T", body="B")
    assert os.listdir(world.home / "real") == ["project"]


def test_variables_of_one_harness_do_not_count_here(world: World) -> None:
    world.env["CLAUDE_PROJECT_DIR"] = str(world.home)
    assert world.open().place("project").anchor == str(world.repository)


def test_empty_home_is_the_user_database_s(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/somewhere/else")
    expected = os.path.realpath(pwd.getpwuid(os.getuid()).pw_dir)
    for env in ({"HOME": ""}, {}):
        assert Vault.open(world.repository, env).place("user").anchor == expected


def test_relative_home_is_refused(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(world.repository)
    with pytest.raises(UsageError, match="HOME must be an absolute path; set it to your home folder"):
        Vault.open(env={"HOME": "rel"})
