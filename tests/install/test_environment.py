"""Which program an entry names, and environments that will be thrown away."""

import os
from pathlib import Path

import pytest

from ecc_memory.install.environment import server_program, throw_away

STAY = [
    "/home/me/.local/share/uv/tools/ecc-memory",
    "/home/me/.local/share/pipx/venvs/ecc-memory",
    "/home/me/.local/pipx/venvs/ecc-memory",
    "/home/me/project/.venv",
    "/usr",
]
VANISH = {
    "/home/me/.cache/uv/archive-v0/Xk3fj-2": "uvx",
    "/home/me/.cache/uv/builds-v0/.tmpAbC": "uvx",
    "/home/me/Library/Caches/uv/archive-v0/Xk3fj-2": "uvx",
    "/home/me/.cache/uv/environments-v2/script-1": "uvx",
    "/home/me/.local/pipx/.cache/0123abc": "pipx run",
    "/home/me/.cache/pipx/0123abc": "pipx run",
    "/home/me/Library/Caches/pipx/0123abc": "pipx run",
}


@pytest.mark.parametrize("prefix", STAY)
def test_environments_that_stay(prefix):
    assert throw_away(Path(prefix)) is None


@pytest.mark.parametrize("prefix", VANISH)
def test_environments_that_vanish(prefix):
    assert throw_away(Path(prefix)) == VANISH[prefix]


def test_a_link_into_a_cache_is_seen_through(tmp_path):
    cache = tmp_path / "uv" / "archive-v0" / "x"
    cache.mkdir(parents=True)
    link = tmp_path / "environment"
    link.symlink_to(cache)
    assert throw_away(link) == "uvx"


def test_the_running_installation_is_named_by_absolute_path():
    program = server_program()
    assert program.is_absolute()
    assert os.access(program, os.X_OK)
