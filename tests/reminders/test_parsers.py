"""The readers of what harnesses and files hold: whatever comes, they read it or refuse it."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from ecc_memory.errors import UsageError
from ecc_memory.reminders.changes import Change, changes, patch_changes
from ecc_memory.reminders.counts import _fields
from ecc_memory.reminders.event import parse_event
from ecc_memory.reminders.options import parse_options
from ecc_memory.vault import parse_document

VECTORS = json.loads((Path(__file__).parents[1] / "conformance" / "parse.json").read_text())
NAMES = st.text(st.characters(blacklist_categories=["Cs", "Cc", "Zl", "Zp", "Zs"]), min_size=1)
LINES = st.lists(st.text(st.characters(blacklist_characters="\r\n", blacklist_categories=["Cs"])))
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(), lambda inner: st.dictionaries(st.text(), inner)
)


@given(st.lists(st.tuples(st.sampled_from(["Add", "Update", "Delete"]), NAMES, LINES)))
def test_a_patch_names_every_file_it_touches(hunks):
    body = "".join(
        f"*** {verb} File: {name}\n" + "".join(f"+{line}\n" for line in lines) for verb, name, lines in hunks
    )
    how = {"Add": "whole", "Update": "part", "Delete": "gone"}
    assert list(patch_changes(f"*** Begin Patch\n{body}*** End Patch\n")) == [
        Change(name, how[verb], "".join(f"{line}\n" for line in lines)) for verb, name, lines in hunks
    ]


@given(st.text())
def test_any_text_is_a_patch_or_none(text):
    list(patch_changes(text))


@given(st.sampled_from(["Write", "Edit", "MultiEdit", "patch", "apply_patch", "write_file"]), JSON)
def test_any_arguments_are_read_or_passed_over(tool, arguments):
    for change in changes(tool, arguments if isinstance(arguments, dict) else {}):
        assert isinstance(change.path, str)


@given(st.binary() | JSON.map(lambda value: json.dumps(value).encode()))
def test_any_event_is_read_or_refused(data):
    with contextlib.suppress(UsageError):
        parse_event(data)


@given(st.lists(st.text() | st.sampled_from(["reminder", "--harness", "--event", "--check"])))
def test_any_arguments_are_taken_or_refused(arguments):
    with contextlib.suppress(UsageError):
        parse_options(arguments)


@given(st.binary())
def test_any_head_is_read_or_passed_over(head):
    _fields(head)


def test_what_is_a_document_is_counted_as_what_it_is():
    for case in VECTORS:
        fields = _fields(case["document"].encode("utf-8", "surrogatepass"))
        if case["expect"]["ok"]:
            memory = parse_document(case["document"])
            assert fields["status"] == [memory.status]
            assert fields["kind"] == [memory.kind]
            assert fields["target_harnesses"] == list(memory.target_harnesses)
            assert fields["updated_at"] == [memory.updated_at]
