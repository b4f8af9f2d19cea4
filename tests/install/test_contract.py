"""The contract kit on an invented adapter, and that it notices the faults it is there for."""

import subprocess
import sys
import textwrap

import pytest

from ecc_memory.testing import AdapterContract

from .invented import plugin


class TestAcme(AdapterContract):
    plugin = plugin("acme")


ADAPTER = """
from pathlib import Path
from ecc_memory.harness.hookspecs import hookimpl
from ecc_memory.harness.types import *

@hookimpl
def ecc_memory_harness():
    return Harness(slug="quux", name="Quux", levels={"user": frozenset({"rules", "mcp"})})

@hookimpl
def ecc_memory_detect(where):
    return Detection(found=False, config_home=where.home / ".quux")

@hookimpl
def ecc_memory_installation(request):
    home = request.where.home / ".quux"
    server = {"command": request.server_command, "env": dict(request.server_env)}
    return Installation(artifacts=(
        MarkedBlock("rules", home / "RULES.md", request.rules),
        ConfigEntry("mcp", home / "config.toml", "toml", ("servers", SERVER_NAME), server),
    ))
"""
FAULTS = {
    "": "",
    "test_describing_touches_nothing": (
        'home = request.where.home / ".quux"',
        'home = request.where.home / ".quux"; home.mkdir(exist_ok=True)',
    ),
    "test_every_supported_part_is_described": ('"rules", "mcp"}', '"rules", "mcp", "skill"}'),
    "test_files_stay_where_the_level_says": ('request.where.home / ".quux"', 'Path("/opt/quux")'),
    "test_the_server_gets_its_identity": ("dict(request.server_env)", "{}"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_kit_notices(fault, tmp_path):
    """A stranger's adapter, with and without a fault, in a test run of its own."""
    (tmp_path / "quux_adapter.py").write_text(ADAPTER.replace(*FAULTS[fault]) if fault else ADAPTER)
    (tmp_path / "test_quux.py").write_text(
        textwrap.dedent(
            """
            import quux_adapter
            from ecc_memory.testing import AdapterContract

            class TestQuux(AdapterContract):
                plugin = quux_adapter
            """
        )
    )
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", f"--basetemp={tmp_path / 'temporary'}"]
    words += ["-k", fault] if fault else []
    result = subprocess.run(
        [sys.executable, *words], check=False, cwd=tmp_path, capture_output=True, text=True
    )
    assert result.returncode == (1 if fault else 0), result.stdout
    assert f"{fault}[user]" in result.stdout or not fault
