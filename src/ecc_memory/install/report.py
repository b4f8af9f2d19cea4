"""The outcome of an install or uninstall as JSON."""

from __future__ import annotations

from ecc_memory.install import artifacts
from ecc_memory.install.engine import Outcome
from ecc_memory.install.files import digest
from ecc_memory.install.receipt import Installed, Owner
from ecc_memory.install.steps import Item, Step

INSTALL_SCHEMA = "ecc.memory.install.v1"
UNINSTALL_SCHEMA = "ecc.memory.uninstall.v1"


def outcome_json(outcome: Outcome, schema: str) -> dict[str, object]:
    """Return the payload of one command.

    Args:
        outcome: what was done.
        schema: :data:`INSTALL_SCHEMA` or :data:`UNINSTALL_SCHEMA`.
    """
    return {
        "schemaVersion": schema,
        "dryRun": outcome.dry_run,
        "changed": any(step.writes for step in outcome.steps),
        "complete": not outcome.kept,
        "installations": [_installation(owner, installed) for owner, installed in outcome.owners],
        "files": [_file(step) for step in outcome.steps],
        "folders": list(outcome.folders),
        "notes": list(outcome.notes),
    }


def verb(step: Step) -> str:
    """Say what happens to a file: create, edit, delete or none."""
    if not step.writes:
        return "none"
    if step.view.data is None:
        return "create"
    return "delete" if step.after is None else "edit"


def owner_json(owner: Owner) -> dict[str, object]:
    """Return who something belongs to."""
    project = {"project": owner.project} if owner.project else {}
    return {"harness": owner.harness, "level": owner.level, **project}


def _installation(owner: Owner, installed: Installed | None) -> dict[str, object]:
    return {**owner_json(owner), "version": None if installed is None else installed.version}


def _file(step: Step) -> dict[str, object]:
    return {
        "path": str(step.view.path),
        "realPath": str(step.view.real),
        "action": verb(step),
        "sha256Before": digest(step.view.data),
        "sha256After": digest(step.after),
        "artifacts": [_item(item) for item in step.items],
    }


def _item(item: Item) -> dict[str, object]:
    note = {"note": item.note} if item.note else {}
    key = getattr(item.artifact, "key", None)
    return {
        **owner_json(item.owner),
        "part": item.artifact.part,
        "kind": artifacts.kind(item.artifact),
        **({"key": list(key)} if key else {}),
        "action": item.action,
        **note,
    }
