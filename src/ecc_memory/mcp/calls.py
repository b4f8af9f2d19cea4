"""A checked call to a reply. Runs in a worker thread, and raises nothing but what is expected."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ecc_memory.errors import EccMemoryError, VaultIncomplete
from ecc_memory.mcp import replies
from ecc_memory.mcp.launch import Launch
from ecc_memory.mcp.life import saving
from ecc_memory.mcp.tools import ToolSpec

if TYPE_CHECKING:
    from ecc_memory.vault import Vault

logger = logging.getLogger(__name__)

_UNFORESEEN = "The server failed; what happened is in its log, on standard error"
_DEFAULT_SCOPES = ("project", "team")


class Refused(Exception):
    """A call that was understood and refused; ``code`` and the text are for the model."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def perform(
    tool: ToolSpec, given: Mapping[str, Any], launch: Launch, vault: Callable[[], Vault]
) -> replies.Json:
    """Carry out one call.

    Args:
        tool: what was called.
        given: its arguments, checked.
        launch: who calls.
        vault: opens the vault.

    Raises:
        Refused: always with a text that is fit for the model; anything unforeseen is logged
            with its traceback and becomes a text that says nothing.
    """
    try:
        return _OPERATIONS[tool.name](vault(), given, launch)
    except VaultIncomplete as error:
        code = "MEMORY_READ_INCOMPLETE" if tool.name == "memory_read" else tool.failure
        raise Refused(code, error.message) from None
    except EccMemoryError as error:
        raise Refused(tool.failure, error.message) from None
    except Exception:
        logger.exception("%s failed", tool.name)
        raise Refused(tool.failure, _UNFORESEEN) from None


def _search(vault: Vault, given: Mapping[str, Any], launch: Launch) -> replies.Json:
    return replies.found(
        vault.search(
            given.get("query", ""),
            scopes=given.get("scopes") or _DEFAULT_SCOPES,
            kinds=given.get("kinds") or None,
            target_harness=launch.harness,
            limit=given.get("limit", 20),
        )
    )


def _read(vault: Vault, given: Mapping[str, Any], launch: Launch) -> replies.Json:
    scopes = (given["scope"],) if "scope" in given else _DEFAULT_SCOPES
    return replies.read(vault.read(given["id"], scopes=scopes, target_harness=launch.harness))


def _save(vault: Vault, given: Mapping[str, Any], launch: Launch) -> replies.Json:
    scope = given.get("scope", "project")
    with saving():
        result = vault.save(
            title=given["title"],
            body=given["body"],
            kind=given.get("kind", "note"),
            scope=scope,
            source_harness=launch.harness,
            target_harnesses=given.get("targetHarnesses", ("all",)),
            tags=given.get("tags", ()),
            links=given.get("links", ()),
        )
    return replies.saved(result, vault.place(scope))


def _doctor(vault: Vault, given: Mapping[str, Any], launch: Launch) -> replies.Json:
    scopes = given.get("scopes") or _DEFAULT_SCOPES
    report = vault.doctor(scopes=scopes, target_harness=launch.harness, ask_git=False)
    return replies.examined(report, [vault.place(scope) for scope in dict.fromkeys(scopes)])


_OPERATIONS: Mapping[str, Callable[[Vault, Mapping[str, Any], Launch], replies.Json]] = {
    "memory_search": _search,
    "memory_read": _read,
    "memory_save": _save,
    "memory_doctor": _doctor,
}
