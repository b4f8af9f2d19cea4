"""The SDK's outgoing messages to lines, with nothing in them that must not leave."""

from __future__ import annotations

import logging

from mcp_types import INTERNAL_ERROR, JSONRPCError, JSONRPCMessage, JSONRPCResponse
from pydantic_core import PydanticSerializationError

from ecc_memory.mcp.frames import Refusal

logger = logging.getLogger(__name__)


def encode(message: JSONRPCMessage, most: int) -> bytes:
    """Return one line, without LF.

    Args:
        message: an answer or a notification.
        most: the longest line, in bytes; a longer answer becomes an error for the same request.

    An exception that no handler caught reaches handshake clients as error code 0 with the
    exception's text, paths and all (SDK 2.3, ``JSONRPCDispatcher._handle_request``). It leaves
    here as an internal error that says nothing; the SDK has logged the traceback.
    """
    identity = message.id if isinstance(message, (JSONRPCResponse, JSONRPCError)) else None
    if isinstance(message, JSONRPCError) and message.error.code == 0:
        return Refusal(INTERNAL_ERROR, "Internal error", identity).encode()
    try:
        line = message.model_dump_json(by_alias=True, exclude_unset=True).encode("utf-8")
    except (PydanticSerializationError, UnicodeEncodeError):
        logger.exception("an answer could not be written as JSON")
        return Refusal(INTERNAL_ERROR, "Internal error", identity).encode()
    if len(line) > most:
        said = f"The answer is larger than {most} bytes: ask for less"
        return Refusal(INTERNAL_ERROR, said, identity).encode()
    return line
