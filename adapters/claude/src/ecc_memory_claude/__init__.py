"""Claude Code: what its adapter tells ecc-memory.

Facts about Claude Code 2.1, each seen in the program itself:

- ``CLAUDE_CONFIG_DIR`` moves its folder; it may be relative and need not exist.
- A folder in ``skills/`` with a ``.claude-plugin/plugin.json`` is a plugin, loaded without being
  registered anywhere. Ours carries the server and the skill, so that neither ``~/.claude.json`` nor
  ``settings.json``, which running sessions rewrite, is touched, and uninstalling is deletion.
- It reads every file in ``rules/``, at user and at project level, and none in ``.agents``.
- Tools of a server without ``alwaysLoad`` are deferred, and a slow one misses the first turn.
- A project's ``.mcp.json`` is strict JSON, and its servers wait for the person's consent.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from ecc_memory.harness.hookspecs import hookimpl
from ecc_memory.harness.locate import config_home, program
from ecc_memory.harness.shared import project_agents_md, skill_in, user_agents_md
from ecc_memory.harness.types import (
    SERVER_NAME,
    Artifact,
    CommandCheck,
    ConfigEntry,
    Detection,
    Harness,
    Installation,
    InstallRequest,
    Level,
    MarkedBlock,
    OwnedFile,
    Part,
    Surroundings,
)
from ecc_memory_claude.instructions import reaches, reads_agents_md
from ecc_memory_claude.reminders import hooks_checks, hooks_file

PLUGIN_NAME = "ecc-memory"
"""Claude lists the plugin as ``ecc-memory@skills-dir``."""

_RULES_FILE = Path("rules", "ecc-memory.md")

_ALWAYS_LOADED = (
    "The four memory tools are loaded from the first turn on (alwaysLoad); running sessions see them "
    "after a restart."
)
_CONSENT = "Claude Code asks once in each project whether to use the server in .mcp.json; say yes there."
_TRUST = "The reminders are a plugin in .claude/skills, which Claude Code loads in a folder that you trust."
_BLANK_CONFIG_DIR = (
    "CLAUDE_CONFIG_DIR is set but blank. Claude Code then takes the folder it is started in for its own; "
    "unset the variable, or it will not see what was installed in ~/.claude."
)


@hookimpl
def ecc_memory_harness() -> Harness:
    """Say who Claude Code is."""
    return Harness(
        slug="claude",
        name="Claude Code",
        levels={
            "user": frozenset({"rules", "mcp", "skill", "reminders"}),
            "project": frozenset({"rules", "mcp", "skill", "reminders"}),
        },
        level_notes={"project": "the MCP server waits for consent in each project"},
        whole_environment=True,
    )


@hookimpl
def ecc_memory_detect(where: Surroundings) -> Detection:
    """Find the ``claude`` program and the folder it is configured in."""
    home = _home(where)
    executable = program(where, "claude")
    return Detection(found=executable is not None or home.is_dir(), config_home=home, executable=executable)


@hookimpl
def ecc_memory_installation(request: InstallRequest) -> Installation:
    """Describe the parts at user or at project level."""
    root = request.where.project_root
    return _user(request) if request.level == "user" or root is None else _project(request, root)


@hookimpl
def ecc_memory_checks(where: Surroundings, level: Level) -> tuple[CommandCheck, ...]:
    """Ask ``claude`` for its plugins and servers; nothing lists rules or a project's skills."""
    executable = program(where, "claude")
    if executable is None:
        return ()
    claude = str(executable)
    env = {"HOME": str(where.home)}
    if where.env.get("CLAUDE_CONFIG_DIR", "").strip():
        env["CLAUDE_CONFIG_DIR"] = where.env["CLAUDE_CONFIG_DIR"]
    if level == "project" and where.project_root is not None:
        return (
            CommandCheck("mcp", (claude, "mcp", "list"), f"\n{SERVER_NAME}: ", env, cwd=where.project_root),
            *hooks_checks(where.project_root / ".claude" / "skills" / PLUGIN_NAME),
        )
    return (
        CommandCheck("skill", (claude, "plugin", "list"), f"{PLUGIN_NAME}@skills-dir", env),
        CommandCheck("mcp", (claude, "mcp", "list"), f"plugin:{PLUGIN_NAME}:{SERVER_NAME}: ", env),
        *hooks_checks(_home(where) / "skills" / PLUGIN_NAME),
    )


def _home(where: Surroundings) -> Path:
    return config_home(where, "CLAUDE_CONFIG_DIR", ".claude")


def _user(request: InstallRequest) -> Installation:
    where = request.where
    home = _home(where)
    plugin = home / "skills" / PLUGIN_NAME
    blank = "CLAUDE_CONFIG_DIR" in where.env and not where.env["CLAUDE_CONFIG_DIR"].strip()
    return Installation(
        artifacts=(
            *skill_in(plugin / "skills", request.skill),
            _manifest(request, plugin, _carrier(request)),
            OwnedFile("mcp", plugin / ".mcp.json", _json({"mcpServers": {SERVER_NAME: _server(request)}})),
            hooks_file(request, plugin),
            _user_rules(request, home),
        ),
        notes=(
            *((_ALWAYS_LOADED,) if "mcp" in request.parts else ()),
            *((_BLANK_CONFIG_DIR,) if blank else ()),
        ),
    )


def _project(request: InstallRequest, root: Path) -> Installation:
    plugin = root / ".claude" / "skills" / PLUGIN_NAME
    return Installation(
        artifacts=(
            *skill_in(root / ".claude" / "skills", request.skill),
            _manifest(request, plugin, "reminders"),
            hooks_file(request, plugin),
            _project_rules(request, root),
            ConfigEntry("mcp", root / ".mcp.json", "json", ("mcpServers", SERVER_NAME), _server(request)),
        ),
        notes=(
            *((_CONSENT,) if "mcp" in request.parts else ()),
            *((_TRUST,) if "reminders" in request.parts else ()),
        ),
    )


def _user_rules(request: InstallRequest, home: Path) -> Artifact:
    """Describe a file of our own, unless Claude already reads Codex's file, which holds our block."""
    shared = user_agents_md(request.where)
    if reaches((home / "CLAUDE.md", *home.glob("rules/**/*.md")), shared, request.where.home):
        return MarkedBlock("rules", shared, request.rules)
    return OwnedFile("rules", home / _RULES_FILE, request.rules.encode())


def _project_rules(request: InstallRequest, root: Path) -> Artifact:
    """Describe a file of our own, unless Claude reads ``AGENTS.md``, where others put our block."""
    agents_md = project_agents_md(root)
    if agents_md is not None and reads_agents_md(root, _home(request.where), request.where.home):
        return MarkedBlock("rules", agents_md, request.rules)
    return OwnedFile("rules", root / ".claude" / _RULES_FILE, request.rules.encode())


def _carrier(request: InstallRequest) -> Part:
    """Give the part that the plugin's manifest comes and goes with."""
    return next(part for part in ("mcp", "skill", "reminders") if part in {*request.parts, "reminders"})


def _manifest(request: InstallRequest, plugin: Path, part: Part) -> OwnedFile:
    manifest = {
        "name": PLUGIN_NAME,
        "version": request.version,
        "description": "One memory for all coding agents: the ecc-memory server and its skill.",
        "author": {"name": "ecc-memory"},
        "license": "MIT",
    }
    return OwnedFile(part, plugin / ".claude-plugin" / "plugin.json", _json(manifest))


def _server(request: InstallRequest) -> dict[str, object]:
    return {
        "type": "stdio",
        "command": request.server_command,
        "args": [],
        "env": dict(request.server_env),
        "alwaysLoad": True,
    }


def _json(value: Mapping[str, object]) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()
