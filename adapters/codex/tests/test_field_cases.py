"""Faults of comparable tools that made Codex refuse its whole configuration, or wait in vain."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import ecc_memory_codex
from ecc_memory.errors import InstallConflict
from ecc_memory.harness.plugins import adapt
from ecc_memory.testing import Home

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

STDIO = {"command", "args", "env", "env_vars", "startup_timeout_sec"}
"""The keys of a stdio server that we write, as Codex 0.171 accepts them."""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home", [adapt(ecc_memory_codex, "codex", "ecc-memory-codex", "0")])
    (home.path / ".codex").mkdir()
    return home


def entry(home: Home) -> dict[str, object]:
    config = tomllib.loads((home.path / ".codex/config.toml").read_text(encoding="utf-8"))
    return config["mcp_servers"]["ecc-memory-vault"]


def test_wrong_schema_for_host_bricks_host(home: Home) -> None:
    """A table with both ``command`` and ``url`` makes every Codex command fail, so it never comes about."""
    original = b'[mcp_servers.ecc-memory-vault]\nurl = "http://127.0.0.1:9/mcp"\nbearer_token_env_var = "T"\n'
    config = home.write(home.path / ".codex/config.toml", original)
    with pytest.raises(InstallConflict):
        home.install("codex")
    assert config.read_bytes() == original
    home.install("codex", adopt=True)
    assert set(entry(home)) <= STDIO
    home.uninstall("codex")
    assert config.read_bytes() == original


def test_slow_first_start_timeout(home: Home) -> None:
    """An absolute, installed program and more time than Codex gives by itself (30 s in 0.171)."""
    home.install("codex")
    written = entry(home)
    assert Path(str(written["command"])).is_absolute()
    assert set(written) <= STDIO
    assert float(str(written["startup_timeout_sec"])) >= 30
