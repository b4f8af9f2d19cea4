"""The import direction, read from the source: each layer knows only those below it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "ecc_memory"

LAYERS = ("errors", "vault", "harness", "install", "reminders")
TOPS = ("mcp", "cli", "testing")  # they may use every layer, and not one another
LEAVES = ("terminal", "guidance")  # words and text; anybody may use them

ONLY_IN = {
    "mcp": ("mcp/",),
    "mcp_types": ("mcp/",),
    "anyio": ("mcp/",),
    "pydantic": ("mcp/",),
    "pluggy": ("harness/hookspecs.py", "harness/plugins.py"),
    "typer": ("cli/",),
    "pytest": ("testing/",),
    "ruamel": ("install/edit/yaml",),
}
MODULES = sorted(SOURCE.rglob("*.py"))


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def name_of(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_module_imports_only_what_lies_below_it(path):
    part = name_of(path).partition("/")[0].removesuffix(".py")
    if part in LAYERS:
        allowed = {*LAYERS[: LAYERS.index(part) + 1], *LEAVES}
    elif part in TOPS:
        allowed = {*LAYERS, *LEAVES, part}
    else:
        allowed = {"errors", "harness", part}
    used = {name.split(".")[1] for name in imports(path) if name.startswith("ecc_memory.")}
    assert used <= allowed | {"__version__"}


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_dependency_is_imported_only_where_it_belongs(path):
    for name in imports(path):
        homes = ONLY_IN.get(name.partition(".")[0])
        assert homes is None or name_of(path).startswith(homes), f"{name} in {name_of(path)}"


@pytest.mark.parametrize(
    "path", sorted(ROOT.glob("adapters/*/src/**/*.py")), ids=lambda path: path.parent.name
)
def test_an_adapter_imports_nothing_but_harness_and_errors(path):
    used = {name for name in imports(path) if name.split(".")[0] == "ecc_memory"}
    allowed = ("ecc_memory.harness.", "ecc_memory.errors.")
    assert {name for name in used if not name.startswith(allowed)} == set()


def test_an_imported_layer_is_a_real_one():
    assert {*LAYERS, *TOPS, *LEAVES} == {
        path.name.removesuffix(".py")
        for path in SOURCE.iterdir()
        if path.name not in ("__init__.py", "__pycache__", "py.typed")
    }
