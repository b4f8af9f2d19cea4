"""Putting a new memory where it belongs, after everything that forbids it was looked at."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable

from ecc_memory.errors import DryRun, MemoryExists, SecretRefused, VaultIO, VaultUnsafe
from ecc_memory.vault.document import KINDS, MAX_DOCUMENT_BYTES, Memory
from ecc_memory.vault.judge import SUFFIX, kind_folder
from ecc_memory.vault.roots import Place
from ecc_memory.vault.scan import open_root
from ecc_memory.vault.secrets import find_secret
from ecc_memory.vault.tree import Folder, NotRegular

DRY_RUN_VARIABLE = "ECC_DRY_RUN"
GITIGNORE_NAME = ".gitignore"
GITIGNORE = b"*\n!.gitignore\n"
"""What keeps the project scope out of version control; no other content is accepted."""


def publish(memory: Memory, data: bytes, place: Place) -> str:
    """Write a memory's document, create-only; return its path as ``scope:folder/file``.

    Raises:
        MemoryExists: the id is taken.
        VaultUnsafe, VaultIO: it may not be, or could not be, written.
    """
    name = memory.id + SUFFIX
    with writable_root(place) as root:
        _refuse_held(root, memory.id)
        with root.make_child(kind_folder(memory.kind)) as folder:
            folder.sweep()
            try:
                folder.publish(name, data)
            except MemoryExists as error:
                raise _taken(memory.id, error.detail) from error
    return f"{memory.scope}:{kind_folder(memory.kind)}/{name}"


def refuse_taken(id: str, places: Iterable[Place]) -> None:
    """Raise MemoryExists where a file in one of the scopes is named after an id; nothing is read or made.

    A scope that cannot be looked at is no reason not to save into another: the doctor names it.
    """
    for place in places:
        with contextlib.suppress(VaultUnsafe, VaultIO):
            root = open_root(place)
            if root is not None:
                with root:
                    _refuse_held(root, id)


def _refuse_held(root: Folder, id: str) -> None:
    name = id + SUFFIX
    for kind in KINDS:
        folder = root.child(kind_folder(kind))
        if folder is not None:
            with folder:
                if folder.holds(name):
                    raise _taken(id, os.path.join(folder.path, name))


def _taken(id: str, path: str | None) -> MemoryExists:
    message = f"a memory with the id {id} exists; save under a new id and link to the old one"
    return MemoryExists(message, detail=path)


def refuse_writes(place: Place, *, dry_run: bool) -> None:
    """Raise DryRun or VaultUnsafe where nothing may be written."""
    if dry_run:
        raise DryRun(f"{DRY_RUN_VARIABLE} is set, so nothing is written; unset it to save")
    if place.refusal is not None:
        raise VaultUnsafe(place.refusal, detail=place.anchor)


def writable_root(place: Place) -> Folder:
    """Open a scope's root, made and kept out of version control where that is due."""
    with Folder.make(place.anchor) as anchor:
        root = anchor.make_path(place.below)
    root.sweep()
    if place.scope == "project":
        try:
            _protect(root)
        except BaseException:
            root.close()
            raise
    return root


def refuse_secrets(**fields: object) -> None:
    """Raise SecretRefused for the first text, or list of texts, with a suspected credential."""
    for name, value in fields.items():
        for text in value if isinstance(value, list) else [value]:
            hit = find_secret(text) if isinstance(text, str) else None
            if hit is not None:
                raise SecretRefused(
                    f"{name} line {hit.line} looks like a credential ({hit.rule}), so nothing was saved; "
                    "leave the value out and say where it is kept"
                )


def _protect(root: Folder) -> None:
    """Make sure that git keeps the project scope to itself before anything is written there."""
    if not root.holds(GITIGNORE_NAME):
        with contextlib.suppress(MemoryExists):  # somebody else was quicker
            root.publish(GITIGNORE_NAME, GITIGNORE)
    content = gitignore(root)
    if content != GITIGNORE:
        raise VaultUnsafe(
            "the .gitignore of the project scope is not the one that keeps memories private; "
            "it must hold exactly two lines, * and !.gitignore, or be removed so that it is made anew",
            detail=os.path.join(root.path, GITIGNORE_NAME),
        )


def gitignore(root: Folder) -> bytes | None:
    """What the project scope's ``.gitignore`` holds; nothing when it is no regular file, None when absent."""
    try:
        return root.read(GITIGNORE_NAME, MAX_DOCUMENT_BYTES)[0]
    except FileNotFoundError:
        return None
    except NotRegular:
        return b""
