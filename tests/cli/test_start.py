"""What a command may import before it answers: this is what keeps it quick."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {
    "anyio",
    "asyncio",
    "importlib.metadata",
    "logging",
    "markdown_it",
    "mcp",
    "pluggy",
    "pydantic",
    "rich",
    "ruamel",
    "sqlite3",
    "tomli",
    "tomllib",
    "ecc_memory.cli.install_commands",
    "ecc_memory.guidance",
    "ecc_memory.harness",
    "ecc_memory.install",
    "ecc_memory.mcp",
    "ecc_memory.reminders",
}
PROBE = """
import sys
sys.argv = sys.argv[1:]
from ecc_memory.cli import main
try:
    main()
finally:
    print("\\n".join(sys.modules), file=sys.stderr)
"""


def imported(ecc, *args: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", PROBE, "ecc", *args],
        cwd=ecc.cwd, env=ecc.env, input="Body.", capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    return set(done.stderr.splitlines())


@pytest.mark.parametrize(
    "args",
    [
        ("--version",),
        ("memory", "search", "x"),
        ("memory", "save", "--title", "T", "--stdin"),
        ("memory", "doctor"),
        ("memory", "search", "--help"),
    ],
)
def test_vault_commands_import_nothing_heavy(ecc, args):
    assert imported(ecc, *args) & HEAVY == set()


def test_search_does_not_import_the_other_commands(ecc):
    modules = imported(ecc, "memory", "search", "x")
    assert {name for name in modules if name.startswith("ecc_memory.cli.")} == {
        f"ecc_memory.cli.{name}" for name in ("app", "describe", "options", "output", "run", "search")
    }


def test_importing_the_package_imports_nothing(ecc):
    done = subprocess.run(
        [sys.executable, "-c", "import sys, ecc_memory.cli; print('typer' in sys.modules)"],
        env=ecc.env, capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    assert done.stdout == "False\n"
