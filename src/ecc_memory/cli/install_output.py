"""What install and uninstall did, put into words for a person."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from ecc_memory.harness.types import OwnedFile
from ecc_memory.install import artifacts
from ecc_memory.install.engine import Outcome
from ecc_memory.install.receipt import Owner
from ecc_memory.install.report import verb
from ecc_memory.install.steps import Item, Step

_DONE = {"create": "created", "edit": "edited", "delete": "deleted", "none": "unchanged"}
_PLANNED = {"create": "would create", "edit": "would edit", "delete": "would delete", "none": "unchanged"}
_WORDS = {
    "add": "added",
    "update": "updated",
    "share": "shared",
    "unchanged": "in place",
    "take-over": "taken over; uninstall gives back what was there",
    "skip": "left as it is",
    "remove": "removed",
    "give-back": "removed, and what was there before put back",
    "release": "stays",
    "gone": "was gone",
    "keep": "KEPT",
    "foreign": "left alone",
}


def install_lines(outcome: Outcome) -> Iterator[str]:
    """Say what an installation changed and how it is taken out again."""
    yield from _steps(outcome)
    for note in outcome.notes:
        yield f"note: {note}"
    if outcome.dry_run:
        yield "dry run: nothing was written"
    elif not any(step.writes for step in outcome.steps):
        yield "nothing to change, everything is in place"
    names = " ".join(f"--harness {owner.harness}" for owner, _ in outcome.owners)
    level = " --project" if any(owner.level == "project" for owner, _ in outcome.owners) else ""
    if not outcome.dry_run and names:
        yield f"start a new session to use it; take it out with: ecc memory uninstall {names}{level}"


def uninstall_lines(outcome: Outcome) -> Iterator[str]:
    """Say what was taken out and what stays, and why."""
    yield from _steps(outcome)
    for note in outcome.notes:
        yield f"note: {note}"
    if outcome.dry_run:
        yield "dry run: nothing was written"
    elif outcome.kept:
        yield "what was edited since stays; --force removes it"
    elif not any(step.writes for step in outcome.steps):
        yield "nothing to remove"
    yield "your memories are untouched"


def owner_words(owner: Owner) -> str:
    """Name an installation: harness, level, and the project if there is one."""
    return f"{owner.harness}, {owner.level} level" + (f" of {owner.project}" if owner.project else "")


def _steps(outcome: Outcome) -> Iterator[str]:
    words = _PLANNED if outcome.dry_run else _DONE
    for step in outcome.steps:
        leads = f" (a link to {step.view.real})" if step.view.real != step.view.path else ""
        yield f"{words[verb(step)]} {step.view.path}{leads}"
        for item in step.items:
            yield f"    {_what(item)} {_WORDS[item.action]}{f' ({item.note})' if item.note else ''}"
        if outcome.dry_run:
            yield from _difference(step)


def _what(item: Item) -> str:
    if artifacts.kind(item.artifact) == "file":
        return f"{item.artifact.part} for {owner_words(item.owner)}"
    return f"{item.artifact.part} for {owner_words(item.owner)}: {artifacts.title(item.artifact)}"


def _difference(step: Step) -> Iterator[str]:
    """Show the lines that come and go, and none around them."""
    if not step.writes or any(isinstance(item.artifact, OwnedFile) for item in step.items):
        return
    before, after = (
        (data or b"").decode(errors="replace").splitlines() for data in (step.view.data, step.after)
    )
    for line in list(difflib.unified_diff(before, after, lineterm="", n=0))[2:]:
        if not line.startswith("@@"):
            yield f"    {line}"
