"""A machine that is busy with other things: the tools are still there in the first turn."""

import os
import subprocess
import sys

import pytest

from .endpoint import text_of
from .handoffs import SLUGS, session

CASES = [pytest.param(slug, marks=pytest.mark.harness(slug)) for slug in SLUGS]


@pytest.fixture
def busy_loops():
    """As many as the machine has processors, two at least."""
    count = max(2, os.cpu_count() or 2)
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    yield
    for loop in loops:
        loop.kill()
        loop.wait()


def assert_tools_at_once(person, slug, figures):
    person.write(".codex/config.toml", "")
    person.ecc("install", "--harness", slug)
    load = round(os.getloadavg()[0], 1)
    model = session(person, slug)
    assert "memory_search" in text_of({"tools": model.turns[0]["tools"]})
    figures += [("load", load), ("seconds", round(model.waited, 1))]


@pytest.mark.parametrize("slug", CASES)
def test_the_first_turn_has_the_tools(person, slug, request):
    assert_tools_at_once(person, slug, request.node.user_properties)


@pytest.mark.parametrize("slug", CASES)
def test_the_first_turn_beside_busy_loops_has_the_tools(person, slug, request, busy_loops):
    assert_tools_at_once(person, slug, request.node.user_properties)
