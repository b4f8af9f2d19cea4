"""Codex's hooks: last in their lists, the same after every upgrade, and no trust left behind."""

import json

import pytest

import ecc_memory_codex as codex
from ecc_memory.errors import InstallConflict
from ecc_memory.harness.plugins import adapt
from ecc_memory.testing import Home

PARTS = frozenset({"mcp", "reminders"})
THEIRS = [
    {"hooks": [{"type": "command", "command": "python3 /home/u/projects/ecc-memory-notes/hook.py"}]},
    {"hooks": [{"type": "command", "command": "bash ~/.other/hooks/ecc-memory-hook reminder"}]},
]


@pytest.fixture
def home(tmp_path):
    home = Home(tmp_path / "home", [adapt(codex, "codex", "ecc-memory-codex", "0")])
    home.write(home.path / ".codex" / "hooks.json", json.dumps({"hooks": {"SessionStart": THEIRS}}).encode())
    return home


def state(path, event, group, key="trusted_hash", value='"sha256:aa"'):
    return f'\n[hooks.state."{path}:{event}:{group}:0"]\n{key} = {value}\n'


def test_substring_match_uninstall(home):
    """A hook of the user's that only looks like ours stays, and stays before ours."""
    before = home.tree()
    home.install("codex", parts=PARTS)
    groups = json.loads((home.path / ".codex" / "hooks.json").read_text())["hooks"]
    assert groups["SessionStart"][:2] == THEIRS
    assert len(groups["SessionStart"]) == 3
    assert groups["PreToolUse"][0]["matcher"] == "^apply_patch$"
    home.uninstall("codex")
    assert home.tree() == before


def test_an_upgrade_changes_nothing_that_is_trusted(home, monkeypatch):
    home.install("codex", parts=PARTS)
    before = home.tree(times=True)
    monkeypatch.setattr("ecc_memory.install.request.__version__", "9.9.9")
    home.install("codex", parts=PARTS)
    after = home.tree(times=True)
    assert after[".codex/hooks.json"] == before[".codex/hooks.json"]


def test_our_trust_goes_and_theirs_stays(home):
    config = home.write(home.path / ".codex" / "config.toml", b'model = "x"  # mine\n')
    home.install("codex", parts=PARTS)
    hooks = home.path / ".codex" / "hooks.json"
    theirs = state(hooks, "session_start", 0) + state("/elsewhere/hooks.json", "session_start", 2)
    ours = state(hooks, "session_start", 2) + state(hooks, "pre_tool_use", 0, "enabled", "false")
    config.write_text(config.read_text() + theirs + ours)
    home.uninstall("codex")
    assert config.read_text().split() == ('model = "x"  # mine\n' + theirs).split()


def test_an_edited_hook_is_kept_until_forced_and_its_trust_goes(home):
    """Somebody gives our hook more time: it stays ours, and is neither called gone nor doubled."""
    before = home.tree()
    home.install("codex", parts=frozenset({"reminders"}))
    hooks = home.path / ".codex" / "hooks.json"
    groups = json.loads(hooks.read_text())
    groups["hooks"]["SessionStart"][2]["hooks"][0]["timeout"] = 30
    hooks.write_text(json.dumps(groups))
    edited = hooks.read_bytes()
    assert home.uninstall("codex", dry_run=True).kept
    with pytest.raises(InstallConflict):
        home.install("codex", parts=frozenset({"reminders"}))
    assert hooks.read_bytes() == edited
    config = home.write(
        home.path / ".codex" / "config.toml", state(hooks, "session_start", 2).lstrip().encode()
    )
    home.uninstall("codex", force=True)
    assert json.loads(hooks.read_text()) == {"hooks": {"SessionStart": THEIRS}}
    assert config.read_text().strip() == ""
    config.unlink()
    assert home.tree().keys() == before.keys()


def test_our_hook_in_a_group_with_theirs_takes_nothing_of_theirs_along(home):
    home.install("codex", parts=frozenset({"reminders"}))
    hooks = home.path / ".codex" / "hooks.json"
    groups = json.loads(hooks.read_text())
    groups["hooks"]["SessionStart"][2]["hooks"].append({"type": "command", "command": "theirs"})
    hooks.write_text(json.dumps(groups))
    home.uninstall("codex", force=True)
    left = json.loads(hooks.read_text())["hooks"]["SessionStart"]
    assert left == groups["hooks"]["SessionStart"]


def test_nothing_of_a_file_that_was_only_trust(home):
    home.install("codex", parts=frozenset({"reminders"}))
    config = home.write(
        home.path / ".codex" / "config.toml",
        state(home.path / ".codex" / "hooks.json", "session_start", 2).encode(),
    )
    home.uninstall("codex")
    assert "hooks" not in config.read_text()


def test_a_project_s_trust_stands_in_the_user_s_file(home):
    config = home.write(home.path / ".codex" / "config.toml", b"")
    home.install("codex", level="project", parts=PARTS)
    config.write_text(state(home.project / ".codex" / "hooks.json", "session_start", 0).lstrip())
    home.uninstall("codex", level="project")
    assert config.read_text().strip() == ""


@pytest.mark.parametrize("content", ["no = [", "hooks = 7", "[hooks]\nstate = []\n"])
def test_what_cannot_be_read_holds_no_trust(home, content):
    home.install("codex", parts=frozenset({"reminders"}))
    home.write(home.path / ".codex" / "config.toml", content.encode())
    home.uninstall("codex")
    assert (home.path / ".codex" / "config.toml").read_text() == content


def test_the_person_is_told_to_trust_them(home):
    assert any("only after you trust it" in note for note in home.install("codex", parts=PARTS).notes)
    assert not any("trust it" in note for note in home.install("codex").notes)


def test_status_asks_for_our_hooks_only(home):
    from ecc_memory_codex.reminders import our_commands

    home.write(home.path / ".codex" / "hooks.json", b'{"hooks": {"Stop": [{"hooks": [{"command": 7}]}]}}')
    assert our_commands(home.path / ".codex" / "hooks.json") == []
    home.install("codex", parts=PARTS)
    commands = our_commands(home.path / ".codex" / "hooks.json")
    assert [command.split()[1] for command in commands] == ["reminder", "guard"]
    assert our_commands(home.path / "gone.json") == []
