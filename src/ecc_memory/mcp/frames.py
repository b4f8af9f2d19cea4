"""One line to one JSON-RPC message, or to the error that its sender should get.

The SDK's own reader drops a line that it cannot parse, without an answer, so that the caller
waits for ever; and it replaces bytes that are not UTF-8. This one answers every line.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, NoReturn

from mcp_types import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    JSONRPCNotification,
    JSONRPCRequest,
)

_LONGEST_ID = 1000


@dataclass(frozen=True)
class Refusal:
    """An error to answer instead of serving; ``id`` is None when the request's is not known."""

    code: int
    message: str
    id: int | str | None = None

    def encode(self) -> bytes:
        """Return the error as one line of the wire, without LF."""
        error = {"code": self.code, "message": self.message}
        return json.dumps({"jsonrpc": "2.0", "id": self.id, "error": error}, ensure_ascii=False).encode()


Frame = JSONRPCRequest | JSONRPCNotification | Refusal | None
"""None is an answer: we ask the client nothing, so there is nothing it could be an answer to."""


def parse(line: bytes) -> Frame:
    """Parse one line, without LF.

    Returns:
        The message, None for an answer, or the refusal of anything that is not a message of
        JSON-RPC 2.0 as MCP narrows it: strict JSON in strict UTF-8, an object, no batch, an id
        that is a string or an integer, ``params`` an object.
    """
    try:
        value = json.loads(line.decode("utf-8"), parse_constant=_not_json)
    except UnicodeDecodeError:
        return Refusal(PARSE_ERROR, "The line is not UTF-8")
    except (ValueError, RecursionError):
        return Refusal(PARSE_ERROR, "The line is not JSON: send one JSON-RPC message a line")
    if not isinstance(value, dict):
        return Refusal(INVALID_REQUEST, "A message is one JSON object; batches are not part of MCP")
    identity = value.get("id")
    known = _is_id(identity) and not _half_a_pair(identity)
    where = identity if known else None
    if "id" in value and not known:
        return Refusal(INVALID_REQUEST, "id must be a string or an integer, at most 1000 characters long")
    if value.get("jsonrpc") != "2.0":
        return Refusal(INVALID_REQUEST, 'jsonrpc must be "2.0"', where)
    if "method" not in value and ("result" in value or "error" in value):
        return None
    if not isinstance(value.get("method"), str):
        return Refusal(INVALID_REQUEST, "method must be a string", where)
    if not isinstance(value.get("params"), (dict, type(None))):
        return Refusal(INVALID_REQUEST, "params must be an object, or be left out", where)
    if rb"\u" in line and _half_a_pair(value):
        said = "A string holds half of a surrogate pair: send whole characters"
        return Refusal(INVALID_PARAMS, said, where)
    return _message(value)


def _message(value: dict[str, Any]) -> JSONRPCRequest | JSONRPCNotification:
    params = {"params": value["params"]} if value.get("params") is not None else {}
    if "id" in value:
        return JSONRPCRequest(jsonrpc="2.0", id=value["id"], method=value["method"], **params)
    return JSONRPCNotification(jsonrpc="2.0", method=value["method"], **params)


def _is_id(value: object) -> bool:
    if isinstance(value, str):
        return len(value) <= _LONGEST_ID
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**_LONGEST_ID


def _half_a_pair(value: object) -> bool:
    """Tell whether a lone surrogate is in there: JSON can write one, UTF-8 cannot."""
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except (UnicodeEncodeError, RecursionError):  # nested as deep as the parser just managed
        return True
    return False


def _not_json(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")
