"""What the Claude Code adapter describes; the contract kit runs what it means."""

import json
from pathlib import Path

import pytest

import ecc_memory_claude as claude
from ecc_memory.harness.types import (
    SERVER_NAME,
    ConfigEntry,
    InstallRequest,
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
        "server_env": {"ECC_MEMORY_HARNESS": "claude"},
        "forward_env": (),
        "hook_command": ("ecc-memory-hook",),
        "skill": {"SKILL.md": b"skill"},
        "rules": "Recall first.\n",
        "version": "0.1.0",
    }
    return InstallRequest(**{**values, **changes})


def described(install_request: InstallRequest):
    """Give the artifacts of the parts that were asked for, as the host does."""
    artifacts = claude.ecc_memory_installation(install_request).artifacts
    return [artifact for artifact in artifacts if artifact.part in install_request.parts]


def without_reminders(install_request: InstallRequest):
    artifacts = claude.ecc_memory_installation(install_request).artifacts
    return [artifact for artifact in artifacts if artifact.part != "reminders"]


def rules(install_request: InstallRequest):
    (found,) = [artifact for artifact in described(install_request) if artifact.part == "rules"]
    return found


def write(path: Path, text: str = "mine\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "home" / "src" / "repo"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


def test_user_level_is_files_of_our_own(home):
    artifacts = described(request(home))
    plugin = home / ".claude" / "skills" / "ecc-memory"
    assert all(isinstance(artifact, OwnedFile) for artifact in artifacts)
    files = {artifact.path: artifact.content for artifact in artifacts}
    assert set(files) == {
        plugin / ".claude-plugin" / "plugin.json",
        plugin / ".mcp.json",
        plugin / "skills" / "unified-memory" / "SKILL.md",
        home / ".claude" / "rules" / "ecc-memory.md",
    }
    server = json.loads(files[plugin / ".mcp.json"])["mcpServers"][SERVER_NAME]
    assert server == {
        "type": "stdio",
        "command": "/opt/ecc/bin/ecc-memory-mcp",
        "args": [],
        "env": {"ECC_MEMORY_HARNESS": "claude"},
        "alwaysLoad": True,
    }
    assert json.loads(files[plugin / ".claude-plugin" / "plugin.json"])["version"] == "0.1.0"


def test_the_manifest_comes_with_the_skill_when_there_is_no_server(home):
    artifacts = described(request(home, parts=frozenset({"skill"})))
    assert [a.part for a in artifacts if a.path.name == "plugin.json"] == ["skill"]


def test_project_level(home, root):
    write(root / "CLAUDE.md")
    artifacts = described(request(home, root=root))
    (entry,) = [artifact for artifact in artifacts if isinstance(artifact, ConfigEntry)]
    assert (entry.path, entry.format, entry.key) == (root / ".mcp.json", "json", ("mcpServers", SERVER_NAME))
    assert entry.value["command"] == "ecc-memory-mcp"
    assert [a.path for a in artifacts if isinstance(a, OwnedFile)] == [
        root / ".claude" / "skills" / "unified-memory" / "SKILL.md",
        root / ".claude" / "rules" / "ecc-memory.md",
    ]


@pytest.mark.parametrize("present", [(), ("AGENTS.md",)])
def test_where_claude_reads_agents_md_the_block_there_is_shared(home, root, present):
    for name in present:
        write(root / name)
    write(home / ".claude" / "CLAUDE.md")  # the global one suppresses nothing
    assert rules(request(home, root=root)) == MarkedBlock("rules", root / "AGENTS.md", "Recall first.\n")


@pytest.mark.parametrize(
    "memory", ["CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md", "../CLAUDE.md", "../../CLAUDE.md"]
)
def test_where_a_claude_md_suppresses_agents_md_the_rules_folder_is_used(home, root, memory):
    write(root / "AGENTS.md")
    write(root / memory)
    assert rules(request(home, root=root)).path == root / ".claude" / "rules" / "ecc-memory.md"


@pytest.mark.parametrize(
    "text", ["", "\n\n", "@AGENTS.md\n", "see @./AGENTS.md and more\n", "@docs/all.md\n"]
)
def test_a_blank_or_importing_claude_md_still_reads_agents_md(home, root, text):
    write(root / "AGENTS.md")
    write(root / "docs" / "all.md", "@../AGENTS.md\n@all.md\n")
    write(root / "CLAUDE.md", text)
    assert isinstance(rules(request(home, root=root)), MarkedBlock)


@pytest.mark.parametrize("text", ["`@AGENTS.md`\n", "```\n@AGENTS.md\n```\n", "me@AGENTS.md\n", "@gone.md\n"])
def test_what_only_looks_like_an_import_reads_nothing(home, root, text):
    write(root / "AGENTS.md")
    write(root / "CLAUDE.md", text)
    assert isinstance(rules(request(home, root=root)), OwnedFile)


def test_a_claude_md_linked_to_agents_md_reads_it(home, root):
    write(root / "AGENTS.md")
    (root / "CLAUDE.md").symlink_to("AGENTS.md")
    assert isinstance(rules(request(home, root=root)), MarkedBlock)


def test_no_agents_md_is_made_beside_a_file_it_would_silence(home, root):
    write(root / ".cursorrules")
    assert rules(request(home, root=root)).path == root / ".claude" / "rules" / "ecc-memory.md"


@pytest.mark.parametrize("link", [".claude/CLAUDE.md", ".claude/rules/shared.md"])
def test_global_files_linked_to_codex_share_its_block(home, link):
    shared = write(home / ".codex" / "AGENTS.md")
    (home / link).parent.mkdir(parents=True, exist_ok=True)
    (home / link).symlink_to(shared)
    assert rules(request(home)) == MarkedBlock("rules", shared, "Recall first.\n")


def test_relocated_home_ignored(home, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for value in (str(tmp_path / "moved"), "moved"):
        where = Surroundings(home, {"CLAUDE_CONFIG_DIR": value})
        assert claude.ecc_memory_detect(where).config_home == tmp_path / "moved"
        assert rules(request(home, env=where.env)).path == tmp_path / "moved" / "rules" / "ecc-memory.md"
    for blank in ("", "  "):
        notes = claude.ecc_memory_installation(request(home, env={"CLAUDE_CONFIG_DIR": blank})).notes
        assert any("CLAUDE_CONFIG_DIR" in note for note in notes)
        assert rules(request(home, env={"CLAUDE_CONFIG_DIR": blank})).path.is_relative_to(home / ".claude")
