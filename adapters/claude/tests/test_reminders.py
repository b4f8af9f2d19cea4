"""Claude Code's hooks: in our plugin, and nowhere else."""

import json

import ecc_memory_claude as claude
from ecc_memory.harness.plugins import adapt
from ecc_memory.testing import Home


def hooks(path):
    registered = json.loads(path.read_text())
    assert list(registered) == ["hooks"]
    return {event: groups[0] for event, groups in registered["hooks"].items() if len(groups) == 1}


def test_user_level(tmp_path):
    home = Home(tmp_path / "home", [adapt(claude, "claude", "ecc-memory-claude", "0")])
    settings = home.write(home.path / ".claude" / "settings.json", b'{"hooks": {}}')
    home.install("claude", parts=frozenset({"mcp", "reminders"}))
    found = hooks(home.path / ".claude" / "skills" / "ecc-memory" / "hooks" / "hooks.json")
    assert list(found) == ["SessionStart", "PreCompact", "PreToolUse"]
    assert found["SessionStart"]["matcher"] == "startup|resume|clear|compact"
    assert found["PreToolUse"]["matcher"] == "Write|Edit|MultiEdit|NotebookEdit"
    for event, group in found.items():
        (hook,) = group["hooks"]
        assert (hook["type"], hook["timeout"]) == ("command", 5)
        assert hook["command"].endswith(
            f" --harness claude --tools mcp__plugin_ecc-memory_ecc-memory-vault__ --event {event}"
        )
    assert settings.read_bytes() == b'{"hooks": {}}'


def test_without_reminders_there_are_no_hooks(tmp_path):
    home = Home(tmp_path / "home", [adapt(claude, "claude", "ecc-memory-claude", "0")])
    home.install("claude")
    assert not list(home.path.rglob("hooks.json"))


def test_reminders_alone_are_a_plugin_too(tmp_path):
    home = Home(tmp_path / "home", [adapt(claude, "claude", "ecc-memory-claude", "0")])
    before = home.tree()
    home.install("claude", parts=frozenset({"reminders"}))
    plugin = home.path / ".claude" / "skills" / "ecc-memory"
    assert sorted(path.name for path in plugin.rglob("*.json")) == ["hooks.json", "plugin.json"]
    assert "--tools" not in (plugin / "hooks" / "hooks.json").read_text()
    home.uninstall("claude")
    assert home.tree() == before


def test_project_level_is_a_plugin_of_its_own(tmp_path):
    home = Home(tmp_path / "home", [adapt(claude, "claude", "ecc-memory-claude", "0")])
    outcome = home.install("claude", level="project", parts=frozenset({"mcp", "reminders"}))
    found = hooks(home.project / ".claude" / "skills" / "ecc-memory" / "hooks" / "hooks.json")
    (hook,) = found["SessionStart"]["hooks"]
    assert hook["command"].startswith(
        "command -v ecc-memory-hook >/dev/null 2>&1 || exit 0; ecc-memory-hook "
    )
    assert "--tools mcp__ecc-memory-vault__ " in hook["command"]
    assert any("trust" in note for note in outcome.notes)
