"""The matrix's own check, made on adapters that are broken on purpose: each turns it red."""

import importlib.util
import json
import shutil
from pathlib import Path

import pytest

from .handoffs import SLUGS, hand_over

SERVER = {
    "codex": ('("mcp_servers", SERVER_NAME)', '("mcpServers", SERVER_NAME)'),
    "claude": ('{"mcpServers": {SERVER_NAME: ', '{"mcp_servers": {SERVER_NAME: '),
    "opencode": ('("mcp", SERVER_NAME)', '("mcpServers", SERVER_NAME)'),
    "hermes": ('("mcp_servers", SERVER_NAME)', '("mcpServers", SERVER_NAME)'),
}
IDENTITY = {
    "codex": ('"env": dict(', '"environment": dict('),
    "claude": ('"env": dict(', '"environment": dict('),
    "opencode": ('"environment": dict(', '"env": dict('),
    "hermes": ('"env": dict(', '"environment": dict('),
}
MISTAKES = {"wrong key": SERVER, "wrong envelope": IDENTITY}
CASES = [
    pytest.param(slug, mistake, marks=pytest.mark.harness(slug)) for slug in SLUGS for mistake in MISTAKES
]


def broken_copy(folder, slug, mistake):
    """Copy an adapter's package with one mistake in it; give the folder that it is imported from."""
    name = f"ecc_memory_{slug}"
    package = Path(importlib.util.find_spec(name).origin).parent
    shutil.copytree(package, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    source = folder / name / "__init__.py"
    right, wrong = MISTAKES[mistake][slug]
    text = source.read_text()
    assert text.count(right) == 1
    source.write_text(text.replace(right, wrong))
    return folder


@pytest.mark.parametrize(("slug", "mistake"), CASES)
def test_a_broken_adapter_fails_the_matrix(person, tmp_path, slug, mistake):
    person.write(".codex/config.toml", "")
    folder = broken_copy(tmp_path / "broken", slug, mistake)
    person.output("ecc", "memory", "install", "--harness", slug, PYTHONPATH=str(folder))
    receiver = next(other for other in SLUGS if other != slug)
    with pytest.raises(AssertionError):
        hand_over(person, slug, receiver)
    assert json.loads(person.ecc("search", "--json"))["results"] == []
