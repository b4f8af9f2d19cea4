"""The page about writing adapters: its files, installed with pip as a distribution of their own, work."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "writing-an-adapter.md"
FILE = re.compile(r"<!-- file: (\S+) -->\n```\w+\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def acme(tmp_path_factory):
    """Write the page's files and install them; return the project and the environment to use it in."""
    project = tmp_path_factory.mktemp("acme")
    for name, text in FILE.findall(PAGE.read_text(encoding="utf-8")):
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    site = project / "site"
    words = ["-m", "pip", "install", "--quiet", "--no-deps", "--target", str(site), str(project)]
    result = subprocess.run([sys.executable, *words], check=False, capture_output=True, text=True)
    if (
        result.returncode != 0
        and "hatchling" in result.stderr
        and "No matching distribution" in result.stderr
    ):
        pytest.skip("pip cannot reach an index to fetch the build back end")
    assert result.returncode == 0, result.stderr
    home = project / "home"
    (home / ".acme").mkdir(parents=True)
    return project, {**os.environ, "HOME": str(home), "PYTHONPATH": str(site)}


def run(acme, *words):
    project, env = acme
    return subprocess.run(
        [sys.executable, *words], check=False, cwd=project, env=env, capture_output=True, text=True
    )


def test_the_page_has_its_four_files():
    names = [name for name, _ in FILE.findall(PAGE.read_text(encoding="utf-8"))]
    assert names == ["pyproject.toml", "src/ecc_memory_acme/__init__.py", "tests/test_acme.py", "try.sh"]


def test_the_adapter_passes_the_contract(acme):
    result = run(acme, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--basetemp=temporary", "tests")
    assert result.returncode == 0, result.stdout


def test_the_adapter_is_discovered_and_installs(acme):
    listed = json.loads(run(acme, "-m", "ecc_memory.cli", "harnesses", "--json").stdout)
    (entry,) = [one for one in listed["harnesses"] if one["slug"] == "acme"]
    assert (entry["distribution"], entry["version"], entry["detected"]) == ("ecc-memory-acme", "0.1.0", True)
    result = run(acme, "-m", "ecc_memory.cli", "install", "--harness", "acme")
    assert result.returncode == 0, result.stderr
    config = acme[0] / "home" / ".acme" / "acme.json"
    assert json.loads(config.read_text())["servers"]["ecc-memory-vault"]["env"] == {
        "ECC_MEMORY_HARNESS": "acme"
    }
    assert run(acme, "-m", "ecc_memory.cli", "uninstall", "--harness", "acme").returncode == 0
    assert not config.exists()
