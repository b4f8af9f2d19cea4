"""Properties of the document format that hold for any memory, not only for the vectors."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecc_memory.errors import EccMemoryError, InvalidMemory
from ecc_memory.vault import KINDS, SCOPES, Memory, parse_document, serialize_document

LINE = st.characters(
    exclude_categories=["Cc", "Cs"],
    exclude_characters="\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069",
)
TITLE = st.text(LINE, min_size=1, max_size=60).filter(lambda text: text.strip("\ufeff").strip() != "")
BODY = st.text(LINE | st.sampled_from("\n\r\t"), min_size=1).filter(
    lambda text: text.strip("\ufeff").strip() != ""
)
SLUG = st.from_regex(r"[a-z0-9][a-z0-9._-]{0,63}", fullmatch=True)
ID = st.from_regex(r"mem_[a-z0-9][a-z0-9_-]{2,127}", fullmatch=True)


@st.composite
def memories(draw: st.DrawFn) -> dict[str, object]:
    stamp = draw(st.datetimes()).strftime("%m-%dT%H:%M:%S.123Z")
    return {
        "schema": "ecc.memory.v1",
        "id": draw(ID),
        "title": draw(TITLE),
        "kind": draw(st.sampled_from(KINDS)),
        "scope": draw(st.sampled_from(SCOPES)),
        "trust": "unreviewed",
        "status": "active",
        "sourceHarness": draw(SLUG),
        "targetHarnesses": draw(st.lists(SLUG, min_size=1, max_size=4, unique=True)),
        "tags": draw(st.lists(SLUG, max_size=4, unique=True)),
        "links": draw(st.lists(ID, max_size=4, unique=True)),
        "createdAt": f"2024-{stamp}",
        "updatedAt": f"2028-{stamp}",
        "body": draw(BODY),
    }


@given(memories())
def test_round_trip(value: dict[str, object]) -> None:
    try:
        memory = Memory.from_json(value)
    except InvalidMemory:
        return  # blank after the format's own trimming, or longer than its bound
    text = serialize_document(memory)
    assert parse_document(text) == memory
    assert parse_document(text.replace("\n", "\r\n")).to_json(body=False) == memory.to_json(body=False)
    assert serialize_document(parse_document(text)) == text
    assert Memory.from_json(memory.to_json()) == memory


@given(st.text())
def test_junk_raises_only_our_error(text: str) -> None:
    with pytest.raises(InvalidMemory):
        parse_document(text)


@given(memories(), st.data())
def test_damaged_document_is_read_or_refused(value: dict[str, object], data: st.DataObject) -> None:
    try:
        text = serialize_document(Memory.from_json(value))
    except InvalidMemory:
        return
    at = data.draw(st.integers(0, len(text)))
    damaged = text[:at] + data.draw(st.text(max_size=3)) + text[at + data.draw(st.integers(0, 3)) :]
    try:
        parse_document(damaged)
    except EccMemoryError:
        pass


def test_deep_nesting_is_an_invalid_document() -> None:
    text = "---\nid: " + "[" * 60_000 + "\n---\n"
    with pytest.raises(InvalidMemory, match='value of "id" is not JSON'):
        parse_document(text)


def test_from_json_names_what_is_wrong() -> None:
    with pytest.raises(InvalidMemory, match='unknown field "extra"'):
        Memory.from_json({"extra": 1})
    with pytest.raises(InvalidMemory, match="schema must be"):
        Memory.from_json({})
