"""The official Python client, in both eras."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import anyio
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.server.lowlevel import Server

T = TypeVar("T")

ERAS = {"handshake": "legacy", "modern": "auto"}


def converse(
    peer: Server[Any] | StdioServerParameters, era: str, talk: Callable[[Client], Awaitable[T]]
) -> T:
    """Connect in one era and run ``talk`` with the client."""

    async def run() -> T:
        async with Client(peer, mode=ERAS[era]) as client:
            assert (client.protocol_version >= "2026") == (era == "modern")
            return await talk(client)

    return anyio.run(run)


async def content(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool that succeeds; text and structured content must say the same."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    assert isinstance(result.structured_content, dict)
    assert json.loads(text_of(result)) == result.structured_content
    return result.structured_content


async def refusal(client: Client, tool: str, **arguments: Any) -> tuple[str, str]:
    """Call a tool that refuses content: code and message."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error, result
    assert result.structured_content is None
    error = json.loads(text_of(result))["error"]
    assert set(error) == {"code", "message"}
    return error["code"], error["message"]


async def protocol_error(client: Client, tool: str, arguments: Any) -> str:
    """Call a tool in a way that is refused by the protocol: the message."""
    with pytest.raises(MCPError) as caught:
        await client.call_tool(tool, arguments)
    assert caught.value.code == -32602
    return caught.value.message


def text_of(result: Any) -> str:
    (block,) = result.content
    assert block.type == "text"
    assert isinstance(block.text, str)
    return block.text
