"""The distributions move in step, and pip and uv users get the same tools."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

import ecc_memory

if sys.version_info < (3, 11):
    import tomli as tomllib
else:
    import tomllib

ROOT = Path(__file__).resolve().parent.parent
ADAPTERS = sorted(ROOT.glob("adapters/*/pyproject.toml"))


def read(path: Path) -> dict:
    return tomllib.loads(path.read_text(encoding="utf-8"))


CORE = read(ROOT / "pyproject.toml")


def test_one_version():
    assert CORE["project"]["version"] == ecc_memory.__version__


@pytest.mark.parametrize("path", ADAPTERS, ids=lambda path: path.parent.name)
def test_an_adapter_goes_with_its_core(path):
    adapter, harness = read(path), path.parent.name
    major, minor, _ = ecc_memory.__version__.split(".")
    assert adapter["project"]["name"] == f"ecc-memory-{harness}"
    assert adapter["project"]["version"] == ecc_memory.__version__
    assert adapter["project"]["requires-python"] == CORE["project"]["requires-python"]
    needs = f"ecc-memory>={major}.{minor},<{major}.{int(minor) + 1}"
    assert any(need.replace("[yaml]", "") == needs for need in adapter["project"]["dependencies"])
    extra = CORE["project"]["optional-dependencies"][harness]
    assert extra == [f"ecc-memory-{harness}=={ecc_memory.__version__}"]


def test_pip_and_uv_users_get_the_same_tools():
    lines = (ROOT / "requirements-dev.txt").read_text(encoding="utf-8").splitlines()
    tools = [line for line in lines if line and not line.startswith(("#", "-e"))]
    assert tools == CORE["dependency-groups"]["dev"]
    editable = {line.removeprefix("-e ") for line in lines if line.startswith("-e")}
    assert editable == {".[yaml]", *(f"./adapters/{path.parent.name}" for path in ADAPTERS)}


def test_every_dependency_has_its_reason_in_the_docs():
    text = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    projects = [CORE, *(read(path) for path in ADAPTERS)]
    needs = [need for project in projects for need in project["project"]["dependencies"]]
    needs += [*CORE["dependency-groups"]["dev"], *CORE["project"]["optional-dependencies"]["yaml"]]
    names = {re.split(r"[^\w.-]", need)[0] for need in needs} - {"ecc-memory"}
    assert {name for name in names if f"`{name}`" not in text} == set()
