"""Hermes with our hooks: what its model is told in the first turn, and what its tools may not do."""

import json

import pytest

from .endpoint import Call, results, text_of
from .sessions import hermes

pytestmark = [pytest.mark.harness("hermes")]

HEAD = "Shared memory of all coding agents (ecc-memory) for this project:"
CONFIG = "# mine\nhooks:\n  pre_llm_call:\n    - command: 'true'   # theirs\n      timeout: 3\n"


def save(person):
    """Save a memory and give its file."""
    saved = person.output(
        "ecc", "memory", "save", "--title", "Redis", "--stdin", "--json", said="Not in JWT.\n"
    )
    return person.project / ".ecc/memory/project/notes" / f"{json.loads(saved)['memory']['id']}.md"


@pytest.fixture
def before(person):
    person.write(".hermes/config.yaml", CONFIG)
    return person.files()


def reminded(person, *steps):
    """Give the endpoint of a session that was reminded: on a busy machine not every one is."""
    models = (hermes(person, *steps) for _ in range(5))
    return next((model for model in models if HEAD in text_of(model.turns[0])), None)


def test_the_model_is_reminded_in_the_first_turn(person, before):
    person.ecc("install", "--harness", "hermes", "--reminders")
    assert HEAD not in text_of(hermes(person).turns[0])
    save(person)
    model = reminded(person, Call("memory_search", {"query": "redis"}), "done")
    shown = text_of(model.turns[0])
    assert shown.count(f"{HEAD} 1 active memory, newest ") == 1
    assert "`mcp__ecc_memory_vault__memory_search`" in shown
    assert model.tools["memory_search"] == "mcp__ecc_memory_vault__memory_search"
    assert text_of(model.turns[-1]).count(HEAD) == 1
    person.ecc("uninstall", "--harness", "hermes")
    assert HEAD not in text_of(hermes(person).turns[0])
    assert person.files()[".hermes/config.yaml"] == before[".hermes/config.yaml"]
    assert person.traces() == []


def test_hermes_itself_allows_the_hooks_and_finds_them_sound(person, before):
    person.ecc("install", "--harness", "hermes", "--reminders")
    listed = person.output("hermes", "hooks", "list")
    assert listed.count("✓ allowed") == 2
    checks = json.loads(person.run("ecc", "memory", "status", "--json").stdout)["installations"][0]["checks"]
    assert [check["answer"] for check in checks if check["part"] == "reminders"] == ["seen", "seen"]
    reminder = next(
        line for line in listed.splitlines() if "pre_llm_call" in line and "ecc-memory-hook" in line
    )
    command = reminder.strip().removeprefix("- ").partition(" (timeout=")[0]
    assert "Removed 1" in person.output("hermes", "hooks", "revoke", command)
    assert person.output("hermes", "hooks", "list").count("✓ allowed") == 1
    assert "allow the hook" in person.run("ecc", "memory", "status").stdout
    person.env["HERMES_ACCEPT_HOOKS"] = "1"
    hermes(person)  # which allows every hook, and writes it down in Hermes's own words
    assert person.output("hermes", "hooks", "list").count("✓ allowed") == 3
    person.ecc("uninstall", "--harness", "hermes")
    approvals = json.loads((person.home / ".hermes/shell-hooks-allowlist.json").read_text())["approvals"]
    assert [approval["command"] for approval in approvals] == ["true"]
    assert person.traces() == []


def test_the_guard_denies_and_says_what_to_do(person, before):
    person.ecc("install", "--harness", "hermes", "--reminders")
    memory = save(person)
    was = memory.read_bytes()
    new = memory.with_name("new.md")
    model = hermes(
        person,
        Call("patch", {"mode": "replace", "path": str(memory), "old_string": "Not", "new_string": "Yes"}),
        Call("write_file", {"path": str(new), "content": "# No memory\n"}),
        Call("write_file", {"path": "README.md", "content": "# Fine\n"}),
    )
    said = "\n".join(results(model.turns[-1]))
    assert "This file is a memory, and memories are not edited or removed." in said
    assert "This would be no valid memory: line 1 must be exactly" in said
    assert "mcp__ecc_memory_vault__memory_save" in said
    assert memory.read_bytes() == was
    assert not new.exists()
    assert (person.project / "README.md").read_text() == "# Fine\n"


@pytest.mark.parametrize("trouble", ["broken vault", "killed hook", "hook gone"])
def test_a_session_goes_on_as_if_there_were_no_hooks(person, before, trouble):
    person.ecc("install", "--harness", "hermes", "--reminders")
    memory = save(person)
    if trouble == "broken vault":
        vault = memory.parents[2]
        vault.rename(person.home / "moved")
        vault.symlink_to(person.home / "moved")
    else:
        config = person.home / ".hermes" / "config.yaml"
        lines = config.read_text().splitlines()
        command = "sh -c 'kill -9 $$'" if trouble == "killed hook" else "/gone/ecc-memory-hook"
        changed = [
            f'{line.partition("command:")[0]}command: "{command}"' if "ecc-memory-hook" in line else line
            for line in lines
        ]
        config.write_text("\n".join(changed) + "\n")
    model = hermes(person, Call("write_file", {"path": "a.txt", "content": "written\n"}))
    assert HEAD not in text_of(model.turns[0])
    assert (person.project / "a.txt").read_text() == "written\n"
