"""``ecc memory init``."""

from __future__ import annotations

import typer

from ecc_memory.cli import options
from ecc_memory.cli.describe import where
from ecc_memory.cli.output import emit
from ecc_memory.vault import Vault

_EXAMPLES = """\b
Examples:
  ecc memory init
  ecc memory init --scope user
"""


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command("init", epilog=_EXAMPLES)(init)


def init(scopes: options.Scopes = None, as_json: options.Json = False) -> int:
    """Create the folders of the vault; a save does it too, so this is optional."""
    vault = Vault.open()
    chosen = tuple(scopes) if scopes else ("project", "team")
    result = vault.init(chosen)
    made = {path.partition(":")[0] for path in result.created}
    lines = [
        f"{scope}: {where(vault, scope)}, {'created' if scope in made else 'already there'}"
        for scope in result.scopes
    ]
    return emit(result.to_json(), lines, as_json=as_json)
