"""What exists is documented, and what the documents say exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ecc_memory.cli.app import COMMANDS

ROOT = Path(__file__).resolve().parent.parent
READMES = ["README.md", "README.zh-CN.md"]
DOCUMENTS = [
    *(path for path in ROOT.glob("*.md")),
    *(path for path in (ROOT / "docs").rglob("*.md")),
]
TOOLS = ["memory_save", "memory_search", "memory_read", "memory_doctor"]


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def blocks(name: str) -> list[str]:
    return re.findall(r"^```sh\n(.*?)^```$", text(name), re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("name", READMES)
def test_two_blocks_of_one_command_each(name):
    first, second = blocks(name)
    for block in (first, second):
        [command] = block.splitlines()
        interpreter, script = command.split()
        assert interpreter == "sh"
        assert (ROOT / script).is_file()


def test_both_languages_give_the_same_commands():
    assert blocks(READMES[0]) == blocks(READMES[1])


@pytest.mark.parametrize("name", READMES)
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_in_the_readme(name, command):
    assert re.search(rf"^\|.*`{command}`", text(name), re.MULTILINE)


@pytest.mark.parametrize("name", READMES)
@pytest.mark.parametrize("tool", TOOLS)
def test_every_tool_is_in_the_readme(name, tool):
    assert f"`{tool}`" in text(name)


def test_the_tools_are_these():
    source = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "src/ecc_memory/mcp").glob("*.py"))
    assert set(re.findall(r'"(memory_[a-z]+)"', source)) == set(TOOLS)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(path):
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", path.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (path.parent / target).exists(), target


@pytest.mark.parametrize("name", READMES)
def test_every_example_of_the_readme_is_a_command(name):
    used = re.findall(r"^ {4}.*?\becc memory (\S+)", text(name), re.MULTILINE)
    assert len(used) >= 8
    assert set(used) <= set(COMMANDS)


def test_every_setting_and_error_code_is_documented():
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    names = set(re.findall(r'"(ECC_(?:MEMORY_[A-Z_]+|DRY_RUN))"', sources))
    documented = set(re.findall(r"ECC_[A-Z_]+", text("docs/command-line.md")))
    assert names - documented == set()
