"""Install, repeat, uninstall: every byte and every folder as it was."""

import itertools
import os

import pytest

from ecc_memory.install.edit import toml
from ecc_memory.testing.home import Home

from .invented import invented

FILES = {
    "lf": b'# pinned, see wiki\nmodel = "gpt-x"\n',
    "toml_round_trip_flattened": (
        b'# pinned, see wiki\nmodel = "gpt-x"\n\n[mcp_servers.a]\ncommand = "a"\n'
        b'startup_timeout_ms = 20_000\nargs = ["--x", """multi\nline"""]\n'
    ),
    "crlf": b'model = "x"\r\n\r\n[mcp_servers.a]\r\ncommand = "a"\r\n',
    "no final newline": b'model = "x"',
    "bom": b'\xef\xbb\xbfmodel = "x"\n',
    "blank lines at the end": b'model = "x"\n\n\n\n',
    "empty": b"",
    "comment only": b"# nothing yet",
}


@pytest.mark.parametrize("name", FILES)
def test_toml_round_trip_flattened(home, config, rules, name):
    home.write(config, FILES[name])
    home.write(rules, b"my own rules" if name == "no final newline" else b"my own rules\n")
    os.chmod(config, 0o640)
    before = home.tree()

    home.install("acme")
    assert toml.load(config.read_bytes())["mcp_servers"]["ecc-memory-vault"]["env"] == {
        "ECC_MEMORY_HARNESS": "acme"
    }
    assert FILES[name].rstrip(b"\r\n") in config.read_bytes()
    assert os.stat(config).st_mode & 0o777 == 0o640
    home.uninstall("acme")

    assert home.tree() == before


def test_uninstall_leaves_zombie_entries(home):
    before = home.tree()
    home.install("acme")
    home.install("acme", level="project")
    assert (home.project / "AGENTS.md").is_file()
    home.uninstall()
    assert home.tree() == before


def test_repeated_install_writes_nothing(home, config):
    home.write(config, FILES["crlf"])
    home.install("acme")
    before = home.tree(times=True)
    outcome = home.install("acme")
    assert not any(step.writes for step in outcome.steps)
    assert home.tree(times=True) == before


def test_marked_block_never_refreshed(home, rules):
    home.write(rules, b"above\n")
    home.install("acme", read_only=True)
    rules.write_bytes(rules.read_bytes() + b"\nbelow\n")
    home.install("acme")
    text = rules.read_text()
    assert text.startswith("above\n")
    assert text.endswith("below\n")
    assert text.count("ecc-memory:begin") == 1
    assert "memory_save" in text
    home.uninstall("acme")
    assert rules.read_bytes() == b"above\n\nbelow\n"


def test_agents_md_overwritten(home):
    agents = home.write(home.project / "AGENTS.md", b"# Mine\n\nKeep this.\n")
    home.install("acme", level="project")
    once = agents.read_bytes()
    home.install("acme", level="project")
    assert agents.read_bytes() == once
    assert once.startswith(b"# Mine\n\nKeep this.\n")


def test_uninstall_deletes_shared_file(home, config, rules):
    home.write(config, b"")
    home.install("acme")
    rules.write_bytes(rules.read_bytes() + b"my own line\n")
    home.uninstall("acme")
    assert config.read_bytes() == b""
    assert rules.read_bytes() == b"my own line\n"


def test_created_file_goes_when_it_is_empty_again(home, config):
    home.install("acme")
    config.write_bytes(config.read_bytes() + b"\n[mine]\nx = 1\n")
    home.install("acme")
    config.write_bytes(config.read_bytes().replace(b"\n[mine]\nx = 1\n", b""))
    home.uninstall("acme")
    assert not config.parent.exists()


HARNESSES = ("acme", "beta", "gamma")


@pytest.mark.parametrize("level", ["user", "project"])
@pytest.mark.parametrize(
    ("arriving", "leaving"),
    [
        (a, b)
        for a in itertools.permutations(HARNESSES)
        for b in (HARNESSES, HARNESSES[::-1], ("beta", "acme", "gamma"))
    ],
)
def test_shared_artifacts_go_with_their_last_owner(home, level, arriving, leaving):
    agents = home.write(home.project / "AGENTS.md", b"# Mine")
    before = home.tree()
    base = home.project if level == "project" else home.path
    skill = base / ".agents" / "skills" / "unified-memory" / "SKILL.md"
    for slug in arriving:
        home.install(slug, level=level)
    if level == "project":
        assert agents.read_bytes().count(b"ecc-memory:begin") == 1
    for slug in leaving:
        assert skill.is_file()
        home.uninstall(slug, level=level)
    assert home.tree() == before


def test_two_harnesses_in_one_run_share_one_copy(home):
    before = home.tree()
    outcome = home.install("acme", "beta", level="project")
    actions = {
        (item.owner.harness, item.artifact.part): item.action for step in outcome.steps for item in step.items
    }
    assert actions["acme", "rules"] == "add"
    assert actions["beta", "rules"] == "share"
    home.uninstall("acme", "beta", level="project")
    assert home.tree() == before


def test_leaving_one_part_out_leaves_the_others(home, config):
    home.install("acme", parts=frozenset({"mcp"}))
    assert config.is_file()
    assert not (home.path / ".agents").exists()
    home.install("acme", parts=frozenset({"skill"}))
    assert (home.path / ".agents").exists()
    assert config.is_file()


def test_what_an_adapter_no_longer_describes_is_taken_out(home, tmp_path):
    before = home.tree()
    home.env["ACME_HOME"] = str(home.path / "first")
    home.install("acme")
    home.env["ACME_HOME"] = str(home.path / "second")
    home.install("acme")
    assert not (home.path / "first").exists()
    assert (home.path / "second" / "config.toml").is_file()
    home.uninstall("acme")
    assert home.tree() == before


def test_relocated_home_ignored(home):
    home.env["ACME_HOME"] = str(home.path / "elsewhere")
    home.install("acme")
    assert (home.path / "elsewhere" / "config.toml").is_file()
    assert not (home.path / ".acme").exists()


@pytest.mark.parametrize("name", ["Jane Doe", "it's", "$HOME (1)", "Zoë 設計"])
def test_hook_path_with_space(tmp_path, name):
    home = Home(tmp_path / name, [invented("acme")])
    before = home.tree()
    home.install("acme")
    home.uninstall("acme")
    assert home.tree() == before
