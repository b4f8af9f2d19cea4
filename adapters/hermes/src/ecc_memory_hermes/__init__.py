"""Hermes: what its adapter tells ecc-memory.

Facts about Hermes Agent 0.19, each seen in the program or its source:

- ``HERMES_HOME`` moves its folder (blank means ``~/.hermes``), and the profile named in the file
  ``active_profile`` there moves it again, to ``profiles/<name>``.
- It has no configuration in a project, and reads skills in its own ``skills/`` only.
- ``agent.environment_hint`` stands in every session's prompt, after the identity in ``SOUL.md``; it is
  empty by default. A hint of the user's own stays, and the text goes to the end of ``SOUL.md`` instead,
  if there is one: creating it would displace the built-in identity.
- It waits 1.5 s for servers before the first turn; ``mcp_discovery_timeout`` says otherwise, and a server
  that is ready sooner costs no wait.
- It gives a server a short list of variables and those that ``env`` holds; ``${NAME}`` there stays as it
  is when unset, so nothing can be forwarded safely.
- ``hermes mcp add`` and ``hermes config set`` write the whole file anew, without its comments.
"""

from __future__ import annotations

import os
from pathlib import Path

from ruamel.yaml import YAML

from ecc_memory.harness.hookspecs import hookimpl
from ecc_memory.harness.locate import program
from ecc_memory.harness.shared import skill_in
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
from ecc_memory_hermes.reminders import CONSENT_NOTE, consents, hook_checks, hook_items

_DISCOVERY_SECONDS = 10
_HINT = ("agent", "environment_hint")

_NO_PROJECT_LEVEL = "Hermes has no configuration of its own in a project; install it at user level"
_WAITS = (
    f"Where mcp_discovery_timeout was not set, it is now {_DISCOVERY_SECONDS}: Hermes waits up to that many "
    "seconds for the memory tools before the first turn, not 1.5."
)
_NEEDS_EXTRA = "Hermes speaks MCP only when it was installed with its extra: pip install 'hermes-agent[mcp]'."
_OWN_HINT = "Your own agent.environment_hint stays; the rules are at the end of SOUL.md instead."
_NO_PLACE = (
    "No rules were written: agent.environment_hint is yours, and there is no SOUL.md yet. Start hermes "
    "once, which makes it, and install again."
)


@hookimpl
def ecc_memory_harness() -> Harness:
    """Say who Hermes is."""
    return Harness(
        slug="hermes",
        name="Hermes",
        levels={"user": frozenset({"rules", "mcp", "skill", "reminders"})},
        level_notes={"project": _NO_PROJECT_LEVEL},
    )


@hookimpl
def ecc_memory_detect(where: Surroundings) -> Detection:
    """Find the ``hermes`` program and the folder of the profile it runs with."""
    home = _home(where)
    executable = program(where, "hermes")
    return Detection(found=executable is not None or home.is_dir(), config_home=home, executable=executable)


@hookimpl
def ecc_memory_installation(request: InstallRequest) -> Installation:
    """Describe the parts; there is only the user level."""
    home = _home(request.where)
    config = home / "config.yaml"
    server = {"command": request.server_command, "args": [], "env": dict(request.server_env)}
    timeout = ("mcp_discovery_timeout",)
    rules, about_rules = _rules(request, home, config)
    about = {"mcp": (_WAITS, _NEEDS_EXTRA), "rules": about_rules, "reminders": (CONSENT_NOTE,)}
    return Installation(
        artifacts=(
            *skill_in(home / "skills", request.skill),
            ConfigEntry("mcp", config, "yaml", ("mcp_servers", SERVER_NAME), server),
            ConfigEntry("mcp", config, "yaml", timeout, _DISCOVERY_SECONDS, absent_only=True),
            *rules,
            *hook_items(request, home, config),
        ),
        notes=tuple(note for part, notes in about.items() if part in request.parts for note in notes),
    )


@hookimpl
def ecc_memory_checks(where: Surroundings, level: Level) -> tuple[CommandCheck, ...]:
    """Ask ``hermes`` for its skills and to connect to the server; nothing lists its hint."""
    executable = program(where, "hermes")
    if executable is None or level != "user":
        return ()
    hermes = str(executable)
    env = {"HOME": str(where.home), "HERMES_HOME": str(_home(where)), "COLUMNS": "200"}
    return (
        CommandCheck("skill", (hermes, "skills", "list"), SKILL_NAME, env),
        CommandCheck("mcp", (hermes, "mcp", "test", SERVER_NAME), "memory_search", env),
        *hook_checks(hermes, env),
    )


@hookimpl
def ecc_memory_residue(where: Surroundings, artifacts: tuple[Artifact, ...]) -> tuple[Artifact, ...]:
    """Name the consents to our hooks that Hermes wrote itself."""
    return consents(_home(where), artifacts)


def _home(where: Surroundings) -> Path:
    value = where.env.get("HERMES_HOME", "").strip()
    root = Path(os.path.abspath(value)) if value else where.home / ".hermes"
    profile = "" if root.parent.name == "profiles" else _read(root / "active_profile").strip()
    return root / "profiles" / profile if profile not in ("", "default") else root


def _rules(request: InstallRequest, home: Path, config: Path) -> tuple[tuple[Artifact, ...], tuple[str, ...]]:
    """Give where the snippet goes, and what the person should know about it."""
    text = request.rules.strip()
    hint = _hint(config)
    if hint is None or _is_ours(hint, text):
        return (ConfigEntry("rules", config, "yaml", _HINT, text, absent_only=True),), ()
    soul = home / "SOUL.md"
    if _read(soul).strip():
        return (MarkedBlock("rules", soul, request.rules),), (_OWN_HINT,)
    return (), (_NO_PLACE,)


def _hint(config: Path) -> object:
    """Give the hint in the file, None where there is none or the file cannot be read."""
    try:
        value = YAML(typ="safe", pure=True).load(_read(config))
    except Exception:  # noqa: BLE001 - a date that is none raises ValueError, deep nesting RecursionError
        return None  # the engine refuses the file, with line and reason
    for key in _HINT:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _is_ours(hint: object, text: str) -> bool:
    """Say whether the hint begins with our first clause, as those of all versions do."""
    return isinstance(hint, str) and hint.strip().startswith(text.partition(":")[0])


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    except OSError:
        return ""
