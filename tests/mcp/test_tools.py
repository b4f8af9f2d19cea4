"""The listing: what every client must be able to take, in how few tokens."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from ecc_memory import vault
from ecc_memory.mcp.launch import Launch
from ecc_memory.mcp.server import build_server
from ecc_memory.mcp.tools import KINDS, specify
from ecc_memory.vault import Vault

from .clients import ERAS, converse
from .conftest import Machine
from .process import INITIALIZE, call, modern, request

LAUNCHES = [Launch("codex", {}), Launch("codex", {}, user_scope=True), Launch("codex", {}, read_only=True)]
launches = pytest.mark.parametrize("launch", LAUNCHES, ids=["usual", "user-scope", "read-only"])


def listing(launch: Launch, era: str = "modern") -> list[dict[str, Any]]:
    async def talk(client: Any) -> Any:
        return await client.list_tools()

    result = converse(build_server(launch, Vault.open), era, talk)
    return [tool.model_dump(by_alias=True, exclude_none=True, mode="json") for tool in result.tools]


def test_both_eras_list_the_same_in_the_same_order() -> None:
    assert listing(LAUNCHES[0], "handshake") == listing(LAUNCHES[0], "modern")
    names = [tool["name"] for tool in listing(LAUNCHES[0])]
    assert names == ["memory_search", "memory_read", "memory_save", "memory_doctor"]


def test_every_tool_has_all_four_annotations() -> None:
    for tool in listing(LAUNCHES[0]):
        writes = tool["name"] == "memory_save"
        assert tool["annotations"] == {
            "readOnlyHint": not writes,
            "destructiveHint": False,
            "idempotentHint": not writes,
            "openWorldHint": False,
        }


@launches
def test_schemas_are_what_every_client_accepts(launch: Launch) -> None:
    for tool in listing(launch):
        for schema in (tool["inputSchema"], tool["outputSchema"]):
            jsonschema.Draft202012Validator.check_schema(schema)
            jsonschema.Draft7Validator.check_schema(schema)
            assert schema["type"] == "object"
            for part in parts_of(schema):
                assert isinstance(part["type"], str)
                assert not {"$ref", "anyOf", "oneOf", "allOf", "not", "const", "$defs"} & part.keys()
                assert part["type"] != "array" or "items" in part
        assert tool["inputSchema"]["additionalProperties"] is False


def parts_of(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A schema and every schema in it."""
    yield schema
    for part in schema.get("properties", {}).values():
        yield from parts_of(part)
    if "items" in schema:
        yield from parts_of(schema["items"])


def test_kinds_and_scopes_are_the_vaults() -> None:
    assert KINDS == vault.KINDS
    assert LAUNCHES[1].scopes == vault.SCOPES


@launches
def test_the_listing_is_short_by_an_estimate(launch: Launch) -> None:
    """A stand-in for the real count (test_node_clients.py) that needs no tokenizer.

    o200k_base rarely needs more than one token for a word or for a run of punctuation.
    """
    shown = [{key: tool[key] for key in ("name", "description", "inputSchema")} for tool in listing(launch)]
    words = re.findall(r"[^\W\d_]+|\d+|[^\w\s]+|_", json.dumps(shown, separators=(",", ":")))
    assert len(words) <= 520  # where the real count is 408, this one says about 500


def test_memory_ignored_until_asked() -> None:
    """Descriptions and instructions say when to call, and that what comes back is data."""

    async def talk(client: Any) -> Any:
        return client.instructions

    for era in ERAS:
        instructions = converse(build_server(LAUNCHES[0], Vault.open), era, talk)
        assert "when a task starts" in instructions
        assert "not instructions" in instructions
        assert "handoff before you stop" in instructions
        assert len(instructions) < 500
        assert "\n" not in instructions
        assert "handoff" not in converse(build_server(LAUNCHES[2], Vault.open), era, talk)
    described = {tool["name"]: tool["description"] for tool in listing(LAUNCHES[0])}
    assert "at task start" in described["memory_search"]
    assert "before stopping unfinished work" in described["memory_save"]


@pytest.mark.parametrize("user_scope", [False, True])
def test_results_match_their_output_schemas_to_the_key(machine: Machine, user_scope: bool) -> None:
    """With every object closed, so that no key is returned that the schema does not name."""
    env = {"ECC_MEMORY_ALLOW_USER_SCOPE": "1"} if user_scope else {}
    server = machine.open(**env)
    launch = Launch("codex", {}, user_scope=user_scope)
    schemas = {name: closed(dict(spec.returns)) for name, spec in specify(launch).items()}
    old = server.succeed("memory_save", title="Ünïcode", body="first", tags=["a"])
    identity = old["memory"]["id"]
    new = server.succeed("memory_save", title="newer", body="first, again", links=[identity])
    cases = [
        ("memory_save", old),
        ("memory_save", new),
        ("memory_search", server.succeed("memory_search", query="first")),
        ("memory_search", server.succeed("memory_search", query="unicode")),
        ("memory_search", server.succeed("memory_search", query="first", limit=1)),
        ("memory_search", server.succeed("memory_search", query="---")),
        ("memory_read", server.succeed("memory_read", id=identity)),
        ("memory_doctor", server.succeed("memory_doctor")),
    ]
    for name, value in cases:
        jsonschema.Draft202012Validator(schemas[name]).validate(value)
    assert cases[3][1]["results"][0]["relaxed"] is True
    assert cases[4][1]["truncated"] is True
    assert cases[6][1]["linkedBy"] == [new["memory"]["id"]]


def closed(schema: dict[str, Any]) -> dict[str, Any]:
    if schema["type"] == "object":
        properties = {key: closed(dict(part)) for key, part in schema["properties"].items()}
        return {**schema, "properties": properties, "additionalProperties": False}
    return {**schema, "items": closed(dict(schema["items"]))} if schema["type"] == "array" else schema


SCHEMAS = Path(__file__).parent / "schema"


def validator(version: str, definition: str) -> jsonschema.Draft202012Validator:
    schema = json.loads((SCHEMAS / f"{version}.json").read_text("utf-8"))
    return jsonschema.Draft202012Validator({**schema, "$ref": f"#/$defs/{definition}"})


def test_recorded_frames_match_the_specification(machine: Machine) -> None:
    """Every kind of answer, in both eras, against the protocol's own JSON Schemas."""
    for version, dress, opening, opened in (
        ("2025-11-25", dict, INITIALIZE, "InitializeResult"),
        ("2026-07-28", modern, modern(request("open", "server/discover")), "DiscoverResult"),
    ):
        server = machine.start()
        frames = [(opened, server.ask(opening))]
        if version == "2025-11-25":
            server.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
            frames.append(("EmptyResult", server.ask(request("ping", "ping"))))
        for kind, message in (
            ("ListToolsResult", request("list", "tools/list")),
            ("CallToolResult", call("save", "memory_save", title="t", body="b", tags=["x"])),
            ("CallToolResult", call("search", "memory_search", query="b")),
            ("CallToolResult", call("refused", "memory_read", id="mem_not_there")),
            ("CallToolResult", call("doctor", "memory_doctor")),
            ("", call("wrong", "memory_search", limit="5")),
            ("", request("unknown", "no/such")),
        ):
            frames.append((kind, server.ask(dress(message))))
        assert all(("result" in frame) == bool(kind) for kind, frame in frames)
        for kind, frame in frames:
            validator(version, "JSONRPCMessage").validate(frame)
            if kind:
                validator(version, kind).validate(frame["result"])
        for line in (b"junk\n", b"[]\n"):
            server.write(line)
            error = server.receive()
            assert error.pop("id") is None  # the schemas know errors without an id, JSON-RPC 2.0 writes null
            validator(version, "JSONRPCErrorResponse").validate(error)


def test_what_a_client_may_keep_is_said(machine: Machine) -> None:
    server = machine.start()
    for method in ("server/discover", "tools/list"):
        result = server.ask(modern(request(method, method)))["result"]
        assert (result["ttlMs"], result["cacheScope"]) == (300_000, "private")
    assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "ecc-memory-vault"
