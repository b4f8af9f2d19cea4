"""Codex's hooks: the session reminder and the guard, and the person's trust in them.

Facts about Codex CLI 0.171, each seen in the program itself:

- ``hooks.json`` is strict JSON with nothing but ``description`` and ``hooks`` at its top. In a linked git
  worktree a project's is read from the main checkout.
- No hook runs before the person has trusted it, and ``codex exec`` does not say so. Trust stands in the
  user's ``config.toml``, in ``[hooks.state."<path of hooks.json>:<event>:<group>:<hook>"]``, by position and
  by a hash of the entry: so our groups go last, and what they say does not change with versions.
- Codex runs a command as ``$SHELL -c`` in the session's folder with the whole environment.
- Its file tool is ``apply_patch``; a hook gets the patch as ``command``. An ``apply_patch`` within a shell
  command is a shell command to hooks.
- A tool of a server is offered in a namespace, ``mcp__<server with _ for ->``.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from ecc_memory.harness.reminders import SECONDS, hook_command, readiness
from ecc_memory.harness.types import (
    SERVER_NAME,
    Artifact,
    CommandCheck,
    ConfigEntry,
    InstallRequest,
    ListItem,
)

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TRUST_NOTE = (
    "Codex runs a new hook only after you trust it, and codex exec says nothing about it: start codex once "
    "and choose to trust the hooks. ecc memory status shows whether you did."
)

_TOOLS = f"mcp__{SERVER_NAME.replace('-', '_')}."
_STATE = ("hooks", "state")
_IN_KEYS = {"SessionStart": "session_start", "PreToolUse": "pre_tool_use"}
_PROGRAM = "ecc-memory-hook"


def hook_items(request: InstallRequest, folder: Path) -> tuple[ListItem, ...]:
    """Describe our two hooks in the ``hooks.json`` of a Codex folder."""
    path = folder / "hooks.json"
    reminder = hook_command(request, "reminder", "SessionStart", _TOOLS)
    guard = hook_command(request, "guard", "PreToolUse", _TOOLS)
    return (
        _group(path, "SessionStart", reminder, {}),
        _group(path, "PreToolUse", guard, {"matcher": "^apply_patch$"}),
    )


def trust_entries(home: Path, artifacts: tuple[Artifact, ...]) -> tuple[ConfigEntry, ...]:
    """Find what Codex has written about our hooks: the person's trust in them, or that they are off.

    Args:
        home: the user's Codex folder.
        artifacts: what is installed.
    """
    config = home / "config.toml"
    try:
        state = tomllib.loads(config.read_text(encoding="utf-8"))
        for name in _STATE:
            state = state[name]
        known = {_split(key): (key, value) for key, value in state.items()}
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return ()
    places = (place for item in artifacts if isinstance(item, ListItem) for place in _places(item))
    found = (known[place] for place in places if place in known)
    return tuple(ConfigEntry("reminders", config, "toml", (*_STATE, key), value) for key, value in found)


def hook_checks(codex: str, folder: Path, env: Mapping[str, str], cwd: Path | None) -> Iterator[CommandCheck]:
    """Ask Codex whether our hooks are trusted, and run what is registered."""
    path = folder / "hooks.json"
    commands = our_commands(path)
    if commands:
        argv = (sys.executable, "-m", "ecc_memory_codex.trust", codex, str(path))
        hint = "start codex and choose to trust the hooks"
        yield CommandCheck("reminders", argv, "every hook is trusted", env, cwd=cwd, hint=hint)
        yield readiness(commands[0])


def our_commands(path: Path) -> list[str]:
    """Give the commands in a ``hooks.json`` that run our program, none if it cannot be read."""
    try:
        groups = [group for groups in json.loads(path.read_bytes())["hooks"].values() for group in groups]
        commands = [hook["command"] for group in groups for hook in group["hooks"]]
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return []
    return [command for command in commands if is_ours(command)]


def is_ours(command: object) -> bool:
    """Say whether a command runs our program, for showing; what is removed is recorded exactly."""
    try:
        words = shlex.split(str(command))
    except ValueError:
        return False
    return _PROGRAM in {os.path.basename(word) for word in words}


def _group(path: Path, event: str, command: str, matcher: Mapping[str, str]) -> ListItem:
    hook = {"type": "command", "command": command, "timeout": SECONDS}
    return ListItem("reminders", path, "json", ("hooks", event), {**matcher, "hooks": [hook]}, mark=command)


def _places(item: ListItem) -> Iterator[tuple[str, str, str, str]]:
    """Yield where an item of ours stands, in the words of a key."""
    try:
        groups = json.loads(item.path.read_bytes())
        for name in item.key:
            groups = groups[name]
        commands = [[hook.get("command") for hook in group["hooks"]] for group in groups]
        positions = [index for index, ours in enumerate(commands) if ours == [item.mark]]
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return
    event = _IN_KEYS.get(item.key[-1], "")
    for index in positions:
        yield os.path.realpath(item.path), event, str(index), "0"


def _split(key: str) -> tuple[str, ...]:
    path, *position = key.rsplit(":", 3)
    return (os.path.realpath(path), *position)
