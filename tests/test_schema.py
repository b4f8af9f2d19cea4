"""The published JSON Schema agrees with the format."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from ecc_memory.vault import KINDS, SCOPES, Memory

ROOT = Path(__file__).resolve().parent.parent
SCHEMA = json.loads((ROOT / "docs" / "schema" / "memory.schema.json").read_text(encoding="utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)


def vectors(name: str) -> list[dict]:
    return json.loads((ROOT / "tests" / "conformance" / name).read_text(encoding="utf-8"))


def example() -> dict:
    return vectors("serialize.json")[0]["memory"]


def test_it_is_a_schema():
    Draft202012Validator.check_schema(SCHEMA)


def test_every_valid_memory_fits():
    parsed = [each["expect"]["memory"] for each in vectors("parse.json") if each["expect"]["ok"]]
    written = [vector["memory"] for vector in vectors("serialize.json")]
    assert len(parsed) > 50
    for memory in [*parsed, *written]:
        VALIDATOR.validate(memory)
        VALIDATOR.validate(Memory.from_json(memory).to_json(body=False))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("schema", "ecc.memory.v2"),
        ("id", "note_1"),
        ("title", ""),
        ("title", "a\nb"),
        ("title", "x" * 201),
        ("kind", "wish"),
        ("scope", "world"),
        ("trust", "reviewed"),
        ("status", "done"),
        ("sourceHarness", "Codex"),
        ("targetHarnesses", []),
        ("targetHarnesses", ["a", "a"]),
        ("tags", ["not a slug"]),
        ("links", ["x"]),
        ("createdAt", "2026-07-26"),
        ("updatedAt", "2026-13-26T20:00:00.000Z"),
        ("body", ""),
        ("body", "a\u202eb"),
        ("review", True),
    ],
)
def test_what_the_format_refuses_does_not_fit(field, value):
    assert not VALIDATOR.is_valid({**example(), field: value})


def test_the_words_are_the_same():
    assert SCHEMA["properties"]["kind"]["enum"] == list(KINDS)
    assert SCHEMA["properties"]["scope"]["enum"] == list(SCOPES)
    assert SCHEMA["required"] + ["body"] == list(Memory.from_json(example()).to_json())
