"""``ecc memory index status``, ``rebuild`` and ``drop``."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

import typer

from ecc_memory.cli import options
from ecc_memory.cli.output import emit
from ecc_memory.errors import VaultIO
from ecc_memory.vault import Vault

_HELP = """Look after the index, which only makes large vaults faster. The files are the truth:
the index follows them by itself, answers are the same without it, and it may be dropped at any time.

\b
Examples:
  ecc memory index status --json
  ecc memory index rebuild --scope project
  ecc memory index drop
"""
_DEFAULT_SCOPES = ("project", "team")
_WIDTH = 30


def register(app: typer.Typer) -> None:
    """Add the commands to ``app``."""
    index = typer.Typer(help=_HELP, no_args_is_help=False, rich_markup_mode=None)
    index.command("status", epilog=_examples("status --json"))(status)
    index.command("rebuild", epilog=_examples("rebuild --scope project"))(rebuild)
    index.command("drop", epilog=_examples("drop"))(drop)
    app.add_typer(index, name="index")


def _examples(words: str) -> str:
    return f"\b\nExample:\n  ecc memory index {words}\n"


def status(scopes: options.Scopes = None, as_json: options.Json = False) -> int:
    """Show where the index is, how much it holds, and what is wrong with it."""
    return _report("status", _scopes(scopes), as_json=as_json)


def rebuild(scopes: options.Scopes = None, as_json: options.Json = False) -> int:
    """Drop the index and build it from the files. Exit status 1 when it cannot be stored."""
    vault = Vault.open()
    stored = []
    for scope in _scopes(scopes):
        place = vault.place(scope)
        progress = Progress(place.path)
        _drop(vault, scope)
        stored.append(vault.index.rebuild(place, vault.limits, progress.advance))
        progress.clear()
    return _report("rebuild", _scopes(scopes), as_json=as_json, code=0 if all(stored) else 1)


def drop(scopes: options.Scopes = None, as_json: options.Json = False) -> int:
    """Delete the index; it comes back when a large vault is next searched."""
    vault = Vault.open()
    for scope in _scopes(scopes):
        _drop(vault, scope)
    return _report("drop", _scopes(scopes), as_json=as_json)


class Progress:
    """A bar on a terminal's standard error, for work that has taken a second already.

    Args:
        folder: what is worked on; each document in it counts twice, read and written.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._began = self._shown = time.monotonic()
        self._wanted = sys.stderr is not None and sys.stderr.isatty()
        self._done = 0
        self._total = 0

    def advance(self, steps: int) -> None:
        """Count some steps as done."""
        self._done += steps
        now = time.monotonic()
        if self._wanted and now - self._began > 1 and now - self._shown > 0.1:
            self._shown = now
            self._total = self._total or 2 * _count(self._folder)
            share = min(self._done / max(self._total, 1), 1)
            bar = ("#" * round(_WIDTH * share)).ljust(_WIDTH, ".")
            sys.stderr.write(f"\r[{bar}] {share:4.0%}")
            sys.stderr.flush()

    def clear(self) -> None:
        """Take the bar away."""
        if self._total:
            sys.stderr.write("\r" + " " * (_WIDTH + 8) + "\r")
            sys.stderr.flush()


def _count(folder: str) -> int:
    return sum(name.endswith(".md") for _, _, names in os.walk(folder) for name in names)


def _scopes(scopes: list[str] | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys(scopes)) if scopes else _DEFAULT_SCOPES


def _drop(vault: Vault, scope: str) -> None:
    try:
        vault.index.drop(vault.place(scope))
    except OSError as error:
        raise VaultIO(f"the index cannot be deleted: {error.strerror}", detail=error.filename) from error


def _report(action: str, scopes: tuple[str, ...], *, as_json: bool, code: int = 0) -> int:
    vault = Vault.open()
    found: list[dict[str, Any]] = []
    lines = []
    for scope in scopes:
        store = vault.index.store(vault.place(scope))
        if store is None:
            found.append({"scope": scope, "path": None, "documents": 0, "bytes": 0, "trouble": None})
            lines.append(f"{scope}: no index, since the home folder is not known")
            continue
        state = store.status()
        path = store.path if state.size else None
        found.append(
            {
                "scope": scope,
                "path": path,
                "documents": state.documents,
                "bytes": state.size,
                "trouble": state.trouble,
            }
        )
        if state.trouble:
            lines.append(f"{scope}: not usable, {state.trouble} ({store.path})")
        elif path:
            lines.append(f"{scope}: {state.documents} documents, {state.size} bytes ({path})")
        else:
            lines.append(f"{scope}: no index")
    payload = {"schemaVersion": "ecc.memory.index.v1", "action": action, "scopes": found}
    return emit(payload, lines, as_json=as_json, status=code)
