"""Claude Code's hooks: the session reminder, the one before a compaction, and the guard.

Facts about Claude Code 2.1, each seen in the program itself:

- A skills-dir plugin may hold ``hooks/hooks.json``, so ``settings.json`` stays untouched. In a project it
  counts once the person has trusted the folder.
- ``SessionStart`` says whether it is a ``startup``, ``resume``, ``clear`` or ``compact``. What a hook said at
  the startup is still there in a resumed session.
- What a ``PreCompact`` hook prints is added to the instructions for the summary.
- Its file tools are ``Write``, ``Edit`` and ``NotebookEdit``; earlier versions also had ``MultiEdit``.
- Tools of a plugin's server are called ``mcp__plugin_<plugin>_<server>__<tool>``, of a project's
  ``mcp__<server>__<tool>``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from ecc_memory.harness.reminders import SECONDS, hook_command, readiness
from ecc_memory.harness.types import SERVER_NAME, CommandCheck, InstallRequest, OwnedFile

_FILE = Path("hooks", "hooks.json")
_SOURCES = "startup|resume|clear|compact"
_FILE_TOOLS = "Write|Edit|MultiEdit|NotebookEdit"


def hooks_file(request: InstallRequest, plugin: Path) -> OwnedFile:
    """Describe the hooks of our plugin.

    Args:
        request: the installation.
        plugin: the plugin's folder, whose name is the plugin's.
    """
    server = f"plugin_{plugin.name}_{SERVER_NAME}" if request.level == "user" else SERVER_NAME
    tools = f"mcp__{server}__"
    hooks = {
        "SessionStart": [_group(hook_command(request, "reminder", "SessionStart", tools), _SOURCES)],
        "PreCompact": [_group(hook_command(request, "reminder", "PreCompact", tools))],
        "PreToolUse": [_group(hook_command(request, "guard", "PreToolUse", tools), _FILE_TOOLS)],
    }
    content = json.dumps({"hooks": hooks}, indent=2, ensure_ascii=False) + "\n"
    return OwnedFile("reminders", plugin / _FILE, content.encode())


def hooks_checks(plugin: Path) -> tuple[CommandCheck, ...]:
    """Run the very command that is registered; ``claude`` lists no hooks."""
    try:
        hooks = json.loads((plugin / _FILE).read_text(encoding="utf-8"))["hooks"]
        return (readiness(hooks["SessionStart"][0]["hooks"][0]["command"]),)
    except (OSError, ValueError, LookupError, TypeError):
        return ()


def _group(command: str, matcher: str | None = None) -> Mapping[str, object]:
    hook = {"type": "command", "command": command, "timeout": SECONDS}
    return {**({"matcher": matcher} if matcher else {}), "hooks": [hook]}
