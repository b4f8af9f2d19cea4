"""The commands that an adapter puts into a harness's hooks: the session reminder and the guard.

The program behind them, ``ecc-memory-hook``, reads the harness's event from standard input and answers in
the harness's own form, which follows from the event's name: ``SessionStart``, ``PreCompact`` and
``PreToolUse`` in the form that Claude Code and Codex share, ``pre_llm_call`` and ``pre_tool_call`` in that
of Hermes.
"""

from __future__ import annotations

import shlex
from typing import Literal

from ecc_memory.harness.types import CommandCheck, InstallRequest

SECONDS = 5
"""What a harness should wait at most. The program ends before that by itself."""

_READY = "ecc-memory-hook is ready"


def hook_command(request: InstallRequest, task: Literal["reminder", "guard"], event: str, tools: str) -> str:
    """Give the command for one hook, quoted for a shell.

    It says nothing that changes from version to version, because Codex withdraws its trust from a command
    that changes. At project level it does nothing on a machine without ecc-memory.

    Args:
        request: the installation.
        task: what to run.
        event: the harness's own name of the event, one of those above.
        tools: what the model sees before the names of our tools, such as ``mcp__ecc-memory-vault__``.
    """
    argv = [*request.hook_command, task, "--harness", request.server_env["ECC_MEMORY_HARNESS"]]
    if "mcp" in request.parts:
        argv += ["--tools", tools]
    if "ECC_MEMORY_READ_ONLY" in request.server_env:
        argv.append("--read-only")
    for option in ("--project-root", "--user-root"):
        variable = f"ECC_MEMORY_{option[2:].replace('-', '_').upper()}"
        if variable in request.server_env:
            argv += [option, request.server_env[variable]]
    command = shlex.join([*argv, "--event", event])
    if request.level == "user":
        return command
    return f"command -v {shlex.quote(argv[0])} >/dev/null 2>&1 || exit 0; {command}"


def readiness(command: str) -> CommandCheck:
    """Give the check that a command which stands in a configuration can still be run.

    Args:
        command: as :func:`hook_command` gave it.
    """
    return CommandCheck("reminders", ("/bin/sh", "-c", f"{command} --check"), _READY)
