"""What is loaded when. How long it takes is in benchmarks/mcp_server.py."""

from __future__ import annotations

import subprocess
import sys

import pytest

from .conftest import Machine

LATER = {
    "ecc_memory.mcp": ["mcp.server", "mcp_types", "pydantic", "anyio", "ecc_memory.vault"],
    "ecc_memory.mcp.launch": ["mcp.server", "mcp_types", "pydantic", "anyio", "ecc_memory.vault"],
    "ecc_memory.mcp.run": ["ecc_memory.vault", "ecc_memory.harness", "ecc_memory.cli", "pluggy", "typer"],
}


@pytest.mark.parametrize("module", LATER)
def test_nothing_is_loaded_before_it_is_needed(machine: Machine, module: str) -> None:
    code = f"import sys, {module}; print([name for name in {LATER[module]!r} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=machine.env(), check=True
    )
    assert done.stdout.strip() == "[]"
