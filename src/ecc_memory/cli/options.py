"""The options that several commands share, each defined once."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

import typer

Scope = Literal["project", "team", "user"]
Kind = Literal["context", "decision", "fact", "handoff", "lesson", "note", "preference", "runbook"]

# Typer takes no list of Literal, so the repeatable forms are checked by the vault.
SCOPES = get_args(Scope)
KINDS = get_args(Kind)

Json = Annotated[bool, typer.Option("--json", help="Print one line of JSON instead of text.")]
Scopes = Annotated[
    list[str] | None,
    typer.Option(
        "--scope",
        metavar=f"[{'|'.join(SCOPES)}]",
        autocompletion=lambda: list(SCOPES),
        help="This scope only; repeatable. Default: project and team.",
    ),
]
Kinds = Annotated[
    list[str] | None,
    typer.Option(
        "--kind",
        metavar=f"[{'|'.join(KINDS)}]",
        autocompletion=lambda: list(KINDS),
        help="This kind only; repeatable.",
    ),
]
SaveScope = Annotated[
    Scope,
    typer.Option(
        "--scope",
        help="project: private to this checkout. team: shared through git. user: follows you everywhere.",
    ),
]
Title = Annotated[str, typer.Option("--title", metavar="TEXT", help="One line, up to 200 characters.")]
Stdin = Annotated[bool, typer.Option("--stdin", help="Read the body from standard input.")]
BodyFile = Annotated[
    str | None,
    typer.Option("--body-file", metavar="FILE", help="Read the body from this regular file."),
]
Tags = Annotated[list[str] | None, typer.Option("--tag", metavar="NAME", help="a-z 0-9 . _ -; repeatable.")]
Links = Annotated[
    list[str] | None,
    typer.Option("--link", metavar="ID", help="A memory this one refers to or replaces; repeatable."),
]
