"""What a person should know about an installation and no file says."""

from __future__ import annotations

from ecc_memory.harness.plugins import Adapter
from ecc_memory.harness.types import ConfigEntry, InstallRequest
from ecc_memory.install.plan import Plan
from ecc_memory.install.request import PROJECT_ROOT, Context, Options
from ecc_memory.install.values import mentions


def notes_for(
    context: Context, adapter: Adapter, request: InstallRequest, options: Options, plan: Plan
) -> list[str]:
    """Return sentences about parts that are left out, a harness that is missing, vaults that differ."""
    name = adapter.harness.name
    notes = [
        f"{name} has no place for {part} at {options.level} level, so that part is left out"
        for part in sorted(options.parts - request.parts)
    ]
    if not adapter.detect(request.where).found:
        notes.append(f"{name} was not found on this machine; the installation waits for it")
    set_here = context.vault.place("project").origin == PROJECT_ROOT
    inherits = adapter.harness.whole_environment
    if set_here and not inherits and "mcp" in request.parts and not _mentions(plan, PROJECT_ROOT):
        notes.append(
            f"{PROJECT_ROOT} is set in this shell, and the entry written for {name} does not carry it; "
            "--pin-project-root writes it into a user-level entry"
        )
    return notes


def _mentions(plan: Plan, word: str) -> bool:
    values = (
        item.artifact.value
        for step in plan.steps
        for item in step.items
        if isinstance(item.artifact, ConfigEntry)
    )
    return any(mentions(value, word) for value in values)
