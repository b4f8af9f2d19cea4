"""Codex with our hooks: trusted or not, what its model is told, and what its file tool may not do."""

import json

import pytest
import tomli

from .app_server import ask
from .endpoint import Patch, ScriptedModel, results, text_of

pytestmark = [pytest.mark.harness("codex")]

HEAD = "Shared memory of all coding agents (ecc-memory) for this project:"
THEIRS = '{"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "true"}]}]}}\n'


def session(person, *steps, more=()):
    """Run one session with a model that has the patch tool; give the endpoint."""
    with ScriptedModel(*steps) as model:
        provider = {"name": '"stub"', "base_url": f'"{model.url}/v1"', "wire_api": '"responses"'}
        retries = {"request_max_retries": "0", "stream_max_retries": "0"}
        settings = {f"model_providers.stub.{key}": value for key, value in {**provider, **retries}.items()}
        settings |= {"model": '"gpt-5.5"', "model_provider": '"stub"', "analytics.enabled": "false"}
        options = [part for key, value in settings.items() for part in ("-c", f"{key}={value}")]
        sandbox = ("--skip-git-repo-check", "--sandbox", "danger-full-access")
        person.output("codex", "exec", *sandbox, *options, *more, "hello")
    return model


def save(person):
    """Save a memory and give its file."""
    saved = person.output(
        "ecc", "memory", "save", "--title", "Redis", "--stdin", "--json", said="Not in JWT.\n"
    )
    return person.project / ".ecc/memory/project/notes" / f"{json.loads(saved)['memory']['id']}.md"


def listed(person):
    """Give our hooks as Codex lists them."""
    hooks = ask(person, "hooks/list", {"cwds": [str(person.project)]})["data"][0]["hooks"]
    return [hook for hook in hooks if "ecc-memory-hook" in hook["command"]]


def trust(person):
    """Write down the trust that Codex writes when its user chooses to trust the hooks."""
    config = person.home / ".codex" / "config.toml"
    before = config.read_text() if config.exists() else ""
    tables = (f"[hooks.state.{json.dumps(hook['key'])}]\ntrusted_hash = \"{hook['currentHash']}\"\n"
              for hook in listed(person))  # fmt: skip
    config.write_text(before + "\n" + "\n".join(tables))


def reminded(person):
    """Give what the model of a session is shown that was reminded: on a busy machine not every one is."""
    texts = (text_of(session(person).turns[0]) for _ in range(5))
    return next((text for text in texts if f"{HEAD} 1 active" in text), "")


def test_the_model_is_reminded_once_the_hook_is_trusted(person):
    person.write(".codex/hooks.json", THEIRS)
    before = person.files()
    said = person.ecc("install", "--harness", "codex", "--reminders")
    assert "trust" in said
    save(person)
    assert [hook["trustStatus"] for hook in listed(person)] == ["untrusted", "untrusted"]
    assert HEAD not in text_of(session(person).turns[0])
    assert "trust the hooks" in person.run("ecc", "memory", "status").stdout
    trust(person)
    assert "trust the hooks" not in person.run("ecc", "memory", "status").stdout
    shown = reminded(person)
    assert shown.count(HEAD) == 1
    assert "`mcp__ecc_memory_vault.memory_search`" in shown
    upgraded = person.files()
    person.ecc("install", "--harness", "codex", "--reminders")
    assert person.files() == upgraded
    assert [hook["trustStatus"] for hook in listed(person)] == ["trusted", "trusted"]
    person.ecc("uninstall", "--harness", "codex")
    after = person.files()
    assert after[".codex/hooks.json"] == before[".codex/hooks.json"]
    assert ".codex/config.toml" not in after  # we had made it, and nothing but our trust was added
    assert HEAD not in text_of(session(person).turns[0])
    assert person.traces() == []


def test_trust_in_others_stays(person):
    person.write(".codex/hooks.json", THEIRS)
    (theirs,) = ask(person, "hooks/list", {"cwds": [str(person.project)]})["data"][0]["hooks"]
    state = f'[hooks.state.{json.dumps(theirs["key"])}]\ntrusted_hash = "{theirs["currentHash"]}"\n'
    person.write(".codex/config.toml", state)
    person.ecc("install", "--harness", "codex", "--reminders")
    trust(person)
    person.ecc("uninstall", "--harness", "codex")
    (left,) = ask(person, "hooks/list", {"cwds": [str(person.project)]})["data"][0]["hooks"]
    assert left["trustStatus"] == "trusted"
    assert list(tomli.loads((person.home / ".codex/config.toml").read_text())["hooks"]["state"]) == [
        theirs["key"]
    ]


def test_the_guard_denies_and_says_what_to_do(person):
    person.ecc("install", "--harness", "codex", "--reminders")
    trust(person)
    memory = save(person)
    before = memory.read_bytes()
    name = memory.relative_to(person.project)
    model = session(
        person,
        Patch(f"*** Begin Patch\n*** Update File: {name}\n@@\n-Not in JWT.\n+In JWT.\n*** End Patch\n"),
        Patch(f"*** Begin Patch\n*** Add File: {name.parent}/new.md\n+# No memory\n*** End Patch\n"),
        Patch(f"*** Begin Patch\n*** Delete File: {name}\n*** End Patch\n"),
        Patch("*** Begin Patch\n*** Add File: README.md\n+# Fine\n*** End Patch\n"),
    )
    said = "\n".join(results(model.turns[-1]))
    assert said.count("This file is a memory, and memories are not edited or removed.") == 2
    assert "This would be no valid memory: line 1 must be exactly" in said
    assert "mcp__ecc_memory_vault.memory_save" in said
    assert memory.read_bytes() == before
    assert not memory.with_name("new.md").exists()
    assert (person.project / "README.md").read_text() == "# Fine\n"


@pytest.mark.parametrize("trouble", ["broken vault", "killed hook", "hook gone"])
def test_a_session_goes_on_as_if_there_were_no_hooks(person, trouble):
    person.ecc("install", "--harness", "codex", "--reminders")
    memory = save(person)
    hooks = person.home / ".codex" / "hooks.json"
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
    trust(person)
    model = session(person, Patch("*** Begin Patch\n*** Add File: a.txt\n+written\n*** End Patch\n"))
    assert HEAD not in text_of(model.turns[0])
    assert (person.project / "a.txt").read_text() == "written\n"


def test_project_level(person):
    trusted = f'[projects."{person.project}"]\ntrust_level = "trusted"\n'
    person.write(".codex/config.toml", trusted)
    before = person.files()
    person.ecc("install", "--harness", "codex", "--project", "--reminders")
    save(person)
    trust(person)
    shown = reminded(person)
    assert shown.count(HEAD) == 1
    person.ecc("uninstall", "--harness", "codex", "--project")
    after = person.files()
    assert tomli.loads(after[".codex/config.toml"].decode()) == tomli.loads(trusted)
    assert {path for path in after if path.startswith("src/repo/.codex")} == {
        path for path in before if path.startswith("src/repo/.codex")
    }
