"""The exact form in which a harness accepts what a hook says.

Seen in the programs themselves: Claude Code 2.1 and Codex 0.171 take ``hookSpecificOutput`` (Codex
rejects any further top-level key, and an event of another name is rejected by Claude); Claude adds the
plain text of a ``PreCompact`` hook to the instructions for the summary; Hermes 0.19 takes ``context``
from ``pre_llm_call`` and a block from ``pre_tool_call``, and nothing of the others' form.
"""

from __future__ import annotations

import json

from ecc_memory.errors import UsageError


def context(event: str, text: str) -> bytes:
    """Wrap text for the model.

    Raises:
        UsageError: the event is none at which a harness takes text.
    """
    if event == "SessionStart":
        return _json({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}})
    if event == "PreCompact":
        return text.encode() + b"\n"
    if event == "pre_llm_call":
        return _json({"context": text})
    raise UsageError(f"no text can be given at the event {event!r}")


def denial(event: str, reason: str) -> bytes:
    """Wrap the reason why a tool may not run.

    Raises:
        UsageError: the event is none at which a harness asks.
    """
    if event == "PreToolUse":
        answer = {"hookEventName": event, "permissionDecision": "deny", "permissionDecisionReason": reason}
        return _json({"hookSpecificOutput": answer})
    if event == "pre_tool_call":
        return _json({"action": "block", "message": reason})
    raise UsageError(f"no tool can be stopped at the event {event!r}")


def _json(value: dict[str, object]) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
