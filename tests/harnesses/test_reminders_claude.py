"""Claude Code with our hooks: what its model is told, and what its file tools may not do to a vault."""

import json

import pytest

from .endpoint import Call, ScriptedModel, results, text_of
from .sessions import CLAUDE_TOOLS, QUIET

pytestmark = [pytest.mark.harness("claude")]

HEAD = "Shared memory of all coding agents (ecc-memory) for this project:"
TOOL = "mcp__plugin_ecc-memory_ecc-memory-vault__memory_search"


def session(person, *steps, prompt="hello", more=()):
    """Run one session in which the file tools need no consent; give the endpoint."""
    with ScriptedModel(*steps) as model:
        person.output(
            "claude", "-p", prompt, "--output-format", "stream-json", "--verbose",
            "--permission-mode", "acceptEdits", "--allowedTools", CLAUDE_TOOLS, *more,
            ANTHROPIC_BASE_URL=model.url, **QUIET["claude"],
        )  # fmt: skip
    return model


def reminded(person, *more):
    """Give what the model of a session is shown that was reminded: on a busy machine not every one is."""
    texts = (text_of(session(person, more=more).turns[0]) for _ in range(5))
    return next((text for text in texts if f"{HEAD} 1 active" in text), "")


def save(person, title="Sessions live in Redis", *more):
    """Save a memory and give its file."""
    saved = person.output(
        "ecc", "memory", "save", "--title", title, "--stdin", "--json", *more, said="Not in JWT.\n"
    )
    return person.project / ".ecc/memory/project/notes" / f"{json.loads(saved)['memory']['id']}.md"


def test_the_model_is_reminded(person):
    person.ecc("install", "--harness", "claude", "--reminders")
    assert HEAD not in text_of(session(person).turns[0])  # an empty vault is not worth a word
    save(person)
    shown = reminded(person)
    assert shown.count(f"{HEAD} 1 active memory, newest ") == 1
    assert f"`{TOOL}`" in shown
    assert session(person).tools["memory_search"] == TOOL
    assert "Redis" not in shown
    again = reminded(person, "--continue")
    assert again.count("- Recall: ") == 1  # the session's own; the counts come anew
    person.ecc("uninstall", "--harness", "claude")
    assert HEAD not in text_of(session(person).turns[0])
    assert person.traces() == []


def compacted(person):
    """Run a session, compact it, and give what the summary was asked for and what came after it."""
    session(person, "hello to you")
    with ScriptedModel() as model:
        asked = []
        model.next_step = lambda body: (asked.append(text_of(body)), "A summary.")[1]
        person.output(
            "claude", "-p", "/compact", "--continue", "--output-format", "stream-json", "--verbose",
            ANTHROPIC_BASE_URL=model.url, **QUIET["claude"],
        )  # fmt: skip
    return "\n".join(asked), text_of(session(person, more=("--continue",)).turns[0])


def test_a_compaction_keeps_what_a_handoff_needs(person):
    person.ecc("install", "--harness", "claude", "--reminders")
    save(person)
    tries = (compacted(person) for _ in range(4))
    kept = "Keep what a handoff saved later with `mcp__"
    again = "After the compaction: what the summary holds"
    assert any(kept in asked and again in after for asked, after in tries)


def test_the_guard_denies_and_says_what_to_do(person):
    person.ecc("install", "--harness", "claude", "--reminders")
    memory = save(person)
    before = memory.read_bytes()
    new = memory.with_name("new.md")
    model = session(
        person,
        Call("Read", {"file_path": str(memory)}),
        Call("Edit", {"file_path": str(memory), "old_string": "Not in JWT.", "new_string": "In JWT."}),
        Call("Write", {"file_path": str(new), "content": "# No memory\n"}),
        Call("Write", {"file_path": str(memory.parents[1] / ".gitignore"), "content": "\n"}),
        Call("Write", {"file_path": str(person.project / "README.md"), "content": "# Fine\n"}),
    )
    said = "\n".join(results(model.turns[-1]))
    assert "This file is a memory, and memories are not edited or removed." in said
    assert "This would be no valid memory: line 1 must be exactly" in said
    assert "This .gitignore keeps the project's memories private" in said
    assert "mcp__plugin_ecc-memory_ecc-memory-vault__memory_save" in said
    assert memory.read_bytes() == before
    assert not new.exists()
    assert (person.project / "README.md").read_text() == "# Fine\n"


@pytest.mark.parametrize("trouble", ["broken vault", "killed hook", "hook gone"])
def test_a_session_goes_on_as_if_there_were_no_hooks(person, trouble):
    person.ecc("install", "--harness", "claude", "--reminders")
    memory = save(person)
    hooks = person.home / ".claude/skills/ecc-memory/hooks/hooks.json"
    if trouble == "broken vault":
        vault = memory.parents[2]
        vault.rename(person.home / "moved")
        vault.symlink_to(person.home / "moved")
    else:
        command = "kill -9 $$" if trouble == "killed hook" else "/gone/ecc-memory-hook"
        registered = json.loads(hooks.read_text())
        for groups in registered["hooks"].values():
            groups[0]["hooks"][0]["command"] = command
        hooks.write_text(json.dumps(registered))
    target = person.project / "a.txt"
    model = session(person, Call("Write", {"file_path": str(target), "content": "written\n"}))
    assert HEAD not in text_of(model.turns[0])
    assert target.read_text() == "written\n"


def test_status_runs_what_is_registered(person):
    person.ecc("install", "--harness", "claude", "--reminders")
    checks = json.loads(person.ecc("status", "--json"))["installations"][0]["checks"]
    assert [check["answer"] for check in checks if check["part"] == "reminders"] == ["seen"]
    hooks = person.home / ".claude/skills/ecc-memory/hooks/hooks.json"
    hooks.write_text(hooks.read_text().replace("/ecc-memory-hook", "/gone/ecc-memory-hook"))
    said = json.loads(person.run("ecc", "memory", "status", "--json").stdout)
    checks = said["installations"][0]["checks"]
    assert [check["answer"] for check in checks if check["part"] == "reminders"] == ["not seen"]


def test_project_level(person):
    person.ecc("install", "--harness", "claude", "--project", "--reminders")
    save(person)
    trusted = {"projects": {str(person.project): {"hasTrustDialogAccepted": True}}}
    person.write(".claude.json", json.dumps(trusted))
    shown = reminded(person)
    assert shown.count(HEAD) == 1
    assert "`mcp__ecc-memory-vault__memory_search`" in shown
    person.env["PATH"] = "/usr/bin:/bin:" + ":".join(map(str, person.programs))  # a colleague without us
    assert HEAD not in text_of(session(person).turns[0])
