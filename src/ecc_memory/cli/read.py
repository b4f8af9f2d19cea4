"""``ecc memory read``."""

from __future__ import annotations

from typing import Annotated

import typer

from ecc_memory.cli import options
from ecc_memory.cli.describe import absolute, headline, moment, sent_on
from ecc_memory.cli.output import UNTRUSTED, emit, quoted
from ecc_memory.vault import ReadResult, Vault

_EXAMPLES = """\b
Examples:
  ecc memory read mem_20260726_01k123example
  ecc memory read mem_20260726_01k123example --scope user
"""

Id = Annotated[str, typer.Argument(metavar="ID", show_default=False, help="The id, as search shows it.")]


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command("read", epilog=_EXAMPLES)(read)


def read(id: Id, scopes: options.Scopes = None, as_json: options.Json = False) -> int:
    """Show one memory and what links to it."""
    vault = Vault.open()
    result = vault.read(id, scopes=scopes)
    return emit(result.to_json(), _lines(vault, result), as_json=as_json)


def _lines(vault: Vault, result: ReadResult) -> list[str]:
    memory = result.memory
    lines = [
        f"({UNTRUSTED})",
        memory.title,
        f"  {headline(memory)}",
        f"  id {memory.id}",
        f"  file {absolute(vault, result.path)}",
    ]
    if memory.created_at != memory.updated_at:
        lines.append(f"  created {moment(memory.created_at)}")
    if memory.tags:
        lines.append(f"  tags {', '.join(memory.tags)}")
    if memory.links:
        lines.append(f"  links to {', '.join(memory.links)}")
    lines += [f"  {line}" for line in sent_on(result.linked_by)]
    lines += ["", *quoted(memory.body)]
    if result.backlinks:
        lines += ["", "Linked from:", *(f"  {link.id}  {link.title}" for link in result.backlinks)]
    if result.backlinks_truncated:
        lines.append("  and more")
    return lines
