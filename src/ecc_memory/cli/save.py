"""``ecc memory save`` and ``ecc memory handoff``."""

from __future__ import annotations

from typing import Annotated

import typer

from ecc_memory.cli import options
from ecc_memory.cli.body import read_body
from ecc_memory.cli.describe import absolute, headline, where
from ecc_memory.cli.output import emit
from ecc_memory.vault import Vault

_SAVE_EXAMPLES = """\b
Examples:
  ecc memory save --title "Why we pinned the parser" --kind decision --body-file note.md
  git diff --stat | ecc memory save --title "State before the rewrite" --stdin --tag rewrite
"""
_HANDOFF_EXAMPLES = """\b
Example:
  ecc memory handoff --from codex --target claude --title "Auth migration" --body-file handoff.md
"""

SaveKind = Annotated[options.Kind, typer.Option("--kind", help="What sort of memory it is.")]
Source = Annotated[
    str,
    typer.Option(
        "--source-harness", envvar="ECC_MEMORY_HARNESS", metavar="NAME", help="Who writes, like codex."
    ),
]
Targets = Annotated[
    list[str] | None,
    typer.Option("--target", metavar="NAME", help="A harness it is meant for; repeatable. Default: all."),
]
From = Annotated[str, typer.Option("--from", metavar="NAME", help="The harness that hands over.")]
Receivers = Annotated[
    list[str], typer.Option("--target", metavar="NAME", help="The harness that takes over; repeatable.")
]


def register(app: typer.Typer) -> None:
    """Add the two commands to ``app``."""
    app.command("save", epilog=_SAVE_EXAMPLES)(save)
    app.command("handoff", epilog=_HANDOFF_EXAMPLES)(handoff)


def save(
    title: options.Title,
    stdin: options.Stdin = False,
    body_file: options.BodyFile = None,
    scope: options.SaveScope = "project",
    kind: SaveKind = "note",
    tags: options.Tags = None,
    links: options.Links = None,
    targets: Targets = None,
    source: Source = "unknown",
    as_json: options.Json = False,
) -> int:
    """Save a memory; an existing one is never overwritten."""
    body = read_body(stdin=stdin, body_file=body_file)
    return _save(
        title, body, kind, scope, source, targets or ["all"], tags or [], links or [], as_json=as_json
    )


def handoff(
    title: options.Title,
    source: From,
    targets: Receivers,
    stdin: options.Stdin = False,
    body_file: options.BodyFile = None,
    scope: options.SaveScope = "project",
    tags: options.Tags = None,
    links: options.Links = None,
    as_json: options.Json = False,
) -> int:
    """Hand work over to another harness: goal, state, decided, ruled out, next command, files."""
    body = read_body(stdin=stdin, body_file=body_file)
    return _save(title, body, "handoff", scope, source, targets, tags or [], links or [], as_json=as_json)


def _save(
    title: str,
    body: str,
    kind: str,
    scope: str,
    source: str,
    targets: list[str],
    tags: list[str],
    links: list[str],
    *,
    as_json: bool,
) -> int:
    vault = Vault.open()
    result = vault.save(
        title=title,
        body=body,
        kind=kind,
        scope=scope,
        source_harness=source,
        target_harnesses=targets,
        tags=tags,
        links=links,
    )
    lines = [
        f"Saved: {result.memory.title}",
        f"  {headline(result.memory)}",
        f"  id     {result.memory.id}",
        f"  file   {absolute(vault, result.path)}",
        f"  vault  {where(vault, scope)}",
    ]
    return emit(result.to_json(), lines, as_json=as_json)
