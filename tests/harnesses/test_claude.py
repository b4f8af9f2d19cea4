"""Claude Code itself: it sees what we install, works with it, and keeps what its user had."""

import json

import pytest

from ecc_memory.guidance import rules_snippet

from .endpoint import Call, results, text_of
from .sessions import claude

pytestmark = [pytest.mark.harness("claude")]

SETTINGS = '{\n    "model": "opus",\n    "permissions": {"allow": ["Bash(ls)"]}\n}\n'
SERVERS = '{\n  "mcpServers": {\n    "time": {"command": "uvx", "args": ["mcp-server-time"]}\n  }\n}'
SNIPPET = rules_snippet().strip()


@pytest.fixture
def before(person):
    person.write(".claude/settings.json", SETTINGS)
    person.write(".claude/CLAUDE.md", "# Me\n\nTests first.\n")
    person.write("src/repo/CLAUDE.md", "# Project\n\nUse make.\n")
    person.write("src/repo/.mcp.json", SERVERS)
    return person.files()


def assert_only_what_was_there(person, before):
    after = person.files()
    assert {path: after.get(path) for path in before} == before
    assert person.traces() == []


def test_user_level(person, before):
    person.ecc("install", "--harness", "claude")
    assert "ecc-memory@skills-dir" in person.output("claude", "plugin", "list")
    assert "plugin:ecc-memory:ecc-memory-vault: " in person.output("claude", "mcp", "list")
    plugin = str(person.home / ".claude" / "skills" / "ecc-memory")
    assert "Validation passed" in person.output("claude", "plugin", "validate", plugin)
    model, init = claude(person)
    assert "ecc-memory:unified-memory" in init["skills"]
    assert {"name": "plugin:ecc-memory:ecc-memory-vault", "status": "connected", "source": "plugin"} in init[
        "mcp_servers"
    ]
    shown = text_of(model.turns[0])
    assert shown.count(SNIPPET) == 1
    assert "Tests first." in shown
    person.ecc("uninstall", "--harness", "claude")
    model, init = claude(person)
    assert not [name for name in init["skills"] if "unified-memory" in name]
    assert SNIPPET not in text_of(model.turns[0])
    assert_only_what_was_there(person, before)


def test_project_level(person, before):
    person.ecc("install", "--harness", "claude", "--project")
    model, init = claude(person)
    assert "unified-memory" in init["skills"]
    assert "ecc-memory-vault" in [server["name"] for server in init["mcp_servers"]]
    assert text_of(model.turns[0]).count(SNIPPET) == 1
    person.ecc("uninstall", "--harness", "claude", "--project")
    assert_only_what_was_there(person, before)


@pytest.mark.parametrize("claude_md", [None, "@AGENTS.md\n", "Mine.\n"])
def test_the_rules_are_read_once_whatever_the_project_has(person, before, claude_md):
    person.write("src/repo/AGENTS.md", "# Team\n")
    (person.project / "CLAUDE.md").unlink()
    if claude_md is not None:
        person.write("src/repo/CLAUDE.md", claude_md)
    before = person.files()
    person.ecc("install", "--harness", "claude", "--harness", "codex", "--project")
    model, _ = claude(person)
    assert text_of(model.turns[0]).count(SNIPPET) == 1
    person.ecc("uninstall", "--harness", "codex", "--project")
    model, _ = claude(person)
    assert text_of(model.turns[0]).count(SNIPPET) == 1
    person.ecc("uninstall", "--harness", "claude", "--project")
    assert_only_what_was_there(person, before)


def test_claude_rewrites_its_configuration_in_between(person, before):
    person.ecc("install", "--harness", "claude")
    person.ecc("install", "--harness", "claude", "--project")
    person.output("claude", "mcp", "add", "-s", "project", "zeta", "-e", "K=V", "--", "true")
    person.output("claude", "mcp", "add", "-s", "user", "eta", "--", "true")
    rewritten = person.files()
    person.ecc("install", "--harness", "claude", "--project")
    assert person.files()["src/repo/.mcp.json"] == rewritten["src/repo/.mcp.json"]
    person.ecc("uninstall", "--all")
    servers = json.loads((person.project / ".mcp.json").read_text())["mcpServers"]
    assert list(servers) == ["time", "zeta"]
    assert "eta" in json.loads((person.home / ".claude.json").read_text())["mcpServers"]
    assert person.traces() == []


def test_relocated_home(person, before):
    person.env["CLAUDE_CONFIG_DIR"] = str(person.home / "elsewhere")
    before = person.files()
    person.ecc("install", "--harness", "claude")
    model, init = claude(person)
    assert "ecc-memory:unified-memory" in init["skills"]
    assert text_of(model.turns[0]).count(SNIPPET) == 1
    person.ecc("uninstall", "--harness", "claude")
    after = person.files()
    assert {path: after.get(path) for path in before} == before


def test_a_session_saves_and_finds(person, before):
    person.ecc("install", "--harness", "claude")
    save = Call("memory_save", {"title": "Sessions live in Redis", "body": "Not in JWT.", "kind": "decision"})
    model, _ = claude(person, save, Call("memory_search", {"query": "redis"}), "done")
    assert "memory_save" in text_of({"tools": model.turns[0]["tools"]})  # there from the first turn on
    saved, found = results(model.turns[-1])
    assert "ecc.memory.write.v1" in saved
    assert "Sessions live in Redis" in found
    hit = json.loads(person.ecc("search", "redis", "--json"))["results"][0]["memory"]
    assert hit["sourceHarness"] == "claude"
