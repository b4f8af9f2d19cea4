"""Codex: what its adapter tells ecc-memory.

Facts about Codex CLI 0.171, each seen in the program itself:

- ``CODEX_HOME`` moves its folder and must exist; empty means ``~/.codex``.
- It reads skills in ``~/.agents/skills`` and in a project's ``.agents/skills``, trusted or not, and
  lists a second copy in its own folder twice; so the shared folder it is.
- Of its own folder it reads ``AGENTS.override.md`` if that holds more than white space, else
  ``AGENTS.md``. In a project an ``AGENTS.override.md`` hides ``AGENTS.md`` even when empty.
- It gives a server a short list of variables and those that ``env`` and ``env_vars`` name.
- It waits one second for servers before the first turn; ``mcp_optional_startup_grace_ms`` says otherwise,
  and a server that is ready sooner costs no wait.
- A project's ``.codex/config.toml`` counts only once the project is trusted.
- ``codex mcp add`` writes every server's table anew: comments go, ``env`` becomes a sub-table.
"""

from __future__ import annotations

from pathlib import Path

from ecc_memory.errors import InstallError
from ecc_memory.harness.hookspecs import hookimpl
from ecc_memory.harness.locate import config_home, program
from ecc_memory.harness.shared import AGENTS_SKILLS, project_agents_md, skill_in, user_agents_md
from ecc_memory.harness.types import (
    SERVER_NAME,
    SKILL_NAME,
    Artifact,
    CommandCheck,
    ConfigEntry,
    Detection,
    Harness,
    Installation,
    InstallRequest,
    Level,
    MarkedBlock,
    Surroundings,
)
from ecc_memory_codex.reminders import TRUST_NOTE, hook_checks, hook_items, trust_entries

_STARTUP_TIMEOUT_SEC = 60.0
"""A slow disk must not cost the session its memory; Codex's default is 30, once 10."""

_GRACE = ("mcp_optional_startup_grace_ms",)
_GRACE_MS = 10_000
"""As for Hermes: on a busy machine a second is too short, and the first turn goes without the tools."""

_WAITS = (
    f"Where mcp_optional_startup_grace_ms was not set, it is now {_GRACE_MS}: Codex waits up to that many "
    "milliseconds for the memory tools, and for other servers, before the first turn, not 1000."
)
_TRUST = (
    "Codex reads .codex/config.toml only in a project you trust: start codex there once and accept, "
    "or the MCP server stays off. The skill and AGENTS.md count at once."
)
_NO_AGENTS_MD = (
    "No rules were written for Codex: the project has no AGENTS.md, and a new one would make OpenCode "
    "and Hermes stop reading the instruction file it has. Create AGENTS.md and install again, if you like."
)


@hookimpl
def ecc_memory_harness() -> Harness:
    """Say who Codex is."""
    return Harness(
        slug="codex",
        name="Codex",
        levels={
            "user": frozenset({"rules", "mcp", "skill", "reminders"}),
            "project": frozenset({"rules", "mcp", "skill", "reminders"}),
        },
        level_notes={"project": "the MCP server needs a trusted project"},
    )


@hookimpl
def ecc_memory_detect(where: Surroundings) -> Detection:
    """Find the ``codex`` program and the folder it is configured in."""
    home = _home(where)
    executable = program(where, "codex")
    return Detection(found=executable is not None or home.is_dir(), config_home=home, executable=executable)


@hookimpl
def ecc_memory_installation(request: InstallRequest) -> Installation:
    """Describe the parts at user or at project level."""
    root = request.where.project_root
    return _user(request) if request.level == "user" or root is None else _project(request, root)


@hookimpl
def ecc_memory_checks(where: Surroundings, level: Level) -> tuple[CommandCheck, ...]:
    """Ask ``codex`` for its server table and for the prompt it would send."""
    executable = program(where, "codex")
    if executable is None:
        return ()
    codex = str(executable)
    env = {"HOME": str(where.home)}
    if where.env.get("CODEX_HOME", "").strip():
        env["CODEX_HOME"] = where.env["CODEX_HOME"]
    cwd = where.project_root if level == "project" else None
    folder = _home(where) if cwd is None else cwd / ".codex"
    prompt = (codex, "debug", "prompt-input", "hello")
    return (
        CommandCheck("skill", prompt, f"- {SKILL_NAME}: ", env, cwd=cwd),
        CommandCheck("rules", prompt, f"skill `{SKILL_NAME}`", env, cwd=cwd),
        CommandCheck("mcp", (codex, "mcp", "get", SERVER_NAME), SERVER_NAME, env, cwd=cwd),
        *hook_checks(codex, folder, env, cwd),
    )


@hookimpl
def ecc_memory_residue(where: Surroundings, artifacts: tuple[Artifact, ...]) -> tuple[Artifact, ...]:
    """Name the trust in our hooks, which Codex keeps in the user's file whatever the level."""
    return trust_entries(_home(where), artifacts)


def _home(where: Surroundings) -> Path:
    return config_home(where, "CODEX_HOME", ".codex")


def _user(request: InstallRequest) -> Installation:
    home = _home(request.where)
    if not home.is_dir() and request.where.env.get("CODEX_HOME", "").strip():
        raise InstallError(
            "CODEX_HOME names a folder that does not exist, and Codex will not start with it; "
            "create the folder or unset CODEX_HOME",
            detail=str(home),
        )
    skills = request.where.home / AGENTS_SKILLS
    server = {**_server(request), "env_vars": list(request.forward_env)}
    return Installation(
        artifacts=(
            *skill_in(skills, request.skill),
            MarkedBlock("rules", user_agents_md(request.where), request.rules),
            _entry(home, server),
            ConfigEntry("mcp", home / "config.toml", "toml", _GRACE, _GRACE_MS, absent_only=True),
            *hook_items(request, home),
        ),
        notes=(*((_WAITS,) if "mcp" in request.parts else ()), *_trust_notes(request)),
    )


def _project(request: InstallRequest, root: Path) -> Installation:
    rules = _project_rules(root)
    artifacts: list[Artifact] = [*skill_in(root / AGENTS_SKILLS, request.skill)]
    if rules is not None:
        artifacts.append(MarkedBlock("rules", rules, request.rules))
    artifacts += [_entry(root / ".codex", _server(request)), *hook_items(request, root / ".codex")]
    return Installation(
        artifacts=tuple(artifacts),
        notes=(
            *((_TRUST,) if "mcp" in request.parts else ()),
            *((_NO_AGENTS_MD,) if rules is None and "rules" in request.parts else ()),
            *_trust_notes(request),
        ),
    )


def _trust_notes(request: InstallRequest) -> tuple[str, ...]:
    return (TRUST_NOTE,) if "reminders" in request.parts else ()


def _project_rules(root: Path) -> Path | None:
    """Give the instruction file that Codex reads in the project; None where none may be made."""
    override = root / "AGENTS.override.md"
    return override if override.is_file() else project_agents_md(root)


def _server(request: InstallRequest) -> dict[str, object]:
    return {
        "command": request.server_command,
        "env": dict(request.server_env),
        "startup_timeout_sec": _STARTUP_TIMEOUT_SEC,
    }


def _entry(folder: Path, server: dict[str, object]) -> ConfigEntry:
    return ConfigEntry("mcp", folder / "config.toml", "toml", ("mcp_servers", SERVER_NAME), server)
