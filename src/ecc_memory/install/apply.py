"""Carrying a plan out: all of it, or nothing."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ecc_memory.errors import EccMemoryError, InstallError
from ecc_memory.install import artifacts
from ecc_memory.install.artifacts import State
from ecc_memory.install.files import delete, look, put_back, require_replaceable, sweep, write
from ecc_memory.install.plan import Plan
from ecc_memory.install.receipt import Receipts
from ecc_memory.install.steps import Step
from ecc_memory.install.store import Store


def carry_out(plan: Plan, before: Receipts, store: Store) -> None:
    """Write what the plan says, check it, and remember it.

    Receipts are written first, so that a process that is killed in between leaves files that can
    still be recognised. When a file fails, those already written are put back.

    Args:
        plan: the plan, made under the store's lock.
        before: the receipts it was made from.
        store: where receipts are kept, locked.

    Raises:
        InstallError: the system refused, or a file changed at this moment; nothing is changed then,
            or the error names what could not be put back.
    """
    for folder in _folders(plan, before, store):
        sweep(folder)
    steps = [step for step in plan.steps if step.writes]
    if not steps and plan.receipts == before:
        return
    for step in steps:
        require_replaceable(step.view)
    begun: list[Step] = []
    try:
        store.save(_both(before, plan.receipts))
        for step in steps:
            begun.append(step)
            _apply(step)
        for step in steps:
            _verify(step)
        store.save(_without_empty_folders(plan.receipts, store))
    except BaseException as error:
        left = _take_back(begun, plan, before, store)
        if left:
            raise InstallError(
                f"{_words(error)}; putting back what was written before failed too, look at these files",
                detail=", ".join(left),
            ) from error
        if begun and isinstance(error, EccMemoryError):
            error.message += "; what had been written was put back"
        raise


def _folders(plan: Plan, before: Receipts, store: Store) -> set[Path]:
    """Return the folders in which an earlier run may have been killed while it wrote."""
    files = (*map(Path, before.files), *(step.view.real for step in plan.steps))
    return {store.folder, *(file.parent for file in files)}


def _both(before: Receipts, after: Receipts) -> Receipts:
    """Return receipts that hold while some files are as before and some as afterwards."""
    return Receipts(
        {**before.installations, **after.installations}, {**before.files, **after.files}, after.folders
    )


def _apply(step: Step) -> None:
    if step.after is None:
        delete(step.view)
    else:
        write(step.view, step.after, mode=step.mode)


def _verify(step: Step) -> None:
    """Read a file again, and parse it: everything that was to be in it must be."""
    data = look(step.view.path).data
    for item in step.items:
        if item.action not in ("add", "update", "take-over"):
            continue
        if artifacts.state(item.artifact, data) not in (State.INTACT, State.GROWN):
            raise InstallError(
                f"{artifacts.title(item.artifact)} is not in the file although it was written",
                detail=str(step.view.path),
            )


def _take_back(begun: Sequence[Step], plan: Plan, before: Receipts, store: Store) -> list[str]:
    """Undo what was written, the last file first; return what could not be undone.

    Of the last one it is not known how far it came.
    """
    left: list[str] = []
    for step in reversed(begun):
        try:
            put_back(step.view, step.after)
        except InstallError:
            left.append(str(step.view.path))
    for folder in reversed(plan.new_folders):
        with contextlib.suppress(OSError):
            os.rmdir(folder)
    if not left:
        with contextlib.suppress(InstallError):
            store.save(before)
    return left


def _without_empty_folders(receipts: Receipts, store: Store) -> Receipts:
    """Remove the folders that we made and no longer need, and forget them.

    One that someone else put something into is theirs now. Those above the store itself stay
    until the store goes.
    """
    kept: list[str] = []
    for folder in sorted(receipts.folders, reverse=True):
        if any(path.startswith(folder + os.sep) for path in (*receipts.files, str(store.folder))):
            kept.append(folder)
        else:
            with contextlib.suppress(OSError):
                os.rmdir(folder)
    return replace(receipts, folders=tuple(reversed(kept)))


def _words(error: BaseException) -> str:
    return error.message if isinstance(error, EccMemoryError) else type(error).__name__
