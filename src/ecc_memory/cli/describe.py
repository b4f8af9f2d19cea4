"""How one memory, and the place it is kept in, are put into words for a person."""

from __future__ import annotations

from collections.abc import Sequence

from ecc_memory.vault import Memory, Vault


def headline(memory: Memory) -> str:
    """Return kind, scope, status where it is not active, source, targets and date on one line."""
    status = "" if memory.status == "active" else f", {memory.status}"
    targets = "every harness" if "all" in memory.target_harnesses else ", ".join(memory.target_harnesses)
    return (
        f"{memory.kind}, {memory.scope} scope{status}, from {memory.source_harness} "
        f"for {targets}, {moment(memory.updated_at)}"
    )


def moment(timestamp: str) -> str:
    """Return ``2026-07-26T20:00:00.000Z`` as ``2026-07-26 20:00 UTC``."""
    return f"{timestamp[:10]} {timestamp[11:16]} UTC"


def sent_on(linked_by: Sequence[str]) -> list[str]:
    """Return the line that sends a reader on to newer memories, if there are any."""
    if not linked_by:
        return []
    which = "a newer memory links" if len(linked_by) == 1 else "newer memories link"
    return [f"newer: {which} to this one, read that too: {', '.join(linked_by)}"]


def where(vault: Vault, scope: str) -> str:
    """Return the folder of a scope and what led to it."""
    place = vault.place(scope)
    reasons = {
        "working directory": "found from the working directory",
        "home": "in your home folder",
    }
    return f"{place.path} ({reasons.get(place.origin, f'set by {place.origin}')})"


def absolute(vault: Vault, path: str) -> str:
    """Return ``scope:folder/file`` as an absolute path."""
    scope, _, below = path.partition(":")
    return f"{vault.place(scope).path}/{below}"
