"""``ecc memory install``, ``uninstall``, ``status`` and ``harnesses``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from ecc_memory.cli import options
from ecc_memory.cli.output import emit
from ecc_memory.errors import EditRefused, UsageError
from ecc_memory.terminal import safe

if TYPE_CHECKING:
    from ecc_memory.harness.types import Level, Part

_INSTALL_EXAMPLES = """\b
Examples:
  ecc memory install --harness codex --dry-run
  ecc memory install --harness codex --harness claude
  ecc memory install --all-detected
  ecc memory install --harness codex --project --no-skill
"""
_UNINSTALL_EXAMPLES = """\b
Examples:
  ecc memory uninstall --harness codex --dry-run
  ecc memory uninstall --harness codex --project
  ecc memory uninstall --all
"""

_STATUS_EXAMPLES = """\b
Examples:
  ecc memory status
  ecc memory status --harness codex --json
  ecc memory status --no-checks
"""
_HARNESSES_EXAMPLES = """\b
Examples:
  ecc memory harnesses
  ecc memory harnesses --json
"""

Harnesses = Annotated[
    list[str] | None,
    typer.Option("--harness", metavar="NAME", help="A harness, such as codex; repeatable."),
]
User = Annotated[bool, typer.Option("--user", help="Once for all your projects (default).")]
Project = Annotated[bool, typer.Option("--project", help="Only in the project you are in.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only show what would be done, exactly.")]


def register(app: typer.Typer) -> None:
    """Add the commands to ``app``."""
    app.command("install", epilog=_INSTALL_EXAMPLES)(install)
    app.command("uninstall", epilog=_UNINSTALL_EXAMPLES)(uninstall)
    app.command("status", epilog=_STATUS_EXAMPLES)(status)
    app.command("harnesses", epilog=_HARNESSES_EXAMPLES)(harnesses)


def install(
    names: Harnesses = None,
    all_detected: Annotated[bool, typer.Option("--all-detected", help="Every harness found here.")] = False,
    user: User = False,
    project: Project = False,
    dry_run: DryRun = False,
    no_rules: Annotated[bool, typer.Option("--no-rules", help="Leave out the rules snippet.")] = False,
    no_mcp: Annotated[bool, typer.Option("--no-mcp", help="Leave out the MCP server.")] = False,
    no_skill: Annotated[bool, typer.Option("--no-skill", help="Leave out the skill.")] = False,
    reminders: Annotated[bool, typer.Option("--reminders", help="Add session reminders.")] = False,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Install a reader that cannot save.")
    ] = False,
    adopt: Annotated[
        bool, typer.Option("--adopt", help="Take over what someone made by hand under our name; keep it.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Write over what of ours was edited since.")] = False,
    pin_project_root: Annotated[
        bool,
        typer.Option("--pin-project-root", help="Write ECC_MEMORY_PROJECT_ROOT into the server's entry."),
    ] = False,
    allow_user_scope: Annotated[
        bool, typer.Option("--allow-user-scope", help="Open the user scope to agents that ask for it.")
    ] = False,
    as_json: options.Json = False,
) -> int:
    """Plug the vault into harnesses: skill, rules snippet and MCP server."""
    from ecc_memory.cli.install_output import install_lines
    from ecc_memory.install.engine import detected
    from ecc_memory.install.engine import install as run
    from ecc_memory.install.report import INSTALL_SCHEMA, outcome_json
    from ecc_memory.install.request import Context, Options

    level = _level(user=user, project=project) or "user"
    switches: dict[Part, bool] = {
        "rules": not no_rules,
        "mcp": not no_mcp,
        "skill": not no_skill,
        "reminders": reminders,
    }
    parts = frozenset(part for part, wanted in switches.items() if wanted)
    if not parts:
        raise UsageError("there is nothing left to install; drop one of --no-rules, --no-mcp, --no-skill")
    context = Context.current()
    slugs = list(names or [])
    if all_detected:
        slugs += detected(context, level)
    if not slugs:
        raise UsageError(
            "no harness was found on this machine; name one with --harness"
            if all_detected
            else "name a harness with --harness (see ecc memory harnesses), or take --all-detected"
        )
    chosen = Options(level, parts, read_only, pin_project_root, adopt, force, allow_user_scope)
    try:
        outcome = run(context, slugs, chosen, dry_run=dry_run)
    except EditRefused as error:
        _show_snippet(error)
        raise
    return emit(outcome_json(outcome, INSTALL_SCHEMA), install_lines(outcome), as_json=as_json)


def uninstall(
    names: Harnesses = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Every harness, every level and project, unless narrowed.")
    ] = False,
    user: User = False,
    project: Project = False,
    dry_run: DryRun = False,
    force: Annotated[bool, typer.Option("--force", help="Remove what was edited since, too.")] = False,
    as_json: options.Json = False,
) -> int:
    """Take the vault out of harnesses, byte for byte; your memories stay."""
    from ecc_memory.cli.install_output import uninstall_lines
    from ecc_memory.install.engine import uninstall as run
    from ecc_memory.install.report import UNINSTALL_SCHEMA, outcome_json
    from ecc_memory.install.request import Context

    if everything and names:
        raise UsageError("--all and --harness exclude each other")
    level = _level(user=user, project=project)
    slugs = None if everything else list(names or [])
    outcome = run(Context.current(), slugs, level, force=force, dry_run=dry_run)
    payload, status = outcome_json(outcome, UNINSTALL_SCHEMA), 1 if outcome.kept else 0
    return emit(payload, uninstall_lines(outcome), as_json=as_json, status=status)


def status(
    names: Harnesses = None,
    no_checks: Annotated[
        bool, typer.Option("--no-checks", help="Do not ask the harnesses' own programs.")
    ] = False,
    as_json: options.Json = False,
) -> int:
    """Show what is installed where, whether it is intact, and which vault it uses."""
    from ecc_memory.cli.status_output import status_lines
    from ecc_memory.install.diagnosis import diagnose
    from ecc_memory.install.request import Context
    from ecc_memory.install.status import status as look
    from ecc_memory.install.status_json import status_json

    context = Context.current()
    found = look(context, names or (), run_checks=not no_checks)
    remarks = diagnose(context, found)
    wrong = any(remark.weight == "finding" for remark in remarks)
    payload = status_json(found, remarks)
    return emit(payload, status_lines(found, remarks), as_json=as_json, status=1 if wrong else 0)


def harnesses(as_json: options.Json = False) -> int:
    """List the harnesses that can be installed, and whether they are on this machine."""
    from ecc_memory.cli.status_output import harness_lines
    from ecc_memory.install.catalogue import catalogue
    from ecc_memory.install.request import Context
    from ecc_memory.install.status_json import harnesses_json

    context = Context.current()
    entries, broken = catalogue(context), context.plugins.broken
    return emit(harnesses_json(entries, broken), harness_lines(entries, broken), as_json=as_json)


def _level(*, user: bool, project: bool) -> Level | None:
    if user and project:
        raise UsageError("--user and --project exclude each other")
    if project:
        return "project"
    return "user" if user else None


def _show_snippet(error: EditRefused) -> None:
    """Print what a person can paste instead, line by line, before the error's own line."""
    if error.snippet and sys.stderr is not None:
        sys.stderr.write(f"Nothing was written. To do it by hand, add this:\n\n{safe(error.snippet)}\n")
