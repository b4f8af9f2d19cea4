"""OpenCode: what its adapter tells ecc-memory.

Facts about OpenCode 1.18, each seen in the program itself:

- ``XDG_CONFIG_HOME`` moves its folder; empty means ``~/.config``.
- It reads skills in ``.agents/skills`` and in ``.claude/skills`` and lists one name once.
- Of global instruction files it reads one: its own ``AGENTS.md``, else ``~/.claude/CLAUDE.md``; in a project
  ``AGENTS.md``, else ``CLAUDE.md``, else ``CONTEXT.md``. What ``instructions`` lists comes on top and
  displaces nothing, so at user level our text is a file of our own there.
- A server's variables are called ``environment``; ``env`` is dropped without a word.
- It has hooks only for plugins, and with any plugin it waits at every start for the npm registry, over a
  minute where that cannot be reached; so there are no reminders.
- It writes ``$schema`` into a file that has none, unasked. We do it first, so that a file we made stays
  ours and can be deleted again.
"""

from __future__ import annotations

from pathlib import Path

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
    ListItem,
    MarkedBlock,
    OwnedFile,
    Part,
    Surroundings,
)
from ecc_memory_opencode.config import project_file, user_file, user_instructions_file

_SCHEMA = "https://opencode.ai/config.json"
_RULES_FILE = "ecc-memory.md"
_SECONDS = 30.0
_NO_REMINDERS = "no reminders: OpenCode has hooks only for plugins, and those can hold up its start"
_PROJECT_RULES = Path(".agents", _RULES_FILE)


@hookimpl
def ecc_memory_harness() -> Harness:
    """Say who OpenCode is."""
    return Harness(
        slug="opencode",
        name="OpenCode",
        levels={
            "user": frozenset({"rules", "mcp", "skill"}),
            "project": frozenset({"rules", "mcp", "skill"}),
        },
        level_notes={"user": _NO_REMINDERS, "project": _NO_REMINDERS},
        whole_environment=True,
    )


@hookimpl
def ecc_memory_detect(where: Surroundings) -> Detection:
    """Find the ``opencode`` program and the folder it is configured in."""
    home = _home(where)
    executable = program(where, "opencode")
    return Detection(found=executable is not None or home.is_dir(), config_home=home, executable=executable)


@hookimpl
def ecc_memory_installation(request: InstallRequest) -> Installation:
    """Describe the parts at user or at project level."""
    root = request.where.project_root
    return _user(request) if request.level == "user" or root is None else _project(request, root)


@hookimpl
def ecc_memory_checks(where: Surroundings, level: Level) -> tuple[CommandCheck, ...]:
    """Ask ``opencode`` for its skills and for its merged configuration."""
    executable = program(where, "opencode")
    if executable is None:
        return ()
    opencode = str(executable)
    env = {"HOME": str(where.home)}
    if where.env.get("XDG_CONFIG_HOME", "").strip():
        env["XDG_CONFIG_HOME"] = where.env["XDG_CONFIG_HOME"]
    cwd = where.project_root if level == "project" else None
    # Two commands, because each start takes seconds; `mcp list` would start every server besides.
    skills, config = (opencode, "debug", "skill"), (opencode, "debug", "config")
    server = f'"{SERVER_NAME}"' if level == "user" else '"ecc-memory-mcp"'  # a bare name is the project's
    expected: list[tuple[Part, tuple[str, ...], str]] = [
        ("skill", skills, f'"{SKILL_NAME}"'),
        ("mcp", config, server),
    ]
    if level == "user":
        expected.append(("rules", config, _RULES_FILE))
    return tuple(CommandCheck(part, argv, word, env, _SECONDS, cwd) for part, argv, word in expected)


def _home(where: Surroundings) -> Path:
    return config_home(where, "XDG_CONFIG_HOME", ".config") / "opencode"


def _user(request: InstallRequest) -> Installation:
    home = _home(request.where)
    config = user_file(home)
    skills = request.where.home / AGENTS_SKILLS
    rules: tuple[Artifact, ...] = _listed(request, user_instructions_file(home), home / _RULES_FILE)
    shared = user_agents_md(request.where)
    if _is_same(_global_instructions(request.where), shared):
        rules = (MarkedBlock("rules", shared, request.rules),)
    return _installation(request, config, skills, rules)


def _project(request: InstallRequest, root: Path) -> Installation:
    config = project_file(root)
    agents_md = project_agents_md(root)
    rules: tuple[Artifact, ...] = _listed(request, config, root / _PROJECT_RULES, _PROJECT_RULES.as_posix())
    if agents_md is not None:
        rules = (MarkedBlock("rules", agents_md, request.rules),)
    return _installation(request, config, root / AGENTS_SKILLS, rules)


def _installation(
    request: InstallRequest, config: Path, skills: Path, rules: tuple[Artifact, ...]
) -> Installation:
    server = {
        "type": "local",
        "command": [request.server_command],
        "environment": dict(request.server_env),
        "enabled": True,
    }
    return Installation(
        artifacts=(
            *skill_in(skills, request.skill),
            *(_schema(path, part) for path, part in _edited(request, config, rules).items()),
            ConfigEntry("mcp", config, "jsonc", ("mcp", SERVER_NAME), server),
            *rules,
        ),
        notes=_both_files_note(config),
    )


def _listed(
    request: InstallRequest, config: Path, file: Path, listed_as: str | None = None
) -> tuple[Artifact, ...]:
    """Describe a rules file of our own and the element of ``instructions`` that names it."""
    return (
        OwnedFile("rules", file, request.rules.encode()),
        ListItem("rules", config, "jsonc", ("instructions",), listed_as or str(file)),
    )


def _edited(request: InstallRequest, config: Path, rules: tuple[Artifact, ...]) -> dict[Path, Part]:
    """Give the configuration files that will be edited, each with a part it is edited for."""
    edited: dict[Path, Part] = {rule.path: "rules" for rule in rules if isinstance(rule, ListItem)}
    if "mcp" in request.parts:
        edited[config] = "mcp"
    return edited


def _schema(config: Path, part: Part) -> ConfigEntry:
    return ConfigEntry(part, config, "jsonc", ("$schema",), _SCHEMA, absent_only=True)


def _global_instructions(where: Surroundings) -> Path:
    """Give the one global instruction file that OpenCode reads."""
    own = _home(where) / "AGENTS.md"
    return own if own.is_file() else where.home / ".claude" / "CLAUDE.md"


def _is_same(path: Path, other: Path) -> bool:
    return path.is_file() and path.resolve() == other.resolve()


def _both_files_note(config: Path) -> tuple[str, ...]:
    other = config.with_suffix(".json")
    if config.suffix == ".jsonc" and other.is_file():
        return (f"OpenCode reads both {config.name} and {other.name}; {config.name} wins and was edited.",)
    return ()
