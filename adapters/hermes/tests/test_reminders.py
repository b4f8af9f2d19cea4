"""Hermes's hooks: beside the user's own, with the consent that they need, and both out again."""

import json

import pytest

import ecc_memory_hermes as hermes
from ecc_memory.harness.plugins import adapt
from ecc_memory.testing import Home

PARTS = frozenset({"mcp", "reminders"})
CONFIG = b"# mine\nhooks:\n  pre_llm_call:\n    - command: python3 hook.py  # theirs\n"
ALLOWED = {"approvals": [{"approved_at": "2026-01-01T00:00:00Z", "command": "python3 hook.py",
                          "event": "pre_llm_call"}]}  # fmt: skip


@pytest.fixture
def home(tmp_path):
    home = Home(tmp_path / "home", [adapt(hermes, "hermes", "ecc-memory-hermes", "0")])
    home.write(home.path / ".hermes" / "config.yaml", CONFIG)
    return home


def allowed(home):
    return json.loads((home.path / ".hermes" / "shell-hooks-allowlist.json").read_text())["approvals"]


def test_hooks_and_their_consent_come_and_go(home):
    before = home.tree()
    outcome = home.install("hermes", parts=PARTS)
    config = (home.path / ".hermes" / "config.yaml").read_text()
    assert "python3 hook.py  # theirs" in config
    for entry in allowed(home):
        assert set(entry) == {"event", "command"}
        assert entry["command"] in config
    assert {entry["event"] for entry in allowed(home)} == {"pre_llm_call", "pre_tool_call"}
    assert any("hermes hooks revoke" in note for note in outcome.notes)
    home.uninstall("hermes")
    assert home.tree() == before


def test_consents_that_hermes_wrote_go_too(home):
    path = home.write(home.path / ".hermes" / "shell-hooks-allowlist.json", json.dumps(ALLOWED).encode())
    home.install("hermes", parts=PARTS)
    rewritten = [{**entry, "approved_at": "2026-11-29T00:00:00Z"} for entry in allowed(home)]
    path.write_text(json.dumps({"approvals": rewritten}, indent=2, sort_keys=True))
    home.uninstall("hermes")
    assert allowed(home) == [{**ALLOWED["approvals"][0], "approved_at": "2026-11-29T00:00:00Z"}]


@pytest.mark.parametrize("content", [b"[]", b"not JSON", b'{"approvals": 7}'])
def test_an_allowlist_that_cannot_be_edited_is_left_alone(home, content):
    home.install("hermes", parts=PARTS)
    path = home.write(home.path / ".hermes" / "shell-hooks-allowlist.json", content)
    adapter = home.context.plugins.get("hermes")
    assert adapter.residue(home.context.surroundings("user"), ()) == ()
    assert path.read_bytes() == content
