"""The command tree, whose branches are imported only when a command is called."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any, cast

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command, get_group

from ecc_memory import __version__

COMMANDS = {
    "init": "init",
    "save": "save",
    "handoff": "save",
    "search": "search",
    "read": "read",
    "doctor": "doctor",
    "install": "install_commands",
    "uninstall": "install_commands",
    "status": "install_commands",
    "harnesses": "install_commands",
    "index": "index_commands",
}
"""Each command and the module of this package whose ``register(app)`` defines it."""

_HELP = """Keep memories in plain Markdown files that every coding agent can save to and search.

\b
Start with:
  ecc memory save --title "Why we pinned the parser" --body-file note.md
  ecc memory search parser
  ecc memory install --harness codex
"""
_SETTINGS: dict[str, Any] = {
    "rich_markup_mode": None,
    "pretty_exceptions_enable": False,
    "context_settings": {"help_option_names": ["-h", "--help"], "max_content_width": 100},
}


class LazyGroup(TyperGroup):
    """A command group that imports the module of a command when that command is asked for.

    A search then pays neither for the installer nor for the doctor, and Typer inspects one
    signature instead of ten.
    """

    def list_commands(self, ctx: object) -> list[str]:  # noqa: ARG002  Typer's signature
        """Return the names of all commands in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: object, cmd_name: str) -> TyperCommand | None:  # noqa: ARG002
        """Import and return one command; None when there is none of that name."""
        if cmd_name not in COMMANDS:
            self.commands.update({name: self._load(name) for name in COMMANDS})  # for "did you mean"
            return None
        return self._load(cmd_name)

    def _load(self, name: str) -> TyperCommand:
        if name not in self.commands:
            app = typer.Typer(**_SETTINGS)
            import_module(f"ecc_memory.cli.{COMMANDS[name]}").register(app)
            self.commands.update(get_group(app).commands)
        return cast("TyperCommand", self.commands[name])


def build(program: str) -> Any:  # noqa: ANN401  Typer's command class is private
    """Return the callable command tree of ``ecc`` or ``ecc-memory``."""
    memory = typer.Typer(cls=LazyGroup, help=_HELP, invoke_without_command=True, **_SETTINGS)
    memory.callback()(_root)
    if program == "ecc-memory":
        return get_command(memory)
    ecc = typer.Typer(help="Tools for people who work with several coding agents.", **_SETTINGS)
    ecc.callback(invoke_without_command=True)(_root)
    ecc.add_typer(memory, name="memory")
    return get_command(ecc)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ecc-memory {__version__}")
        raise typer.Exit


def _root(
    context: typer.Context,
    _version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        context.fail("a command is missing")
