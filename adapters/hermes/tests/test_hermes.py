"""What the Hermes adapter describes; the contract kit runs what it means."""

from pathlib import Path

import pytest

import ecc_memory_hermes as hermes
from ecc_memory.harness.types import (
    SERVER_NAME,
    ConfigEntry,
    InstallRequest,
    MarkedBlock,
    OwnedFile,
    Surroundings,
)


def request(home: Path, *, env=None, **changes) -> InstallRequest:
    values = {
        "level": "user",
        "where": Surroundings(home, env or {}),
        "parts": frozenset({"rules", "mcp", "skill"}),
        "server_command": "/opt/ecc/bin/ecc-memory-mcp",
        "server_env": {"ECC_MEMORY_HARNESS": "hermes"},
        "forward_env": (),
        "hook_command": ("/opt/ecc/bin/ecc-memory-hook",),
        "skill": {"SKILL.md": b"skill"},
        "rules": "Shared memory of all agents: recall first.\n",
        "version": "0.1.0",
    }
    return InstallRequest(**{**values, **changes})


def entries(install_request: InstallRequest) -> dict[tuple[str, ...], ConfigEntry]:
    artifacts = hermes.ecc_memory_installation(install_request).artifacts
    return {a.key: a for a in artifacts if isinstance(a, ConfigEntry)}


def rules(install_request: InstallRequest):
    return [a for a in hermes.ecc_memory_installation(install_request).artifacts if a.part == "rules"]


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_user_level(tmp_path):
    config = tmp_path / ".hermes" / "config.yaml"
    found = entries(request(tmp_path))
    assert found[("mcp_servers", SERVER_NAME)].value == {
        "command": "/opt/ecc/bin/ecc-memory-mcp",
        "args": [],
        "env": {"ECC_MEMORY_HARNESS": "hermes"},
    }
    timeout = found[("mcp_discovery_timeout",)]
    assert (timeout.value, timeout.absent_only) == (10, True)
    hint = found[("agent", "environment_hint")]
    assert (hint.value, hint.absent_only) == ("Shared memory of all agents: recall first.", True)
    assert {entry.path for entry in found.values()} == {config}
    artifacts = hermes.ecc_memory_installation(request(tmp_path)).artifacts
    assert [a.path for a in artifacts if isinstance(a, OwnedFile)] == [
        tmp_path / ".hermes" / "skills" / "unified-memory" / "SKILL.md"
    ]
    assert any(
        "mcp_discovery_timeout" in note for note in hermes.ecc_memory_installation(request(tmp_path)).notes
    )


def test_there_is_no_project_level():
    harness = hermes.ecc_memory_harness()
    assert set(harness.levels) == {"user"}
    assert "project" in harness.level_notes["project"]


@pytest.mark.parametrize("hint", ["Behind a proxy.", ""])
def test_a_hint_of_the_users_own_sends_the_rules_to_the_end_of_soul_md(tmp_path, hint):
    write(tmp_path / ".hermes" / "config.yaml", f'agent:\n  environment_hint: "{hint}"\n')
    assert rules(request(tmp_path)) == []
    soul = write(tmp_path / ".hermes" / "SOUL.md", "You are mine.\n")
    assert rules(request(tmp_path)) == [MarkedBlock("rules", soul, request(tmp_path).rules)]
    assert any("environment_hint" in note for note in hermes.ecc_memory_installation(request(tmp_path)).notes)


@pytest.mark.parametrize(
    "config",
    [
        "",
        "# only a comment\n",
        "agent:\n",
        "agent: text\n",
        "- a list\n",
        "a: [\n",
        "a: 1\na: 2\n",
        'agent:\n  environment_hint: "Shared memory of all agents: an older text."\n',
    ],
)
def test_otherwise_the_hint_is_ours(tmp_path, config):
    write(tmp_path / ".hermes" / "config.yaml", config)
    write(tmp_path / ".hermes" / "SOUL.md", "You are mine.\n")
    (artifact,) = rules(request(tmp_path))
    assert isinstance(artifact, ConfigEntry)


def test_relocated_home_ignored(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for value in (str(tmp_path / "moved"), "moved", f" {tmp_path / 'moved'} "):
        where = Surroundings(tmp_path, {"HERMES_HOME": value})
        assert hermes.ecc_memory_detect(where).config_home == tmp_path / "moved"
    for blank in ("", "  "):
        where = Surroundings(tmp_path, {"HERMES_HOME": blank})
        assert hermes.ecc_memory_detect(where).config_home == tmp_path / ".hermes"


def test_the_active_profile_is_the_home(tmp_path):
    where = Surroundings(tmp_path, {})
    marker = write(tmp_path / ".hermes" / "active_profile", "coder\n")
    assert hermes.ecc_memory_detect(where).config_home == tmp_path / ".hermes" / "profiles" / "coder"
    named = Surroundings(tmp_path, {"HERMES_HOME": str(tmp_path / ".hermes" / "profiles" / "writer")})
    assert hermes.ecc_memory_detect(named).config_home == tmp_path / ".hermes" / "profiles" / "writer"
    for own in ("default", ""):
        marker.write_text(own)
        assert hermes.ecc_memory_detect(where).config_home == tmp_path / ".hermes"


@pytest.mark.parametrize("text", ["born: 2020-13-45\n", "a: " + "[" * 2000, "n: !!int x\n"])
def test_a_file_that_cannot_be_read_is_described_all_the_same(tmp_path, text):
    """The engine refuses it then, and names file and line."""
    write(tmp_path / ".hermes" / "config.yaml", text)
    assert ("agent", "environment_hint") in entries(request(tmp_path))


def test_notes_speak_of_what_is_installed_only(tmp_path):
    write(tmp_path / ".hermes" / "config.yaml", "agent:\n  environment_hint: mine\n")
    notes = hermes.ecc_memory_installation(request(tmp_path, parts=frozenset({"skill"}))).notes
    assert notes == ()
