"""What ecc-memory costs every session, in tokens: the standing text of each harness.

    python benchmarks/standing_cost.py [--tokenizer DIR]

Counted by the npm package gpt-tokenizer (o200k_base), which is installed into a temporary folder
unless DIR is a folder whose node_modules holds it. The standing cost is the rules snippet, the line
that names the skill, and the four tools as the server offers them: name, description and input schema;
output schemas do not reach a model. It ends with status 1 when a bound is exceeded.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from ecc_memory.guidance import rules_snippet, skill_files
from ecc_memory.reminders.counts import Counts
from ecc_memory.reminders.options import Options
from ecc_memory.reminders.text import reminder

TOKENIZER = "gpt-tokenizer@4.0.0"
MAX_STANDING = 600
MAX_SKILL = 2000
PREFIXES = {
    "claude": "mcp__plugin_ecc-memory_ecc-memory-vault__",
    "codex": "mcp__ecc_memory_vault.",
    "hermes": "mcp__ecc_memory_vault__",
    "opencode": "ecc-memory-vault_",
}
SKILL_NAMES = {"claude": "ecc-memory:unified-memory"}
HERMES_SHOWS = 57
"""Characters of a skill's description that Hermes lists."""

COUNT = """
const { countTokens } = require("gpt-tokenizer/cjs/encoding/o200k_base");
const texts = JSON.parse(require("fs").readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(texts.map((text) => countTokens(text))));
"""


def main() -> None:
    """Count and print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tokenizer", type=Path, help="a folder with node_modules/gpt-tokenizer")
    tokenizer = parser.parse_args().tokenizer
    with tempfile.TemporaryDirectory() as folder:
        if tokenizer is None:
            tokenizer = Path(folder, "tokenizer")
            tokenizer.mkdir()
            options = ("--prefix", str(tokenizer), "--no-audit", "--no-fund", "--ignore-scripts")
            subprocess.run(["npm", "install", "--silent", *options, TOKENIZER], check=True)
        server = ask_server(Path(folder))
        totals = standing(tokenizer, server)
        skill = on_demand(tokenizer, server)
    sys.exit(0 if max(totals) <= MAX_STANDING and skill <= MAX_SKILL else 1)


def standing(tokenizer: Path, server: dict[str, Any]) -> list[int]:
    """Print and return what each harness's model reads in every session."""
    texts: list[str] = []
    for harness, prefix in PREFIXES.items():
        tools = [json.dumps(tool_for(tool, prefix), separators=(",", ":")) for tool in server["tools"]]
        texts += [rules_snippet(), skill_line(harness), "\n".join(tools)]
    counts = count(tokenizer, texts)
    print(f"| harness | rules | skill line | four tools | in all (at most {MAX_STANDING}) |")
    print("|---|---|---|---|---|")
    totals = []
    for index, harness in enumerate(PREFIXES):
        parts = counts[3 * index : 3 * index + 3]
        totals.append(sum(parts))
        print(f"| {harness} | {' | '.join(map(str, parts))} | {sum(parts)} |")
    return totals


def on_demand(tokenizer: Path, server: dict[str, Any]) -> int:
    """Print what comes on top in some sessions; return the size of the skill."""
    texts = {
        f"the whole skill, when it is opened (at most {MAX_SKILL})": skill_files()["SKILL.md"].decode(),
        "the server's instructions, in harnesses that show them": server["instructions"],
    }
    for harness, prefix in PREFIXES.items():
        if harness != "opencode":
            options = Options("reminder", harness, "SessionStart", prefix)
            text = reminder(options, Counts(412, 3, "2026-11-29"), "startup")
            texts[f"the reminder, with --reminders, {harness}"] = text
    counts = count(tokenizer, list(texts.values()))
    print("\n| beyond that | tokens |\n|---|---|")
    for name, tokens in zip(texts, counts, strict=True):
        print(f"| {name} | {tokens} |")
    return counts[0]


def skill_line(harness: str) -> str:
    """Give the skill as a harness lists it."""
    found = re.search(r'^description: "(.*)"$', skill_files()["SKILL.md"].decode(), re.MULTILINE)
    assert found is not None
    shown = found[1][:HERMES_SHOWS] + "..." if harness == "hermes" else found[1]
    return f"- {SKILL_NAMES.get(harness, 'unified-memory')}: {shown}\n"


def tool_for(tool: dict[str, Any], prefix: str) -> dict[str, Any]:
    """Give what a model sees of a tool."""
    return {
        "name": prefix + tool["name"],
        "description": tool["description"],
        "input_schema": tool["inputSchema"],
    }


def ask_server(folder: Path) -> dict[str, Any]:
    """Start the installed server and return its instructions and its tools."""
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "b", "version": "0"}}
    messages: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list"},
    ]
    lines = "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in messages)
    env = {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(folder), "ECC_MEMORY_HARNESS": "bench"}
    with subprocess.Popen(
        [Path(sys.executable).parent / "ecc-memory-mcp"],
        cwd=folder,
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(lines)
        process.stdin.flush()
        first, second = json.loads(process.stdout.readline()), json.loads(process.stdout.readline())
        process.stdin.close()
    return {"instructions": first["result"]["instructions"], "tools": second["result"]["tools"]}


def count(tokenizer: Path, texts: list[str]) -> list[int]:
    """Return the number of tokens of each text."""
    command = ["node", "-e", COUNT]
    done = subprocess.run(
        command, cwd=tokenizer, input=json.dumps(texts), capture_output=True, text=True, check=True
    )
    counts: list[int] = json.loads(done.stdout)
    return counts


if __name__ == "__main__":
    main()
