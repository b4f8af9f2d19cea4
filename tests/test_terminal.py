"""What may reach a terminal."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecc_memory.terminal import safe, safe_json, safe_line

VECTORS = json.loads((Path(__file__).parent / "conformance" / "terminal.json").read_text(encoding="utf-8"))
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
HOSTILE = (
    st.text(st.sampled_from("\x1b\x07\x9b\x9c\x9d\x90[]P\\;0m?\x00\n\t\r\u202e\u2066a本\ud800")) | st.text()
)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: ascii(vector["text"]))
def test_vectors(vector):
    assert safe(vector["text"]) == vector["shown"]


@given(HOSTILE)
def test_nothing_unsafe_is_left(text):
    shown = safe(text)
    assert not UNSAFE.search(shown)
    assert safe(shown) == shown


@given(st.text(st.characters(exclude_categories=("Cc", "Cf", "Cs"))))
def test_ordinary_text_is_untouched(text):
    assert safe(text) == text


@given(HOSTILE)
def test_a_line_stays_a_line(text):
    assert len(safe_line(text).split("\n")) == 1


@given(HOSTILE)
def test_json_keeps_its_value(text):
    written = safe_json(json.dumps(text, ensure_ascii=False))
    assert json.loads(written) == text
    assert not UNSAFE.search(written)
    assert written.encode("utf-8")


@pytest.mark.parametrize("opening", ["\x1b]", "\x1b[", "\x9b0", "\x1b[0;", "\x1b("])
def test_endless_openings_end(opening):
    assert "end".endswith(safe(opening * 200_000 + "end"))
