"""The commands by which ``status`` asks each program tell an installation from none."""

import subprocess
from importlib import import_module

import pytest

from ecc_memory.harness.types import Surroundings

SEEN = {
    "claude": {"user": {"skill", "mcp"}, "project": {"mcp"}},
    "codex": {"user": {"skill", "rules", "mcp"}, "project": {"skill", "rules"}},  # mcp once it is trusted
    "hermes": {"user": {"skill", "mcp"}},
    "opencode": {"user": {"skill", "rules", "mcp"}, "project": {"skill", "mcp"}},
}

CASES = [
    pytest.param(slug, level, marks=pytest.mark.harness(slug))
    for slug, levels in SEEN.items()
    for level in levels
]


def seen(person, slug, level):
    where = Surroundings(person.home, person.environment(), person.project if level == "project" else None)
    found = set()
    for check in import_module(f"ecc_memory_{slug}").ecc_memory_checks(where, level):
        done = subprocess.run(
            check.argv,
            cwd=check.cwd or person.home,
            env={**person.environment(), **check.env},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        if check.expect in done.stdout:
            found.add(check.part)
    return found


@pytest.mark.parametrize(("slug", "level"), CASES)
def test_a_check_sees_what_is_installed_and_nothing_else(person, slug, level):
    person.write(".codex/config.toml", "")
    assert seen(person, slug, level) == set()
    person.ecc("install", "--harness", slug, f"--{level}")
    assert seen(person, slug, level) == SEEN[slug][level]
