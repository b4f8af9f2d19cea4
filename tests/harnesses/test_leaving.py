"""Installed everywhere with everything, used, and taken out again: what was there is there, and no more."""

import pytest

from ecc_memory.guidance import rules_snippet

from .endpoint import Call, results, text_of
from .handoffs import SLUGS, session

pytestmark = [pytest.mark.harness(*SLUGS)]

BEFORE = {
    ".codex/config.toml": '# mine\r\nmodel_reasoning_effort = "low"\r\n\r\n'
    '[mcp_servers.time]\r\ncommand = "true"\r\nenabled = false',
    ".codex/AGENTS.md": "# How I work\n\nTests first.",
    ".codex/hooks.json": '{"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "true"}]}]}}',
    ".claude/settings.json": '{\n\t"permissions": {"allow": ["Bash(ls)"]}\n}',
    ".claude/CLAUDE.md": "Tests first.\n",
    ".claude/skills/mine/SKILL.md": "---\nname: mine\ndescription: Mine.\n---\nMine.\n",
    ".config/opencode/opencode.jsonc": '{\n  "$schema": "https://opencode.ai/config.json", // mine\n'
    '  "instructions": ["~/style.md"],\n}\n',
    ".hermes/config.yaml": "# mine\ntimezone: UTC   # here\nhooks:\n  pre_llm_call:\n  - command: 'true'\n",
    ".hermes/SOUL.md": "You are Ada.\n",
    ".agents/skills/mine/SKILL.md": "---\nname: mine\ndescription: Mine.\n---\nMine.\n",
    "src/repo/AGENTS.md": "# Project\r\n\r\nUse make.\r\n",
    "src/repo/.mcp.json": '{"mcpServers": {}}',
    "src/repo/opencode.json": '{"$schema": "https://opencode.ai/config.json"}',
    "style.md": "Short sentences.\n",
}
OURS = ("ecc-memory", "ecc_memory", "unified-memory", "memory_search", rules_snippet().strip())


def holds_something(path):
    """Say whether a folder is used by others by now; what of ours is in it, is told by itself."""
    return path.is_dir() and any(path.iterdir())


@pytest.fixture(scope="module")
def gone(people):
    """A person who has had everything of ours, the modes of what was there, and what installing made."""
    person = people(*SLUGS)
    for path, text in BEFORE.items():
        person.write(path, text).chmod(0o640)
    person.output("ecc", "memory", "init")
    modes = {path: (person.home / path).stat().st_mode for path in BEFORE}
    before = set(person.home.rglob("*"))
    person.ecc("install", "--reminders", *(word for slug in SLUGS for word in ("--harness", slug)))
    in_project = [word for slug in SLUGS if slug != "hermes" for word in ("--harness", slug)]
    person.ecc("install", "--reminders", "--project", *in_project)
    made = set(person.home.rglob("*")) - before
    for slug in SLUGS:
        used = session(person, slug, Call("memory_save", {"title": f"By {slug}", "body": "Used."}))
        assert "memory_save" in used.tools
        assert len(results(used.turns[-1])) == 1
    person.ecc("uninstall", "--all")
    return person, modes, made


def test_every_byte_is_back(gone):
    person, modes, _ = gone
    for path, text in BEFORE.items():
        assert (person.home / path).read_bytes() == text.encode(), path
        assert (person.home / path).stat().st_mode == modes[path], path


def test_nothing_of_ours_is_left(gone):
    person, _, made = gone
    assert len(made) > 20
    assert [path for path in made if path.exists() and not holds_something(path)] == []
    assert person.traces() == []
    assert "nothing" in person.ecc("status").lower()


@pytest.mark.parametrize("slug", SLUGS)
def test_it_starts_clean(gone, slug):
    person, *_ = gone
    model = session(person, slug)
    shown = text_of(model.turns[0])
    for word in OURS:
        assert word not in shown
    for path, text in BEFORE.items():
        assert (person.home / path).read_bytes() == text.encode(), path
