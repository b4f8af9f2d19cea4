"""Hermes itself: it sees what we install, works with it, and keeps what its user had."""

import json
import re

import pytest

from ecc_memory.guidance import rules_snippet

from .endpoint import Call, results, text_of
from .person import BIN
from .sessions import hermes

pytestmark = [pytest.mark.harness("hermes")]

CONFIG = """\
# Mine; see the wiki.
terminal:
    backend: local   # four spaces, on purpose
    'timeout': 180

mcp_servers:   # hand-picked
  time:
    command: "true"
    enabled: false
# the end
"""
SNIPPET = rules_snippet().strip()


@pytest.fixture
def before(person):
    person.write(".hermes/config.yaml", CONFIG)
    person.write(".hermes/SOUL.md", "You are Ada.\n")
    person.write("src/repo/CLAUDE.md", "# Project\n\nUse make.\n")
    return person.files()


def skills(person):
    return re.findall(r"unified-memory +│", person.output("hermes", "skills", "list"))


def assert_only_what_was_there(person, before):
    after = person.files()
    assert {path: after.get(path) for path in before} == before
    assert person.traces() == []


def test_user_level(person, before):
    person.ecc("install", "--harness", "hermes")
    assert "memory_search" in person.output("hermes", "mcp", "test", "ecc-memory-vault")
    assert len(skills(person)) == 1
    shown = text_of(hermes(person).turns[0])
    assert shown.count(SNIPPET) == 1
    for own in ("You are Ada.", "Use make.", "recall, save, hand off."):
        assert own in shown
    person.ecc("uninstall", "--harness", "hermes")
    assert skills(person) == []
    assert SNIPPET not in text_of(hermes(person).turns[0])
    assert_only_what_was_there(person, before)


def test_a_hint_of_the_users_own_stays(person, before):
    person.write(".hermes/config.yaml", CONFIG + 'agent:\n  environment_hint: "Behind a proxy."\n')
    before = person.files()
    person.ecc("install", "--harness", "hermes")
    shown = text_of(hermes(person).turns[0])
    assert shown.count(SNIPPET) == 1
    for own in ("You are Ada.", "Behind a proxy."):
        assert own in shown
    assert "BLOCKED" not in shown
    person.ecc("uninstall", "--harness", "hermes")
    assert_only_what_was_there(person, before)


def test_hermes_rewrites_its_configuration_in_between(person, before):
    person.ecc("install", "--harness", "hermes")
    zeta = person.home / "zeta-server"
    zeta.symlink_to(BIN / "ecc-memory-mcp")
    add = ("hermes", "mcp", "add", "zeta", "--command", str(zeta), "--env", "ECC_MEMORY_HARNESS=zeta")
    person.output(*add, said="Y\n")
    person.output("hermes", "config", "set", "terminal.timeout", "90")
    rewritten = person.files()[".hermes/config.yaml"]
    assert b"# Mine" not in rewritten  # it dropped every comment
    person.ecc("install", "--harness", "hermes")
    assert person.files()[".hermes/config.yaml"] == rewritten
    assert "memory_search" in person.output("hermes", "mcp", "test", "ecc-memory-vault")
    person.ecc("uninstall", "--harness", "hermes")
    left = person.files()[".hermes/config.yaml"].decode()
    for theirs in ("time:", "zeta:", "timeout: 90"):
        assert theirs in left
    assert "environment_hint" not in left
    zeta.unlink()
    assert person.traces() == []


def test_relocated_home(person):
    person.env["HERMES_HOME"] = str(person.home / "elsewhere")
    person.write("elsewhere/config.yaml", CONFIG)
    before = person.files()
    person.ecc("install", "--harness", "hermes")
    assert "memory_search" in person.output("hermes", "mcp", "test", "ecc-memory-vault")
    assert len(skills(person)) == 1
    person.ecc("uninstall", "--harness", "hermes")
    after = person.files()
    assert {path: after.get(path) for path in before} == before
    assert not (person.home / ".hermes").exists()


def test_the_active_profile(person, before):
    person.output("hermes", "profile", "create", "coder")
    person.output("hermes", "profile", "use", "coder")
    person.ecc("install", "--harness", "hermes")
    assert "memory_search" in person.output("hermes", "mcp", "test", "ecc-memory-vault")
    assert len(skills(person)) == 1
    assert person.files()[".hermes/config.yaml"] == before[".hermes/config.yaml"]


def test_there_is_no_project_level(person, before):
    refused = person.run("ecc", "memory", "install", "--harness", "hermes", "--project")
    assert refused.returncode == 1
    assert "no configuration of its own in a project" in refused.stderr
    assert_only_what_was_there(person, before)


def test_a_session_saves_and_finds(person, before):
    person.ecc("install", "--harness", "hermes")
    save = Call("memory_save", {"title": "Sessions live in Redis", "body": "Not in JWT.", "kind": "decision"})
    model = hermes(person, save, Call("memory_search", {"query": "redis"}), "done")
    saved, found = results(model.turns[-1])
    assert "ecc.memory.write.v1" in saved
    assert "Sessions live in Redis" in found
    hit = json.loads(person.ecc("search", "redis", "--json"))["results"][0]["memory"]
    assert hit["sourceHarness"] == "hermes"
