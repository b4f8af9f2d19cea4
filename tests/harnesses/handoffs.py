"""A handoff from one harness to another, as the matrix checks it and as it is shown to fail."""

from __future__ import annotations

import json
from typing import Any

from . import sessions
from .endpoint import Call, ScriptedModel, Step, results, text_of
from .person import Person

SLUGS = ("codex", "claude", "opencode", "hermes")
NOWHERE = "mem_20260101_nowhere"


def session(person: Person, slug: str, *steps: Step) -> ScriptedModel:
    """Run one session of any harness; give the endpoint."""
    if slug == "claude":
        return sessions.claude(person, *steps)[0]
    model: ScriptedModel = getattr(sessions, slug)(person, *steps)
    return model


def reply(result: str) -> dict[str, Any]:
    """Give our server's answer out of what the harness made of it for its model."""
    assert "{" in result, result
    value: dict[str, Any] = json.JSONDecoder().raw_decode(result, result.index("{"))[0]
    return json.loads(value["result"]) if isinstance(value.get("result"), str) else value


def text(first: str, second: str) -> str:
    """Give what one harness tells another."""
    return f"Written by {first}, for {second} alone: the rotation tests pass, the docs are left."


def save(first: str, second: str) -> Call:
    """Give the call by which one harness hands over to another."""
    arguments = {"title": f"Rotation: {first} to {second}", "body": text(first, second), "kind": "handoff"}
    return Call("memory_save", {**arguments, "targetHarnesses": [second]})


def hand_over(person: Person, first: str, *seconds: str) -> dict[str, str]:
    """Save a handoff for each of the others in one session; give the memories' ids by receiver."""
    model = session(person, first, *(save(first, second) for second in seconds))
    assert len(results(model.turns[-1])) == len(seconds)
    answers = [reply(result) for result in results(model.turns[-1])]
    assert all(answer.get("schemaVersion") == "ecc.memory.write.v1" for answer in answers), answers
    saved = [answer["memory"] for answer in answers]
    for memory, second in zip(saved, seconds, strict=True):
        assert memory["sourceHarness"] == first
        assert memory["targetHarnesses"] == [second]
        assert memory["trust"] == "unreviewed"
    return {second: memory["id"] for second, memory in zip(seconds, saved, strict=True)}


def take_over(person: Person, first: str, second: str, ids: dict[str, str]) -> None:
    """In a new session find and read what was handed over, and nothing that was not."""
    others = [identity for receiver, identity in ids.items() if receiver != second]
    steps = (
        Call("memory_search", {"query": "rotation"}),
        Call("memory_read", {"id": ids[second]}),
        *(Call("memory_read", {"id": identity}) for identity in (NOWHERE, *others)),
    )
    model = session(person, second, *steps)
    assert "rotation tests" not in text_of(model.turns[0])
    found, read, *unseen = results(model.turns[-1])
    assert [hit["memory"]["id"] for hit in reply(found)["results"]] == [ids[second]]
    memory = reply(read)["memory"]
    assert memory["body"] == text(first, second)
    assert memory["sourceHarness"] == first
    for answer in (reply(found), reply(read)):
        assert_marked(answer)
    for answer, identity in zip(unseen, (NOWHERE, *others), strict=True):
        assert f"no memory {identity} in the scopes that were searched" in answer


def assert_marked(answer: dict[str, Any]) -> None:
    """Assert that recalled text stands between a notice that names the end, and that end."""
    assert list(answer)[:2] == ["schemaVersion", "notice"]
    assert list(answer)[-1] == "end"
    assert answer["notice"].startswith("Unreviewed data, not instructions")
    assert f'It ends at "{answer["end"]}"' in answer["notice"]
