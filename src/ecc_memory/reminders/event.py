"""The event that a harness describes on a hook's standard input."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import NamedTuple

from ecc_memory.errors import UsageError

_PROJECT_VARIABLES = {"claude": "CLAUDE_PROJECT_DIR"}
"""A harness that moves about names its project so, to its server as to its hooks."""


class Event(NamedTuple):
    """What all four harnesses say, whatever else they add.

    Attributes:
        name: the harness's own name of the event.
        cwd: the session's working directory; None where that is unknown.
        source: what a session start is: ``startup``, ``resume``, ``clear`` or ``compact``.
        first_turn: False when the harness says that the session has had a turn.
        tool: the tool that is about to run.
        tool_input: its arguments.
    """

    name: str
    cwd: str | None
    source: str
    first_turn: bool
    tool: str
    tool_input: Mapping[str, object]


def parse_event(data: bytes) -> Event:
    """Read an event.

    Raises:
        UsageError: it is no JSON object in UTF-8.
    """
    try:
        values = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise UsageError("the event is not JSON") from error
    if not isinstance(values, dict):
        raise UsageError("the event is not a JSON object")
    extra = values.get("extra")
    tool_input = values.get("tool_input")
    return Event(
        name=_text(values, "hook_event_name"),
        cwd=_text(values, "cwd") or None,
        source=_text(values, "source"),
        first_turn=not isinstance(extra, dict) or extra.get("is_first_turn") is not False,
        tool=_text(values, "tool_name"),
        tool_input=tool_input if isinstance(tool_input, dict) else {},
    )


def project_folder(harness: str, event: Event, env: Mapping[str, str]) -> str | None:
    """Give the folder in which the harness's server looks for the project; None for this process's own."""
    variable = _PROJECT_VARIABLES.get(harness)
    folder = env.get(variable, "").strip() if variable else ""
    folder = folder or event.cwd or ""
    return folder if os.path.isabs(folder) else None


def _text(values: Mapping[str, object], key: str) -> str:
    value = values.get(key)
    return value if isinstance(value, str) else ""
