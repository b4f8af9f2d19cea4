"""Ask Codex whether it trusts our hooks.

    python -m ecc_memory_codex.trust CODEX HOOKS_JSON

Only ``codex app-server`` can tell, and it answers no question that comes in a closed pipe; hence a
program of our own, which ``ecc memory status`` runs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from ecc_memory_codex.reminders import is_ours

_MESSAGES = (
    {"id": 1, "method": "initialize", "params": {"clientInfo": {"name": "ecc-memory", "version": "1"}}},
    {"method": "initialized"},
)


def main() -> None:
    """Print one line for each of our hooks, and a last one if all are trusted."""
    codex, path = sys.argv[1:]
    states = list(_states(codex, path))
    for event, state in states:
        print(f"{event}: {state}")  # noqa: T201 - its output is what it is for
    if states and all(state == "trusted" for _, state in states):
        print("every hook is trusted")  # noqa: T201


def _states(codex: str, path: str) -> Iterator[tuple[str, str]]:
    question = {"id": 2, "method": "hooks/list", "params": {"cwds": [os.getcwd()]}}
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [codex, "app-server"], stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL
    ) as server:
        assert server.stdin is not None  # noqa: S101 - for the type checker
        assert server.stdout is not None  # noqa: S101
        for message in (*_MESSAGES, question):
            server.stdin.write(json.dumps(message).encode() + b"\n")
        server.stdin.flush()
        answers = (json.loads(line) for line in server.stdout)
        listed: list[Any] = next((one["result"]["data"] for one in answers if one.get("id") == 2), [])
        server.terminate()
    for hook in (hook for folder in listed for hook in folder["hooks"]):
        if os.path.realpath(hook["sourcePath"]) == os.path.realpath(path) and is_ours(hook["command"]):
            yield hook["eventName"], hook["trustStatus"] if hook["enabled"] else "off"


if __name__ == "__main__":
    main()
