"""Links, special files, permissions, full disks: refused in plain words, and nothing changed."""

import contextlib
import os
import resource
import tempfile
from pathlib import Path

import pytest

from ecc_memory.errors import InstallError
from ecc_memory.install import files
from ecc_memory.testing import Home

from .invented import invented

NOBODY = 65534


def refused(home, match, **options):
    before = home.tree(times=True)
    with pytest.raises(InstallError, match=match) as error:
        home.install("acme", **options)
    assert str(home.path) not in error.value.message
    assert str(home.path) in error.value.detail
    assert home.tree(times=True) == before


def test_symlinked_config_replaced(home, config):
    dotfiles = home.write(home.path / "dotfiles" / "config.toml", b'model = "x"\n')
    config.parent.mkdir()
    config.symlink_to("../dotfiles/config.toml")
    before = home.tree()
    home.install("acme")
    assert config.is_symlink()
    assert b"ecc-memory-vault" in dotfiles.read_bytes()
    home.uninstall("acme")
    assert home.tree() == before


def test_symlinked_folder_is_followed(home):
    (home.path / "dotfiles").mkdir()
    (home.path / ".acme").symlink_to("dotfiles")
    before = home.tree()
    home.install("acme")
    assert (home.path / "dotfiles" / "config.toml").is_file()
    home.uninstall("acme")
    assert home.tree() == before


def test_config_moved_behind_a_link_after_the_install(home, config):
    home.write(config, b'model = "x"\n')
    home.install("acme")
    moved = home.path / "dotfiles.toml"
    config.rename(moved)
    config.symlink_to(moved)
    home.install("acme")
    home.uninstall("acme")
    assert config.is_symlink()
    assert moved.read_bytes() == b'model = "x"\n'
    assert not (home.path / ".local").exists()


def test_dangling_link(home, config):
    config.parent.mkdir()
    config.symlink_to(home.path / "gone" / "config.toml")
    refused(home, "leads nowhere")


def test_dangling_folder_link(home):
    (home.path / ".acme").symlink_to(home.path / "unmounted")
    refused(home, "leads nowhere")


def test_link_loop(home, config):
    config.parent.mkdir()
    config.symlink_to("other.toml")
    (config.parent / "other.toml").symlink_to("config.toml")
    refused(home, "circle")


def test_link_to_a_read_only_store(home, config):
    store = home.write(home.path / "store" / "config.toml", b'model = "x"\n')
    store.chmod(0o444)
    config.parent.mkdir()
    config.symlink_to(store)
    refused(home, "read-only")


def test_folder_in_place_of_the_file(home, config):
    config.mkdir(parents=True)
    refused(home, "folder")


def test_fifo_in_place_of_the_file(home, config):
    config.parent.mkdir()
    os.mkfifo(config)
    with pytest.raises(InstallError, match="no regular file"):
        home.install("acme")


def test_file_in_place_of_a_folder(home):
    home.write(home.path / ".acme", b"a file")
    refused(home, "folder on the way")


def test_hard_link(home, config):
    home.write(config, b'model = "x"\n')
    os.link(config, home.path / "other-name.toml")
    refused(home, "hard links")


@pytest.mark.parametrize("data", [b'note = "caf\xe9"\n', "model = 'x'\n".encode("utf-16")])
def test_non_utf8_text(home, config, data):
    home.write(config, data)
    refused(home, "UTF-")


def test_huge_file(home, config):
    home.write(config, b"# filler\n" * (2 * 1024 * 1024))
    refused(home, "MiB")


@contextlib.contextmanager
def person(folder):
    """Be a person who is not root, in a home of one's own below ``folder``."""
    home = Home(folder / "home", [invented("acme")])
    home.install("acme", dry_run=True)  # imports what is imported late, which may be root's
    if os.geteuid() != 0:
        yield home
        return
    for path in (folder, *folder.rglob("*")):
        os.chown(path, NOBODY, -1)
    os.setresuid(NOBODY, NOBODY, 0)
    try:
        yield home
    finally:
        os.setresuid(0, 0, 0)


@pytest.fixture
def open_folder():
    """A temporary folder that others than root can reach."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        os.chmod(folder, 0o755)
        yield Path(folder)


def test_read_only_folder(open_folder):
    with person(open_folder) as home:
        (home.path / ".acme").mkdir()
        (home.path / ".acme").chmod(0o555)
        refused(home, "folder may not be written")


def test_unreadable_file(open_folder):
    with person(open_folder) as home:
        home.write(home.path / ".acme/config.toml", b'model = "x"\n').chmod(0)
        with pytest.raises(InstallError, match="permission"):
            home.install("acme")
        (home.path / ".acme/config.toml").chmod(0o600)
        assert sorted(home.tree()) == [
            ".acme",
            ".acme/config.toml",
            "work",
            "work/project",
            "work/project/.git",
        ]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a file of somebody else's")
def test_somebody_elses_file(open_folder):
    config = open_folder / "home" / ".acme" / "config.toml"
    with person(open_folder) as home:
        home.write(config, b'model = "x"\n')
        os.setresuid(0, 0, 0)
        os.chown(config, 0, -1)
        config.chmod(0o666)
        os.setresuid(NOBODY, NOBODY, 0)
        refused(home, "another user")


def test_facts_of_the_file_are_kept(home, config):
    home.write(config, b'model = "x"\n')
    config.chmod(0o604)
    if os.geteuid() == 0:
        os.chown(config, 12345, 23456)
    facts = config.stat()
    home.install("acme")
    after = config.stat()
    assert (after.st_mode, after.st_uid, after.st_gid) == (facts.st_mode, facts.st_uid, facts.st_gid)


def test_read_only_file_system_is_refused_before_anything_is_written(home):
    home.env["ACME_HOME"] = "/proc/self/fdinfo"
    before = home.tree(times=True)
    with pytest.raises(
        InstallError, match=r"may not be written|permit|permission|cannot be written"
    ) as error:
        home.install("acme")
    assert "/proc" in error.value.detail
    assert {key: value[:1] for key, value in home.tree(times=True).items()} == {
        key: value[:1] for key, value in before.items()
    }


def test_a_failure_half_way_puts_everything_back(home, config, rules):
    """The process may not write files as large as the last one: a real EFBIG, as on a full disk."""
    home.write(config, b"# " + b"x" * 200_000 + b"\n")
    home.write(rules, b"mine\n")
    before = home.tree()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
    try:
        with pytest.raises(InstallError, match="put back") as error:
            home.install("acme")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert "size limit" in error.value.message
    assert error.value.detail == str(config)
    assert home.tree() == before
    home.install("acme")


def test_change_underneath_is_noticed_just_before_the_rename(tmp_path):
    path = tmp_path / "config.toml"
    path.write_bytes(b"a = 1\n")
    view = files.look(path)
    path.write_bytes(b"a = 2\n")
    with pytest.raises(InstallError, match="at this moment"):
        files.write(view, b"ours\n")
    assert path.read_bytes() == b"a = 2\n"
    assert os.listdir(tmp_path) == ["config.toml"]


def test_a_file_that_appears_underneath_is_not_overwritten(tmp_path):
    path = tmp_path / "config.toml"
    view = files.look(path)
    path.write_bytes(b"a = 2\n")
    with pytest.raises(InstallError, match="at this moment"):
        files.write(view, b"ours\n")
    assert path.read_bytes() == b"a = 2\n"


def test_extended_attributes_are_kept(tmp_path):
    path = tmp_path / "config.toml"
    path.write_bytes(b"a = 1\n")
    try:
        os.setxattr(path, "user.note", b"mine")
    except (OSError, AttributeError):
        pytest.skip("this file system has no extended attributes")
    files.write(files.look(path), b"a = 2\n")
    assert os.getxattr(path, "user.note") == b"mine"
