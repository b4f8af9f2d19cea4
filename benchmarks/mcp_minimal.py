"""The smallest server on the same SDK: what ``mcp_server.py`` compares the start with."""

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import ListToolsResult


async def list_tools(_context: object, _params: object) -> ListToolsResult:
    """List nothing."""
    return ListToolsResult(tools=[])


async def main() -> None:
    """Serve until standard input ends."""
    server = Server("minimal", version="0", on_list_tools=list_tools)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
