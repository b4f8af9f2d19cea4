"""``ecc memory search``."""

from __future__ import annotations

from typing import Annotated

import typer

from ecc_memory.cli import options
from ecc_memory.cli.describe import headline, sent_on
from ecc_memory.cli.output import UNTRUSTED, emit, quoted
from ecc_memory.vault import Diagnostics, SearchHit, SearchResult, Vault

_EXAMPLES = """\b
Examples:
  ecc memory search token rotation
  ecc memory search --kind handoff --target-harness claude
  ecc memory search -- -x                  (words that start with a dash)
"""

Query = Annotated[
    list[str] | None,
    typer.Argument(metavar="[QUERY]...", help="Words to look for, joined by spaces. None lists the newest."),
]
Harness = Annotated[
    str | None,
    typer.Option("--target-harness", metavar="NAME", help="Only what is meant for this harness."),
]
Limit = Annotated[
    int, typer.Option("--limit", metavar="N", min=1, max=100, help="Results at most, 1 to 100.")
]


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command("search", epilog=_EXAMPLES)(search)


def search(
    query: Query = None,
    scopes: options.Scopes = None,
    kinds: options.Kinds = None,
    harness: Harness = None,
    limit: Limit = 20,
    as_json: options.Json = False,
) -> int:
    """Find memories by their words."""
    words = " ".join(query or [])
    result = Vault.open().search(words, scopes=scopes, kinds=kinds, target_harness=harness, limit=limit)
    filters = [" or ".join(kinds)] if kinds else []
    filters += [f"for {harness}"] if harness else []
    return emit(result.to_json(), _lines(result, words, " ".join(filters), scopes), as_json=as_json)


def _lines(result: SearchResult, words: str, filters: str, scopes: list[str] | None) -> list[str]:
    count = len(result.results)
    if count:
        lines = [f"{count} {'memory' if count == 1 else 'memories'} ({UNTRUSTED})"]
    else:
        sought = f"No memory matches {words!r}" if words.strip() else "No active memory"
        sought += f" ({filters})" if filters else ""
        lines = [f"{sought} in {' and '.join(scopes or ('project', 'team'))} scope."]
        if not scopes:
            lines.append("User scope is searched only with --scope user.")
    for hit in result.results:
        lines += ["", *_hit_lines(hit)]
    return [*lines, *_notes(result.diagnostics, count)]


def _notes(diagnostics: Diagnostics, shown: int) -> list[str]:
    notes = []
    if diagnostics.total > shown:
        notes.append(f"{shown} of {diagnostics.total} matches shown; raise --limit or add a word")
    if diagnostics.note:
        notes.append(diagnostics.note)
    skipped = diagnostics.invalid_files + diagnostics.skipped_symlinks
    if skipped:
        notes.append(f"skipped {skipped} {'file' if skipped == 1 else 'files'}; run: ecc memory doctor")
    if diagnostics.truncated:
        notes.append("not the whole vault could be searched; run: ecc memory doctor")
    return ["", *notes] if notes else []


def _hit_lines(hit: SearchHit) -> list[str]:
    details = [headline(hit.memory), f"id {hit.memory.id}", *quoted(hit.excerpt)]
    if hit.relaxed:
        details.append("loose match: none of the words stands there exactly as asked")
    return [hit.memory.title, *(f"  {line}" for line in [*details, *sent_on(hit.linked_by)])]
