"""OpenCode itself: it sees what we install, works with it, and keeps what its user had."""

import json
import re

import pytest

from ecc_memory.guidance import rules_snippet

from .endpoint import Call, results, text_of
from .sessions import opencode

pytestmark = [pytest.mark.harness("opencode")]

CONFIG = """\
{
  "$schema": "https://opencode.ai/config.json",
  // my providers
  "username": "me",
  "mcp": {"time": {"type": "local", "command": ["uvx", "mcp-server-time"], "enabled": false}},
  "instructions": ["~/notes/style.md"], // how I write
}
"""
SNIPPET = rules_snippet().strip()


@pytest.fixture
def before(person):
    person.write(".config/opencode/opencode.jsonc", CONFIG)
    person.write(".claude/CLAUDE.md", "# Me\n\nTests first.\n")
    person.write("notes/style.md", "Short sentences.\n")
    person.write("src/repo/CLAUDE.md", "# Project\n\nUse make.\n")
    return person.files()


def config(person):
    return json.loads(person.output("opencode", "debug", "config"))


def skills(person):
    shown = person.output("opencode", "debug", "skill")
    return re.findall(r'"name": "unified-memory"', shown)


def assert_only_what_was_there(person, before):
    after = person.files()
    assert {path: after.get(path) for path in before} == before
    assert person.traces() == []


def test_user_level(person, before):
    person.ecc("install", "--harness", "opencode")
    assert "ecc-memory-vault" in person.output("opencode", "mcp", "list")
    assert config(person)["mcp"]["ecc-memory-vault"]["environment"] == {"ECC_MEMORY_HARNESS": "opencode"}
    assert set(config(person)["mcp"]) == {"time", "ecc-memory-vault"}
    assert len(skills(person)) == 1
    shown = text_of(opencode(person).turns[0])
    assert shown.count(SNIPPET) == 1
    for own in ("Tests first.", "Use make.", "Short sentences."):
        assert own in shown
    person.ecc("uninstall", "--harness", "opencode")
    assert set(config(person)["mcp"]) == {"time"}
    assert skills(person) == []
    assert SNIPPET not in text_of(opencode(person).turns[0])
    assert_only_what_was_there(person, before)


@pytest.mark.parametrize("level", ["--user", "--project"])
def test_a_configuration_we_created_is_gone_again_though_opencode_ran(person, before, level):
    (person.home / ".config/opencode/opencode.jsonc").unlink()
    person.write(".config/opencode/config.json", "{}")  # keeps OpenCode from making one of its own
    if level == "--user":
        (person.home / ".config/opencode/config.json").unlink()
    person.ecc("install", "--harness", "opencode", level)
    opencode(person)
    assert len(skills(person)) == 1
    person.ecc("uninstall", "--harness", "opencode", level)
    assert not (person.home / ".config/opencode/opencode.json").exists()
    assert not (person.project / "opencode.json").exists()
    assert person.traces() == []


@pytest.mark.parametrize("own", ["AGENTS.md", "CLAUDE.md"])
def test_project_level(person, before, own):
    (person.project / "CLAUDE.md").unlink()
    person.write(f"src/repo/{own}", "Use make.\n")
    before = person.files()
    person.ecc("install", "--harness", "opencode", "--harness", "codex", "--project")
    assert config(person)["mcp"]["ecc-memory-vault"]["command"] == ["ecc-memory-mcp"]
    assert len(skills(person)) == 1
    shown = text_of(opencode(person).turns[0])
    assert shown.count(SNIPPET) == 1
    assert "Use make." in shown
    person.ecc("uninstall", "--harness", "codex", "--project")
    shown = text_of(opencode(person).turns[0])
    assert shown.count(SNIPPET) == 1
    assert len(skills(person)) == 1
    person.ecc("uninstall", "--harness", "opencode", "--project")
    assert_only_what_was_there(person, before)


def test_opencode_rewrites_its_configuration_in_between(person, before):
    person.ecc("install", "--harness", "opencode")
    person.output("opencode", "mcp", "add", "zeta", "--env", "K=V", "--", "true")
    rewritten = person.files()
    person.ecc("install", "--harness", "opencode")
    assert person.files()[".config/opencode/opencode.jsonc"] == rewritten[".config/opencode/opencode.jsonc"]
    person.ecc("uninstall", "--harness", "opencode")
    assert set(config(person)["mcp"]) == {"time", "zeta"}
    left = (person.home / ".config/opencode/opencode.jsonc").read_text()
    assert "// my providers" in left
    assert "// how I write" in left
    assert person.traces() == []


def test_relocated_home(person, before):
    person.env["XDG_CONFIG_HOME"] = str(person.home / "elsewhere")
    person.ecc("install", "--harness", "opencode")
    assert "ecc-memory-vault" in config(person)["mcp"]
    assert text_of(opencode(person).turns[0]).count(SNIPPET) == 1
    person.ecc("uninstall", "--harness", "opencode")
    assert person.traces() == []


def test_a_session_saves_and_finds(person, before):
    person.ecc("install", "--harness", "opencode")
    save = Call("memory_save", {"title": "Sessions live in Redis", "body": "Not in JWT.", "kind": "decision"})
    model = opencode(person, save, Call("memory_search", {"query": "redis"}), "done")
    saved, found = results(model.turns[-1])
    assert "ecc.memory.write.v1" in saved
    assert "Sessions live in Redis" in found
    hit = json.loads(person.ecc("search", "redis", "--json"))["results"][0]["memory"]
    assert hit["sourceHarness"] == "opencode"
