"""Codex itself: it sees what we install, works with it, and keeps what its user had."""

import json

import pytest

from ecc_memory.guidance import rules_snippet

from .app_server import skills
from .endpoint import Call, Script, results, text_of
from .sessions import codex

pytestmark = [pytest.mark.harness("codex")]

CONFIG = """\
# pinned, see wiki
model = "gpt-x"

[mcp_servers.time]   # mine
command = "uvx"
args = ["mcp-server-time", "--local-timezone=UTC"]
enabled = false
startup_timeout_ms = 20_000

[mcp_servers.time.env]
B = "2"
A = "1"
"""


def server(person):
    done = person.run("codex", "mcp", "get", "ecc-memory-vault", "--json")
    return json.loads(done.stdout)["transport"] if done.returncode == 0 else None


def prompt(person):
    shown = json.loads(person.output("codex", "debug", "prompt-input", "hello"))
    return "\n".join(part["text"] for item in shown for part in item["content"])


@pytest.fixture
def before(person):
    person.write(".codex/config.toml", CONFIG)
    person.write(".codex/AGENTS.md", "# How I work\n\nTests first.\n")
    person.write("src/repo/AGENTS.md", "# This project\r\n\r\nUse make.\r\n")
    return person.files()


def assert_only_what_was_there(person, before):
    after = person.files()
    assert {path: after.get(path) for path in before} == before
    assert person.traces() == []


def test_user_level(person, before):
    person.ecc("install", "--harness", "codex")
    assert server(person)["env"] == {"ECC_MEMORY_HARNESS": "codex"}
    assert {"ECC_MEMORY_PROJECT_ROOT", "ECC_MEMORY_USER_ROOT"} == set(server(person)["env_vars"])
    assert skills(person) == [str(person.home / ".agents/skills/unified-memory/SKILL.md")]
    assert prompt(person).count(rules_snippet().strip()) == 1
    assert "Tests first." in prompt(person)
    person.ecc("uninstall", "--harness", "codex")
    assert server(person) is None
    assert rules_snippet().strip() not in prompt(person)
    assert_only_what_was_there(person, before)


def test_project_level(person, before):
    person.ecc("install", "--harness", "codex", "--project")
    assert skills(person) == [str(person.project / ".agents/skills/unified-memory/SKILL.md")]
    assert prompt(person).count(rules_snippet().strip()) == 1
    assert "Use make." in prompt(person)
    assert server(person) is None  # not trusted yet
    trust = f'\n[projects."{person.project}"]\ntrust_level = "trusted"\n'
    config = person.write(".codex/config.toml", CONFIG + trust)
    assert server(person)["command"] == "ecc-memory-mcp"
    config.write_text(CONFIG)
    person.ecc("uninstall", "--harness", "codex", "--project")
    assert_only_what_was_there(person, before)


@pytest.mark.parametrize("override", ["", "Only this.\n"])
def test_the_rules_are_where_codex_reads(person, before, override):
    person.write(".codex/AGENTS.override.md", override)
    person.write("src/repo/AGENTS.override.md", override)
    before = person.files()
    person.ecc("install", "--harness", "codex")
    assert prompt(person).count(rules_snippet().strip()) == 1
    person.ecc("install", "--harness", "codex", "--project")
    assert prompt(person).count(rules_snippet().strip()) == 2
    person.ecc("uninstall", "--all")
    assert_only_what_was_there(person, before)


def test_codex_rewrites_its_configuration_in_between(person, before):
    person.ecc("install", "--harness", "codex")
    person.output("codex", "mcp", "add", "zeta", "--env", "K=V", "--", "true")
    rewritten = person.files()
    assert "Nothing" in person.ecc("install", "--harness", "codex") or person.files() == rewritten
    assert server(person)["env"] == {"ECC_MEMORY_HARNESS": "codex"}
    person.ecc("uninstall", "--harness", "codex")
    assert server(person) is None
    left = json.loads(person.output("codex", "mcp", "list", "--json"))
    assert sorted(entry["name"] for entry in left) == ["time", "zeta"]
    assert 'model = "gpt-x"' in person.files()[".codex/config.toml"].decode()
    assert person.traces() == []


def test_relocated_home(person):
    person.env["CODEX_HOME"] = str(person.home / "elsewhere")
    person.write("elsewhere/config.toml", CONFIG)
    before = person.files()
    person.ecc("install", "--harness", "codex")
    assert server(person)["env"] == {"ECC_MEMORY_HARNESS": "codex"}
    assert prompt(person).count(rules_snippet().strip()) == 1
    assert not (person.home / ".codex").exists()
    person.ecc("uninstall", "--harness", "codex")
    assert_only_what_was_there(person, before)


def test_a_session_saves_and_finds(person):
    save = Call("memory_save", {"title": "Sessions live in Redis", "body": "Not in JWT.", "kind": "decision"})
    person.write(".codex/config.toml", CONFIG)
    person.ecc("install", "--harness", "codex")
    model = codex(person, save, Call("memory_search", {"query": "redis"}), "done")
    assert rules_snippet().strip() in text_of(model.turns[0])
    saved, found = results(model.turns[-1])
    assert "ecc.memory.write.v1" in saved
    assert "Sessions live in Redis" in found
    assert "not instructions" in found
    hit = json.loads(person.ecc("search", "redis", "--json"))["results"][0]["memory"]
    assert hit["sourceHarness"] == "codex"


def test_a_script_of_its_newer_models_saves_and_finds(person):
    """Such a model is shown no tools of servers; its scripts find them by name."""
    person.write(".codex/config.toml", "# no model of mine\n")
    person.ecc("install", "--harness", "codex")
    source = """
    await tools.mcp__ecc_memory_vault__memory_save({title: "Sessions live in Redis", body: "Not in JWT."});
    text(await tools.mcp__ecc_memory_vault__memory_search({query: "redis"}));
    """
    model = codex(person, Script(source), "done", model_name=None)
    (found,) = results(model.turns[-1])
    assert "Sessions live in Redis" in found
    assert "Sessions live in Redis" in person.ecc("search", "redis")
