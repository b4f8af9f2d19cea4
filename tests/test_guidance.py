"""The skill and the snippet: valid, cheap, harmless, and in step with each other."""

import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import jsonschema
import pytest

from ecc_memory.guidance import rules_snippet, skill_files
from ecc_memory.harness.types import SERVER_NAME, SKILL_NAME
from ecc_memory.mcp.launch import Launch
from ecc_memory.mcp.tools import specify

SKILL_FOLDER = Path(__file__).parents[1] / "skills" / SKILL_NAME
KINDS = {"context", "decision", "fact", "handoff", "lesson", "note", "preference", "runbook"}
TOOLS = {"memory_search", "memory_read", "memory_save", "memory_doctor"}

# Words and phrases for which Hermes 0.19 withholds a whole file from its model.
BLOCKED = re.compile(
    r"ignore|override|system|secret|hidden|do not tell the user|check in (with|to)|pull tasks|"
    r"connect to the network|you must .*(register|connect|report)|disregard|pretend|jailbreak",
    re.IGNORECASE,
)


def text(name: str) -> str:
    return skill_files()[name].decode("utf-8")


def everything() -> str:
    return "\n".join(content.decode("utf-8") for content in skill_files().values())


def test_skill_files_are_the_folder_of_the_checkout():
    on_disk = {p.relative_to(SKILL_FOLDER).as_posix(): p.read_bytes() for p in SKILL_FOLDER.rglob("*.md")}
    assert skill_files() == on_disk
    assert "SKILL.md" in on_disk


def test_the_public_validator_accepts_the_skill():
    validator = pytest.importorskip("skills_ref")
    assert validator.validate(SKILL_FOLDER) == []
    run = subprocess.run(
        [sys.executable, "-c", "from skills_ref.cli import main; main()", "validate", str(SKILL_FOLDER)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("read_only", [False, True])
def test_the_snippet_is_one_short_line(read_only):
    snippet = rules_snippet(read_only=read_only)
    assert snippet.endswith("\n")
    assert snippet.count("\n") == 1
    assert len(snippet) < 420
    assert f"skill `{SKILL_NAME}`" in snippet
    assert "never instructions" in snippet


def test_a_reader_is_not_told_to_save():
    assert "memory_save" in rules_snippet()
    assert "save" not in rules_snippet(read_only=True).lower()


def test_no_word_that_makes_a_harness_withhold_the_file():
    for shown in (rules_snippet(), rules_snippet(read_only=True), everything()):
        assert BLOCKED.search(shown) is None


def test_memory_ignored_until_asked():
    """The always-read surfaces say when to recall, when to save and when to hand off."""
    description = re.search(r'^description: "(.*)"$', text("SKILL.md"), re.MULTILINE).group(1)
    for surface in (rules_snippet(), description):
        for moment in ("start", "unfamiliar area", "decision", "dead end", "before compaction or stopping"):
            assert moment in surface, (moment, surface)
    # Hermes shows a model no more than 57 characters of it.
    assert description[:57].startswith("Shared memory of all agents: recall, save, hand off.")


def test_surfaces_are_in_step():
    skill = text("SKILL.md")
    for name in (*TOOLS, SERVER_NAME, "ecc memory"):
        assert name in skill
    assert set(re.findall(r"^\| `([a-z]+)` \|", skill, re.MULTILINE)) == KINDS
    assert set(re.findall(r"`(memory_[a-z]+)`", everything())) == TOOLS
    for heading in ("Goal", "State", "Decided", "Ruled out", "Next command", "Files"):
        assert f"**{heading}**" in skill
        assert f"## {heading}" in text("references/handoff.md")


def test_every_reference_is_linked_and_exists():
    linked = set(re.findall(r"\]\((references/[a-z]+\.md)\)", text("SKILL.md")))
    assert linked == {name for name in skill_files() if name.startswith("references/")}


def test_the_full_skill_stays_affordable():
    """At most 2,000 tokens; four characters a token is what this text averages, and we stay below."""
    assert len(text("SKILL.md")) < 6000


HEREDOC = re.compile(r"^    ecc memory [^\n]*<<'END'\n(?:    [^\n]*\n)+?    END\n", re.MULTILINE)
SHELL_EXAMPLES = HEREDOC.findall(everything())


@pytest.mark.parametrize("example", SHELL_EXAMPLES)
def test_every_shell_example_works_as_it_stands(example, tmp_path):
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["sh", "-ec", textwrap.dedent(example)],
        cwd=tmp_path,
        env={"HOME": str(tmp_path / "home"), "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "mem_" in done.stdout


def test_the_references_show_a_save_and_a_handoff_in_a_shell():
    assert [example.split()[2] for example in SHELL_EXAMPLES] == ["save", "handoff"]


MCP_EXAMPLES = re.findall(r"(memory_[a-z]+) (\{.*?\})(?=`|\n\n|\n[A-Z])", everything(), re.DOTALL)


def test_tool_examples_use_the_arguments_that_the_tools_have():
    tools = specify(Launch("codex", env={}))
    assert {name for name, _ in MCP_EXAMPLES} == {"memory_search", "memory_read", "memory_save"}
    for name, arguments in MCP_EXAMPLES:
        jsonschema.validate(json.loads(" ".join(arguments.split())), tools[name].input_schema())
