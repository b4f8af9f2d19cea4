"""Everything an agent reads about the memory speaks of tools, commands and options that exist."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ecc_memory.guidance import rules_snippet, skill_files
from ecc_memory.harness.plugins import Plugins
from ecc_memory.harness.types import InstallRequest, OwnedFile, Surroundings
from ecc_memory.mcp.launch import Launch
from ecc_memory.mcp.tools import specify
from ecc_memory.reminders.counts import Counts
from ecc_memory.reminders.options import Options
from ecc_memory.reminders.text import before_compaction, reminder

BIN = Path(sys.executable).parent
MOST_STANDING_CHARACTERS = 2900
"""About 600 tokens; benchmarks/standing_cost.py counts them."""


def spoken():
    """Give every text of ours that reaches a model, by name."""
    yield "snippet", rules_snippet()
    yield "snippet of a reader", rules_snippet(read_only=True)
    for name, content in skill_files().items():
        yield name, content.decode()
    for prefix in ("mcp__v__", None):
        for read_only in (False, True):
            options = Options("reminder", "codex", "SessionStart", prefix, read_only)
            for source in ("startup", "resume", "clear", "compact"):
                yield f"{source} {prefix} {read_only}", reminder(options, Counts(2, 1, "2026-11-29"), source)
            yield f"compaction {prefix} {read_only}", before_compaction(options, None)


SPOKEN = dict(spoken())


@pytest.fixture(scope="module")
def offered():
    """The tools as the server offers them."""
    return specify(Launch("codex", {}))


@pytest.fixture(scope="module")
def commands():
    """Every command's options, as its own help names them."""
    return {
        name: subprocess.run(
            [BIN / "ecc", "memory", name, "--help"], capture_output=True, text=True, check=True,
            env={"COLUMNS": "300", "HOME": "/", "PATH": "/usr/bin:/bin"},
        ).stdout
        for name in ("search", "read", "save", "handoff", "doctor", "init", "status")
    }  # fmt: skip


@pytest.mark.parametrize("name", SPOKEN)
def test_tools_and_commands_exist(name, offered, commands):
    text = SPOKEN[name]
    assert set(re.findall(r"\bmemory_[a-z]+", text)) <= set(offered)
    for command, rest in re.findall(r"ecc memory ([a-z|]+)([^`\n]*)", text):
        for one in command.split("|"):
            assert one in commands, one
            for option in re.findall(r"--[a-z-]+", rest):
                assert option in commands[one], (one, option)


def test_arguments_in_examples_exist(offered):
    text = "\n".join(SPOKEN.values())
    for tool, arguments in re.findall(r"(memory_[a-z]+)`? (\{\".*?\})", text, re.DOTALL):
        names = re.findall(r'[{,]\s*"([a-zA-Z]+)":', arguments)
        assert names
        assert set(names) <= set(offered[tool].input_schema()["properties"]), (tool, names)


def test_a_snippet_a_skill_and_a_reminder_name_the_same_moments_and_tools():
    snippet, skill, reminded = rules_snippet(), SPOKEN["SKILL.md"], SPOKEN["startup mcp__v__ False"]
    for text in (snippet, skill, reminded):
        for word in (
            "memory_search",
            "memory_save",
            "handoff",
            "before compaction or stopping",
            "unreviewed",
        ):
            assert word in text


def test_the_standing_text_stays_affordable(offered):
    line = next(line for line in SPOKEN["SKILL.md"].splitlines() if line.startswith("description"))
    described = [
        json.dumps(
            [f"mcp__plugin_ecc-memory_ecc-memory-vault__{name}", tool.description, tool.input_schema()]
        )
        for name, tool in offered.items()
    ]
    assert len(rules_snippet() + line + "".join(described)) <= MOST_STANDING_CHARACTERS


@pytest.mark.parametrize("adapter", Plugins.load({}).adapters, ids=lambda adapter: adapter.harness.slug)
def test_every_adapter_names_the_tools_as_its_harness_does(adapter, tmp_path):
    if "reminders" not in adapter.harness.levels["user"]:
        pytest.skip("it has no reminders")
    prefixes = {
        "claude": "mcp__plugin_ecc-memory_ecc-memory-vault__",
        "codex": "mcp__ecc_memory_vault.",
        "hermes": "mcp__ecc_memory_vault__",
    }
    request = InstallRequest(
        level="user",
        where=Surroundings(tmp_path, {}),
        parts=frozenset({"mcp", "reminders"}),
        server_command="/opt/ecc/bin/ecc-memory-mcp",
        server_env={"ECC_MEMORY_HARNESS": adapter.harness.slug},
        forward_env=(),
        hook_command=("/opt/ecc/bin/ecc-memory-hook",),
        skill={},
        rules="Recall.\n",
        version="0.1.0",
    )
    hooks = [one for one in adapter.installation(request).artifacts if one.part == "reminders"]
    shown = str([one.content if isinstance(one, OwnedFile) else one.item for one in hooks])
    assert f"--tools {prefixes[adapter.harness.slug]} " in shown
    assert f"--harness {adapter.harness.slug} " in shown
