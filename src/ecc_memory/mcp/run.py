"""Puts server and transport together; importing it loads the SDK."""

from __future__ import annotations

import logging
from typing import NoReturn

import anyio

from ecc_memory.mcp.launch import Launch
from ecc_memory.mcp.life import leave
from ecc_memory.mcp.log import log_to_standard_error
from ecc_memory.mcp.project import LazyVault
from ecc_memory.mcp.server import build_server, check_request
from ecc_memory.mcp.transport import serve
from ecc_memory.mcp.wire import Wire

logger = logging.getLogger(__name__)


def run(launch: Launch, wire: Wire) -> NoReturn:
    """Serve until the client leaves, then end the process."""
    log_to_standard_error()
    server = build_server(launch, LazyVault(launch.env))
    try:
        anyio.run(serve, server, wire, check_request(launch))
    except Exception:
        logger.exception("the server failed")
        leave(1)
    leave(0)
