"""Hermes's hooks: the reminder before the first turn and the guard, and the person's consent to them.

Facts about Hermes Agent 0.19, each seen in the program or its source:

- A hook in ``config.yaml`` is a command without a shell. It runs only if ``shell-hooks-allowlist.json`` holds
  its event and its exact command; without a terminal nobody is asked, and it is skipped.
- Text reaches the model only from ``pre_llm_call``, which runs before every turn and says whether it is the
  first; what ``on_session_start`` answers is dropped.
- The file tools are ``write_file`` and ``patch``; ``pre_tool_call`` can stop them.
- ``hermes hooks list`` shows each hook and whether it is allowed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from ecc_memory.harness.reminders import SECONDS, hook_command
from ecc_memory.harness.types import SERVER_NAME, Artifact, CommandCheck, InstallRequest, ListItem

CONSENT_NOTE = (
    "The two hooks were entered as approved in shell-hooks-allowlist.json, since you asked for them; "
    "hermes hooks revoke takes that back."
)

_ALLOWLIST = "shell-hooks-allowlist.json"
_TOOLS = f"mcp__{SERVER_NAME.replace('-', '_')}__"


def hook_items(request: InstallRequest, home: Path, config: Path) -> tuple[ListItem, ...]:
    """Describe our two hooks, and the consent that each of them needs."""
    reminder = hook_command(request, "reminder", "pre_llm_call", _TOOLS)
    guard = hook_command(request, "guard", "pre_tool_call", _TOOLS)
    hooks = (
        _hook(config, "pre_llm_call", reminder, {}),
        _hook(config, "pre_tool_call", guard, {"matcher": "write_file|patch"}),
    )
    approvals = [_approval(home, {"event": event, "command": command})
                 for event, command in (("pre_llm_call", reminder), ("pre_tool_call", guard))]  # fmt: skip
    return (*hooks, *approvals)


def consents(home: Path, artifacts: tuple[Artifact, ...]) -> tuple[ListItem, ...]:
    """Find the consents to our hooks that Hermes wrote itself."""
    hooks = [one.item for one in artifacts if isinstance(one, ListItem) and one.key[0] == "hooks"]
    commands = {hook.get("command") for hook in hooks if isinstance(hook, Mapping)}
    ours = [one.item for one in artifacts if isinstance(one, ListItem) and one.key == ("approvals",)]
    try:
        given = json.loads((home / _ALLOWLIST).read_bytes())["approvals"]
        return tuple(
            _approval(home, entry) for entry in given if entry["command"] in commands and entry not in ours
        )
    except (OSError, ValueError, LookupError, TypeError):
        return ()


def hook_checks(hermes: str, env: Mapping[str, str]) -> tuple[CommandCheck, ...]:
    """Ask ``hermes`` whether it has our hooks and may run them."""
    listing = (hermes, "hooks", "list")
    hint = "start hermes in a terminal and allow the hook, or install again"
    return tuple(
        CommandCheck("reminders", listing, expected, env, hint=hint)
        for expected in (
            f"--event pre_llm_call (timeout={SECONDS}s, ✓ allowed)",
            f"--event pre_tool_call matcher='write_file|patch' (timeout={SECONDS}s, ✓ allowed)",
        )
    )


def _hook(config: Path, event: str, command: str, matcher: Mapping[str, str]) -> ListItem:
    hook = {**matcher, "command": command, "timeout": SECONDS}
    return ListItem("reminders", config, "yaml", ("hooks", event), hook, mark=command)


def _approval(home: Path, entry: object) -> ListItem:
    return ListItem("reminders", home / _ALLOWLIST, "json", ("approvals",), entry)
