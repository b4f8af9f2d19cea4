"""What the OpenCode adapter describes; the contract kit runs what it means."""

import os
from pathlib import Path

import pytest

import ecc_memory_opencode as opencode
from ecc_memory.harness.types import (
    SERVER_NAME,
    ConfigEntry,
    InstallRequest,
    ListItem,
    MarkedBlock,
    OwnedFile,
    Surroundings,
)


def request(home: Path, *, root: Path | None = None, env=None, **changes) -> InstallRequest:
    values = {
        "level": "project" if root else "user",
        "where": Surroundings(home, env or {}, root),
        "parts": frozenset({"rules", "mcp", "skill"}),
        "server_command": "ecc-memory-mcp" if root else "/opt/ecc/bin/ecc-memory-mcp",
        "server_env": {"ECC_MEMORY_HARNESS": "opencode"},
        "forward_env": (),
        "hook_command": ("ecc-memory-hook",),
        "skill": {"SKILL.md": b"skill"},
        "rules": "Recall first.\n",
        "version": "0.1.0",
    }
    return InstallRequest(**{**values, **changes})


def described(install_request: InstallRequest, kind: type, part: str | None = None):
    artifacts = opencode.ecc_memory_installation(install_request).artifacts
    return [a for a in artifacts if isinstance(a, kind) and part in (None, a.part)]


def entry(install_request: InstallRequest) -> ConfigEntry:
    (found,) = [a for a in described(install_request, ConfigEntry) if a.key == ("mcp", SERVER_NAME)]
    return found


def write(path: Path, text: str = "{}\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_opencode_env_vs_environment(tmp_path):
    assert entry(request(tmp_path)).value == {
        "type": "local",
        "command": ["/opt/ecc/bin/ecc-memory-mcp"],
        "environment": {"ECC_MEMORY_HARNESS": "opencode"},
        "enabled": True,
    }


def test_user_level_rules_are_a_listed_file_of_our_own(tmp_path):
    config = tmp_path / ".config" / "opencode"
    (file,) = described(request(tmp_path), OwnedFile, "rules")
    (item,) = described(request(tmp_path), ListItem)
    assert file.path == config / "ecc-memory.md"
    assert item == ListItem(
        "rules", config / "opencode.json", "jsonc", ("instructions",), str(config / "ecc-memory.md")
    )
    assert described(request(tmp_path), OwnedFile, "skill")[0].path == (
        tmp_path / ".agents" / "skills" / "unified-memory" / "SKILL.md"
    )


@pytest.mark.parametrize(
    ("present", "edited"),
    [
        ((), "opencode.json"),
        (("opencode.json",), "opencode.json"),
        (("opencode.jsonc",), "opencode.jsonc"),
        (("opencode.json", "opencode.jsonc"), "opencode.jsonc"),
        (("config.json",), "config.json"),
        (("config.json", "opencode.json"), "opencode.json"),
    ],
)
def test_second_config_file_created(tmp_path, present, edited):
    config = tmp_path / ".config" / "opencode"
    for name in present:
        write(config / name)
    assert entry(request(tmp_path)).path == config / edited
    says_which = bool(opencode.ecc_memory_installation(request(tmp_path)).notes)
    assert says_which == ({"opencode.json", "opencode.jsonc"} <= set(present))


@pytest.mark.parametrize(
    ("present", "edited"),
    [
        ((), "opencode.json"),
        (("opencode.jsonc",), "opencode.jsonc"),
        (("opencode.json", "opencode.jsonc"), "opencode.jsonc"),
        ((".opencode/opencode.json",), ".opencode/opencode.json"),
        (("opencode.json", ".opencode/opencode.jsonc"), "opencode.json"),
    ],
)
def test_second_config_file_created_in_a_project(tmp_path, present, edited):
    root = tmp_path / "repo"
    root.mkdir()
    for name in present:
        write(root / name)
    assert entry(request(tmp_path, root=root)).path == root / edited


@pytest.mark.parametrize(
    "text",
    [
        '{"instructions": ["a.md"]}',
        '\ufeff{\n  // "x"\n  "url": "http://x", /* , */\n  "instructions": ["a,]"], // last\n}\n',
    ],
)
def test_instructions_go_to_the_file_whose_list_counts(tmp_path, text):
    config = tmp_path / ".config" / "opencode"
    write(config / "opencode.jsonc", "{}")
    write(config / "opencode.json", text)
    (item,) = described(request(tmp_path), ListItem)
    assert item.path == config / "opencode.json"
    assert entry(request(tmp_path)).path == config / "opencode.jsonc"
    schemas = [a.path for a in described(request(tmp_path), ConfigEntry) if a.key == ("$schema",)]
    assert sorted(schemas) == [config / "opencode.json", config / "opencode.jsonc"]


@pytest.mark.parametrize("text", ["{", "[]", '{"x": "instructions"}', "\xff"])
def test_a_file_without_readable_instructions_does_not_draw_them(tmp_path, text):
    config = tmp_path / ".config" / "opencode"
    write(config / "opencode.jsonc", "{}")
    write(config / "opencode.json").write_bytes(text.encode("latin-1"))
    (item,) = described(request(tmp_path), ListItem)
    assert item.path == config / "opencode.jsonc"


def test_the_schema_is_supplied_only_where_it_is_absent_and_only_for_what_is_edited(tmp_path):
    (schema,) = [a for a in described(request(tmp_path), ConfigEntry) if a.key == ("$schema",)]
    assert schema.absent_only
    assert schema.part == "mcp"
    only_rules = request(tmp_path, parts=frozenset({"rules"}))
    assert [a.part for a in described(only_rules, ConfigEntry) if a.key == ("$schema",)] == ["rules"]


def test_project_rules_share_agents_md(tmp_path):
    assert described(request(tmp_path, root=tmp_path), MarkedBlock) == [
        MarkedBlock("rules", tmp_path / "AGENTS.md", "Recall first.\n")
    ]


@pytest.mark.parametrize("only", ["CLAUDE.md", "CONTEXT.md", ".cursorrules"])
def test_no_agents_md_is_made_beside_a_file_it_would_silence(tmp_path, only):
    write(tmp_path / only, "mine\n")
    install_request = request(tmp_path, root=tmp_path)
    assert not described(install_request, MarkedBlock)
    (item,) = described(install_request, ListItem)
    assert item.item == ".agents/ecc-memory.md"
    assert described(install_request, OwnedFile, "rules")[0].path == tmp_path / ".agents" / "ecc-memory.md"


@pytest.mark.parametrize("link", [".config/opencode/AGENTS.md", ".claude/CLAUDE.md"])
def test_global_files_linked_to_codex_share_its_block(tmp_path, link):
    shared = write(tmp_path / ".codex" / "AGENTS.md", "mine\n")
    (tmp_path / link).parent.mkdir(parents=True)
    (tmp_path / link).symlink_to(shared)
    assert described(request(tmp_path), MarkedBlock) == [MarkedBlock("rules", shared, "Recall first.\n")]
    assert not described(request(tmp_path), ListItem)


def test_relocated_home_ignored(tmp_path):
    env = {"XDG_CONFIG_HOME": str(tmp_path / "xdg")}
    assert (
        opencode.ecc_memory_detect(Surroundings(tmp_path, env)).config_home == tmp_path / "xdg" / "opencode"
    )
    assert entry(request(tmp_path, env=env)).path == tmp_path / "xdg" / "opencode" / "opencode.json"
    for blank in ("", " "):
        where = Surroundings(tmp_path, {"XDG_CONFIG_HOME": blank})
        assert opencode.ecc_memory_detect(where).config_home == tmp_path / ".config" / "opencode"


def test_a_file_nested_too_deeply_is_described_all_the_same(tmp_path):
    """The engine refuses it then, and names file and line."""
    write(tmp_path / ".config" / "opencode" / "opencode.json", '{"a":' * 5000)
    assert entry(request(tmp_path)).path.name == "opencode.json"


def test_a_pipe_in_place_of_a_file_is_not_opened(tmp_path):
    folder = tmp_path / ".config" / "opencode"
    folder.mkdir(parents=True)
    os.mkfifo(folder / "opencode.jsonc")
    assert entry(request(tmp_path)).path == folder / "opencode.json"
