"""What the Codex adapter describes; the contract kit runs what it means."""

import os
from pathlib import Path

import pytest

import ecc_memory_codex as codex
from ecc_memory.errors import InstallError
from ecc_memory.harness.types import (
    SERVER_NAME,
    ConfigEntry,
    InstallRequest,
    MarkedBlock,
    OwnedFile,
    Surroundings,
)


def request(home: Path, *, root: Path | None = None, env=None, **changes) -> InstallRequest:
    level = "project" if root else "user"
    values = {
        "level": level,
        "where": Surroundings(home, env or {}, root),
        "parts": frozenset({"rules", "mcp", "skill"}),
        "server_command": "ecc-memory-mcp" if root else "/opt/ecc/bin/ecc-memory-mcp",
        "server_env": {"ECC_MEMORY_HARNESS": "codex"},
        "forward_env": () if root else ("ECC_MEMORY_PROJECT_ROOT", "ECC_MEMORY_USER_ROOT"),
        "hook_command": ("ecc-memory-hook",),
        "skill": {"SKILL.md": b"skill", "references/more.md": b"more"},
        "rules": "Recall first.\n",
        "version": "0.1.0",
    }
    return InstallRequest(**{**values, **changes})


def described(install_request: InstallRequest, kind: type):
    found = [a for a in codex.ecc_memory_installation(install_request).artifacts if isinstance(a, kind)]
    return found if kind is OwnedFile else found[0]


def test_user_level(tmp_path):
    install_request = request(tmp_path)
    assert described(install_request, ConfigEntry) == ConfigEntry(
        "mcp",
        tmp_path / ".codex" / "config.toml",
        "toml",
        ("mcp_servers", SERVER_NAME),
        {
            "command": "/opt/ecc/bin/ecc-memory-mcp",
            "env": {"ECC_MEMORY_HARNESS": "codex"},
            "startup_timeout_sec": 60.0,
            "env_vars": ["ECC_MEMORY_PROJECT_ROOT", "ECC_MEMORY_USER_ROOT"],
        },
    )
    assert described(install_request, MarkedBlock).path == tmp_path / ".codex" / "AGENTS.md"
    skill = tmp_path / ".agents" / "skills" / "unified-memory"
    assert [a.path for a in described(install_request, OwnedFile)] == [
        skill / "SKILL.md",
        skill / "references" / "more.md",
    ]


def test_the_first_turn_waits_for_the_tools_where_the_person_has_not_decided(tmp_path):
    entries = [
        a for a in codex.ecc_memory_installation(request(tmp_path)).artifacts if isinstance(a, ConfigEntry)
    ]
    config = tmp_path / ".codex" / "config.toml"
    grace = ("mcp_optional_startup_grace_ms",)
    assert ConfigEntry("mcp", config, "toml", grace, 10_000, absent_only=True) in entries


def test_project_level_names_the_bare_command_and_forwards_nothing(tmp_path):
    root = tmp_path / "repo"
    root.mkdir()
    entry = described(request(tmp_path, root=root), ConfigEntry)
    assert entry.path == root / ".codex" / "config.toml"
    assert entry.value["command"] == "ecc-memory-mcp"
    assert "env_vars" not in entry.value
    assert described(request(tmp_path, root=root), MarkedBlock).path == root / "AGENTS.md"
    assert any("trust" in note for note in codex.ecc_memory_installation(request(tmp_path, root=root)).notes)


@pytest.mark.parametrize(
    ("content", "read"),
    [(None, "AGENTS.md"), (b"", "AGENTS.md"), (b" \n\t\n", "AGENTS.md"), (b"mine\n", "AGENTS.override.md"),
     (b"\xef\xbb\xbf", "AGENTS.override.md"), (b"\xff\xfe", "AGENTS.override.md")],
)  # fmt: skip
def test_global_rules_go_where_codex_reads(tmp_path, content, read):
    home = tmp_path / ".codex"
    home.mkdir()
    if content is not None:
        (home / "AGENTS.override.md").write_bytes(content)
    assert described(request(tmp_path), MarkedBlock).path == home / read


def test_an_empty_project_override_hides_agents_md_so_the_rules_go_there(tmp_path):
    (tmp_path / "AGENTS.md").write_text("team rules\n")
    (tmp_path / "AGENTS.override.md").touch()
    assert described(request(tmp_path, root=tmp_path), MarkedBlock).path == tmp_path / "AGENTS.override.md"


@pytest.mark.parametrize("only", ["CLAUDE.md", "CONTEXT.md", ".cursorrules"])
def test_no_agents_md_is_made_beside_a_file_it_would_silence(tmp_path, only):
    (tmp_path / only).write_text("mine\n")
    installation = codex.ecc_memory_installation(request(tmp_path, root=tmp_path))
    assert not [a for a in installation.artifacts if isinstance(a, MarkedBlock)]
    assert any("No rules were written" in note for note in installation.notes)
    (tmp_path / "AGENTS.md").write_text("there\n")
    assert described(request(tmp_path, root=tmp_path), MarkedBlock).path == tmp_path / "AGENTS.md"


def test_an_agents_md_that_holds_only_our_block_goes_when_it_would_silence_another(tmp_path):
    ours = "<!-- ecc-memory:begin -->\nRecall first.\n<!-- ecc-memory:end -->\n"
    (tmp_path / "AGENTS.md").write_text(ours)
    assert described(request(tmp_path, root=tmp_path), MarkedBlock).path == tmp_path / "AGENTS.md"
    (tmp_path / "CLAUDE.md").write_text("added later\n")
    installation = codex.ecc_memory_installation(request(tmp_path, root=tmp_path))
    assert not [a for a in installation.artifacts if isinstance(a, MarkedBlock)]
    (tmp_path / "AGENTS.md").write_text(f"mine\n\n{ours}")
    assert described(request(tmp_path, root=tmp_path), MarkedBlock).path == tmp_path / "AGENTS.md"


def test_an_override_that_holds_only_our_block_is_none_of_the_users(tmp_path):
    home = tmp_path / ".codex"
    home.mkdir()
    ours = "<!-- ecc-memory:begin -->\nRecall first.\n<!-- ecc-memory:end -->\n"
    (home / "AGENTS.override.md").write_text(ours)
    assert described(request(tmp_path), MarkedBlock).path == home / "AGENTS.md"


@pytest.mark.parametrize("blank", ["", "   "])
def test_relocated_home_ignored(tmp_path, monkeypatch, blank):
    moved = tmp_path / "moved"
    moved.mkdir()
    monkeypatch.chdir(tmp_path)
    for value in (str(moved), "moved"):
        install_request = request(tmp_path, env={"CODEX_HOME": value})
        assert described(install_request, ConfigEntry).path == moved / "config.toml"
    assert (
        codex.ecc_memory_detect(Surroundings(tmp_path, {"CODEX_HOME": blank})).config_home
        == tmp_path / ".codex"
    )


def test_a_missing_codex_home_is_refused_as_codex_refuses_it(tmp_path):
    gone = tmp_path / "gone"
    with pytest.raises(InstallError, match="CODEX_HOME") as raised:
        codex.ecc_memory_installation(request(tmp_path, env={"CODEX_HOME": str(gone)}))
    assert str(tmp_path) not in raised.value.message
    assert raised.value.detail == str(gone)


def test_detection(tmp_path):
    where = Surroundings(tmp_path, {"PATH": str(tmp_path / "bin")})
    assert not codex.ecc_memory_detect(where).found
    assert codex.ecc_memory_checks(where, "user") == ()
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "codex"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert codex.ecc_memory_detect(where).executable == program
    assert all(os.path.isabs(check.argv[0]) for check in codex.ecc_memory_checks(where, "user"))
