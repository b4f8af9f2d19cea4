"""All four on one machine: one copy of what they share, and nobody reads the rules twice."""

import pytest

from .sessions import rules_count

pytestmark = [pytest.mark.harness("claude", "codex", "hermes", "opencode")]

ORDERS = [
    (("codex", "claude", "opencode", "hermes"), ("opencode", "hermes", "codex", "claude")),
    (("hermes", "opencode", "claude", "codex"), ("codex", "claude", "hermes", "opencode")),
]


@pytest.fixture
def before(person):
    person.write(".codex/config.toml", 'model_reasoning_effort = "low" # mine\n')
    person.write(".claude/settings.json", '{"model": "opus"}\n')
    person.write(".config/opencode/opencode.json", '{"$schema": "https://opencode.ai/config.json"}\n')
    person.write(".hermes/config.yaml", "timezone: UTC # mine\n")
    return person.files()


def assert_only_what_was_there(person, before):
    after = person.files()
    assert {path: after.get(path) for path in before} == before
    assert person.traces() == []


def counts(person, slugs):
    return {slug: rules_count(person, slug) for slug in slugs}


@pytest.mark.parametrize(("come", "go"), ORDERS)
def test_user_level(person, before, come, go):
    for slug in come:
        person.ecc("install", "--harness", slug)
    assert counts(person, come) == dict.fromkeys(come, 1)
    for number, slug in enumerate(go, 1):
        person.ecc("uninstall", "--harness", slug)
        left = dict.fromkeys(go[number:], 1)
        assert counts(person, go) == {**dict.fromkeys(go, 0), **left}
    assert_only_what_was_there(person, before)


@pytest.mark.parametrize("instructions", [{}, {"AGENTS.md": "Use make.\n"}, {"CLAUDE.md": "Use make.\n"}])
@pytest.mark.parametrize(("come", "go"), ORDERS)
def test_project_level(person, before, come, go, instructions):
    for name, text in instructions.items():
        person.write(f"src/repo/{name}", text)
    before = person.files()
    come, go = ([slug for slug in order if slug != "hermes"] for order in (come, go))
    without_rules = {"codex"} if "CLAUDE.md" in instructions else set()
    for slug in come:
        person.ecc("install", "--harness", slug, "--project")
    assert counts(person, come) == {slug: int(slug not in without_rules) for slug in come}
    for slug in go[:-1]:
        person.ecc("uninstall", "--harness", slug, "--project")
    assert rules_count(person, go[-1]) == int(go[-1] not in without_rules)
    person.ecc("uninstall", "--harness", go[-1], "--project")
    assert counts(person, go) == dict.fromkeys(go, 0)
    assert_only_what_was_there(person, before)


def test_user_level_with_one_instruction_file_linked_for_all(person, before):
    shared = person.write("dotfiles/AGENTS.md", "# How I work\n\nTests first.\n")
    for link in (".codex/AGENTS.md", ".claude/CLAUDE.md", ".config/opencode/AGENTS.md"):
        (person.home / link).symlink_to(shared)
    before = person.files()
    slugs = ("claude", "codex", "opencode")
    for slug in slugs:
        person.ecc("install", "--harness", slug)
    assert counts(person, slugs) == dict.fromkeys(slugs, 1)
    person.ecc("uninstall", "--harness", "codex")
    assert counts(person, slugs) == dict.fromkeys(slugs, 1)  # the two others still own the block
    person.ecc("uninstall", "--all")
    assert counts(person, slugs) == dict.fromkeys(slugs, 0)
    assert_only_what_was_there(person, before)
