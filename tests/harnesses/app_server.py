"""Questions to ``codex app-server``, the one offline listing of Codex's skills."""

from __future__ import annotations

import json
import subprocess
from typing import Any

from .person import Person


def ask(person: Person, method: str, params: dict[str, Any]) -> Any:
    """Start the server, ask one question, and give the result."""
    hello = {"clientInfo": {"name": "tests", "title": "tests", "version": "1"}}
    messages = [
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "initialized"},
        {"id": 2, "method": method, "params": params},
    ]
    with subprocess.Popen(
        ["codex", "app-server"],
        cwd=person.project,
        env=person.environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        server.stdin.write("".join(json.dumps(message) + "\n" for message in messages))
        server.stdin.flush()
        try:
            answers = (json.loads(line) for line in server.stdout)
            return next(answer["result"] for answer in answers if answer.get("id") == 2)
        finally:
            server.stdin.close()
            server.terminate()


def skills(person: Person) -> list[str]:
    """Give the paths of all skills of our name that Codex lists in the project."""
    listed = ask(person, "skills/list", {"cwds": [str(person.project)]})["data"][0]["skills"]
    return [skill["path"] for skill in listed if skill["name"] == "unified-memory"]
