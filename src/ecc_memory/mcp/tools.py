"""The four tools as a client sees them: names, when to call them, what they take and return."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ecc_memory.mcp.arguments import Argument
from ecc_memory.mcp.launch import Launch
from ecc_memory.mcp.outputs import DOCTOR, READ, SAVE, SEARCH

KINDS = ("context", "decision", "fact", "handoff", "lesson", "note", "preference", "runbook")
"""As in :mod:`ecc_memory.vault`, which is not imported before the first call."""

_AN_ID = "<id from memory_search>"


@dataclass(frozen=True)
class ToolSpec:
    """One tool.

    Attributes:
        name: what a client calls.
        description: when to call it; the model reads this before anything else.
        takes: its arguments.
        returns: JSON Schema of its result; an object.
        failure: the code of a refusal that is about content.
        writes: whether it changes the vault.
    """

    name: str
    description: str
    takes: tuple[Argument, ...]
    returns: Mapping[str, object]
    failure: str
    writes: bool = False

    def input_schema(self) -> dict[str, object]:
        """Return the JSON Schema of its arguments."""
        schema: dict[str, object] = {
            "type": "object",
            "properties": {argument.name: argument.schema() for argument in self.takes},
            "additionalProperties": False,
        }
        required = [argument.name for argument in self.takes if argument.required]
        return {**schema, "required": required} if required else schema


def specify(launch: Launch) -> dict[str, ToolSpec]:
    """Return the tools of a server, by name, in the order in which they are listed."""
    scopes = launch.scopes
    scope = Argument("scope", "project", choices=scopes)
    several = Argument("scopes", ("project", "team"), "list", choices=scopes)
    tools = [_search(several), _read(scope), _save(scope), _doctor(several)]
    return {tool.name: tool for tool in tools if not (tool.writes and launch.read_only)}


def _search(scopes: Argument) -> ToolSpec:
    return ToolSpec(
        "memory_search",
        "Recall what earlier sessions and other agents saved: at task start, before asking the user, "
        "to find handoffs to you. No query lists the newest.",
        (
            Argument("query", "token rotation"),
            scopes,
            Argument("kinds", ("handoff",), "list", choices=KINDS),
            Argument("limit", 20, "count", bounds=(1, 100)),
        ),
        SEARCH,
        "MEMORY_SEARCH_FAILED",
    )


def _read(scope: Argument) -> ToolSpec:
    return ToolSpec(
        "memory_read",
        "Full text of a memory that memory_search found, with backlinks.",
        (Argument("id", _AN_ID, required=True), scope),
        READ,
        "MEMORY_READ_FAILED",
    )


def _save(scope: Argument) -> ToolSpec:
    return ToolSpec(
        "memory_save",
        "Save a settled decision, lesson or fact; before stopping unfinished work, a handoff with "
        "targetHarnesses. No credentials. To correct a memory, save anew and link its id.",
        (
            Argument("title", "<one line>", required=True),
            Argument("body", "<Markdown>", required=True),
            Argument("kind", "note", choices=KINDS),
            scope,
            Argument("targetHarnesses", ("all",), "list"),
            Argument("tags", ("auth", "migration"), "list"),
            Argument("links", (_AN_ID,), "list"),
        ),
        SAVE,
        "MEMORY_WRITE_REJECTED",
        writes=True,
    )


def _doctor(scopes: Argument) -> ToolSpec:
    return ToolSpec(
        "memory_doctor",
        "Count damaged memories when a result is incomplete.",
        (scopes,),
        DOCTOR,
        "MEMORY_DOCTOR_FAILED",
    )
