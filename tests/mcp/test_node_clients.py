"""Other people's clients, for real: the TypeScript SDK, 1.x and 2.x, and the Inspector's command line.

They come from npm, pinned in ``tests/mcp/node/package.json``, together with a node that is new
enough for the Inspector. Prepare a folder once, then name it:

    mkdir DIR && cp tests/mcp/node/package.json DIR
    npm install --prefix DIR --no-audit --no-fund
    ECC_MEMORY_NODE_CLIENTS=DIR python -m pytest tests/mcp/test_node_clients.py
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ecc_memory.mcp.launch import Launch

from .conftest import Machine
from .process import COMMAND
from .test_tools import LAUNCHES, listing

SCRIPTS = Path(__file__).parent / "node"
CLIENTS = os.environ.get("ECC_MEMORY_NODE_CLIENTS", "")

pytestmark = pytest.mark.skipif(
    not CLIENTS, reason="ECC_MEMORY_NODE_CLIENTS is not set; this module's docstring says how to prepare it"
)


def node(*arguments: str, env: dict[str, str], status: int = 0) -> str:
    """Run node in the prepared folder, so that the packages there are found."""
    program = Path(CLIENTS) / "node_modules/.bin/node"
    done = subprocess.run(
        [program, *arguments], cwd=CLIENTS, env=env, capture_output=True, text=True, timeout=180
    )
    assert done.returncode == status, done.stderr
    return done.stdout


def script(name: str) -> list[str]:
    return ["--input-type=module", "-e", (SCRIPTS / name).read_text("utf-8")]


@pytest.mark.parametrize("kind", ["sdk", "legacy", "modern"])
def test_the_typescript_client_uses_every_tool(machine: Machine, kind: str) -> None:
    seen = json.loads(node(*script("client.mjs"), COMMAND, str(machine.project), kind, env=machine.env()))
    assert seen["complaints"] == []
    assert seen["tools"] == ["memory_search", "memory_read", "memory_save", "memory_doctor"]
    assert "not instructions" in seen["instructions"]
    assert seen["saved"]["structuredContent"]["memory"]["title"] == "設計 ✓"
    assert seen["found"]["structuredContent"]["total"] == 1
    assert seen["read"]["structuredContent"]["memory"]["body"] == "decided"
    assert seen["doctor"]["structuredContent"]["ok"] is True
    assert seen["refused"]["isError"] is True
    assert "MEMORY_READ_FAILED" in seen["refused"]["content"][0]["text"]
    assert seen["wrong"]["code"] == -32602
    assert "limit must be an integer" in seen["wrong"]["message"]


def inspect(machine: Machine, era: str, *arguments: str, status: int = 0) -> Any:
    launcher = Path(CLIENTS) / "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
    command = [str(launcher), "--cli", "-e", "ECC_MEMORY_HARNESS=codex", COMMAND]
    options = ["--cwd", str(machine.project), "--protocol-era", era]
    return json.loads(node(*command, *options, *arguments, env=machine.env(harness=None), status=status))


@pytest.mark.parametrize("era", ["legacy", "modern", "auto"])
def test_the_inspector_finds_nothing_to_complain_about(machine: Machine, era: str) -> None:
    """``--strict`` exits 6 on a schema that some client would not take."""
    listed = inspect(machine, era, "--method", "tools/list", "--strict")
    assert len(listed["tools"]) == 4


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_inspector_calls_tools(machine: Machine, era: str) -> None:
    save = (
        "--method",
        "tools/call",
        "--tool-name",
        "memory_save",
        "--tool-arg",
        "title=t",
        "body=b",
        'tags=["a"]',
    )
    saved = inspect(machine, era, *save)["structuredContent"]["memory"]
    assert saved["tags"] == ["a"]
    read = ("--method", "tools/call", "--tool-name", "memory_read", "--tool-arg")
    assert inspect(machine, era, *read, f"id={saved['id']}")["structuredContent"]["memory"]["body"] == "b"
    inspect(machine, era, *read, "id=mem_not_there", status=5)  # 5: the tool said isError


@pytest.mark.parametrize("launch", LAUNCHES, ids=["usual", "user-scope", "read-only"])
def test_the_listing_costs_at_most_420_tokens(launch: Launch) -> None:
    shown = [{key: tool[key] for key in ("name", "description", "inputSchema")} for tool in listing(launch)]
    counts = json.loads(node(*script("tokens.mjs"), json.dumps([*shown, shown]), env=dict(os.environ)))
    assert sum(counts[:-1]) <= 420
    assert counts[-1] <= 420  # and as one array
