"""YAML: lines are spliced, comments and styles stay, what hangs together is refused."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml as pyyaml
from hypothesis import given, reject
from hypothesis import strategies as st
from ruamel.yaml import YAML

from ecc_memory.errors import EditRefused
from ecc_memory.install.edit import yaml as editor

KEY = ("mcp_servers", "ecc-memory-vault")
ENTRY = {
    "command": "/home/jane doe/bin/ecc-memory-mcp",
    "args": [],
    "env": {"ECC_MEMORY_HARNESS": "hermes", "ECC_MEMORY_READ_ONLY": "1"},
    "enabled": True,
}
LINES = """\
  ecc-memory-vault:
    command: "/home/jane doe/bin/ecc-memory-mcp"
    args: []
    env:
      ECC_MEMORY_HARNESS: hermes
      ECC_MEMORY_READ_ONLY: "1"
    enabled: true
"""
FLOW = (
    'ecc-memory-vault: {command: "/home/jane doe/bin/ecc-memory-mcp", args: [], '
    'env: {ECC_MEMORY_HARNESS: hermes, ECC_MEMORY_READ_ONLY: "1"}, enabled: true}'
)


def parse(data: bytes) -> Any:
    """Read as YAML 1.2 would; the harness's own reader, PyYAML, must accept the file too."""
    text = data.decode("utf-8-sig")
    pyyaml.safe_load(text)
    return YAML(typ="safe", pure=True).load(text)


COMMENTED = b"""\
# Hermes configuration
model:
  default: "anthropic/claude"   # which one

# -- servers --------------------------------
# before
"mcp_servers":   # trailing remark
  # between
  time:
    command: uvx      # the runner
    args: ["mcp-server-time"]

  # "off":
  #   command: nothing
  'quoted name': {command: npx}
  # after

# -- display --------------------------------
display: {compact: false, skin: default}
"""


def test_yaml_comments_stripped() -> None:
    edited = editor.set_key(COMMENTED, KEY, ENTRY)
    at = COMMENTED.index(b"  # after")
    assert edited == COMMENTED[:at] + LINES.encode() + COMMENTED[at:]
    assert editor.set_key(edited, KEY, ENTRY) is edited
    assert editor.delete_key(edited, KEY) == COMMENTED


@pytest.mark.parametrize(
    ("original", "expected"),
    [
        (
            'mcp_servers:\n  time:\n    command: uvx\n    args: ["mcp-server-time"]\n',
            'mcp_servers:\n  time:\n    command: uvx\n    args: ["mcp-server-time"]\n' + LINES,
        ),
        ("mcp_servers: {}\n", f"mcp_servers: {{{FLOW}}}\n"),
        ("mcp_servers:\n", f"mcp_servers:\n{LINES}"),
        ("mcp_servers: {time: {command: uvx}}\n", f"mcp_servers: {{time: {{command: uvx}}, {FLOW}}}\n"),
        ("model: x\n", f"model: x\nmcp_servers:\n{LINES}"),
    ],
)
def test_yaml_section_replaced(original: str, expected: str) -> None:
    edited = editor.set_key(original.encode(), KEY, ENTRY)
    assert edited.decode() == expected
    assert editor.delete_key(edited, KEY, prune=0 if "mcp" in original else 1) == original.encode()


LAYOUTS = [
    b"",
    b"\n",
    b"# only a comment\n",
    b"# only a comment",
    b"---\n",
    b"--- # start\n# comment\n",
    b"%YAML 1.2\n---\na: 1\n",
    b"---\na: 1\n...\n",
    b"a: 1",
    b"a: 1\n\n\n",
    b"a: 1\n# trailing remark\n\n#   another\n",
    b"a: 1\r\nb:\r\n    c: 2\r\n",
    b"a: 1\r\nb: 2",
    b"a: 1\rb:\r  c: 2\r",
    b"a: 1\nb: 2\r\n",
    b"\xef\xbb\xbfa: 1\n",
    "a: ü — 設計 🧠\nb: 'x'\n".encode(),
    b"a: yes\nb: ~\nc: 0o17\nd: 1_000\ne: 2024-01-01\nf: .nan\ng: !!str 1\n",
    b"a: \"\\u00e9 \\x41 \\\n  folded\"\nb: 'it''s\n\n  two'\n",
    b"a: plain\n  over lines # and a remark\n",
    b"a: |\n  x\n\n  y\n\n\n# end\n",
    b"a: |-\n  x\n",
    b"a: 1\nb: |\n  no final line end",
    b"a: 1\nb:\n  c:\n    - |+\n        no final line end\n\n        ",
    b"a: |+\n  x\n\n\n",
    b"a: |+\n  x\n\n# end\n",
    b"a: |2 # indented\n    x\n  y\n",
    b"a: >\n  folded\n  text\n",
    b"a: >+ # keep\n  folded\n\nb: 1\n",
    b"a:\n- x\n- y: 1\n  z: 2\n",
    b"a:\n  - - nested\n    - list\n  -\n",
    b"a:\n  b:\n    c:\n",
    b"a: &anchor\n  x: 1\nb: *anchor\n",
    b"base: &base {x: 1}\nd:\n  <<: *base\n  y: 2\n",
    b"? complex\n: 1\nb: 2\n",
    b"2: int key\ntrue: bool key\n~: null key\n",
    b"{}\n",
    b"{a: 1}\n",
    b'{"a": 1, "b": [1, 2]}\n',
    b"{\n  a: 1, # one\n  b: {c: d},\n}\n",
    b"mcp_servers: {} # none\n",
    b"mcp_servers: { }\n",
    b"mcp_servers: { time: { command: uvx } }\nz: 1\n",
    b"mcp_servers: {\n  time: {command: uvx},\n  # end\n  }\n",
    b"mcp_servers:\nz: 1\n",
    b"mcp_servers:   # none yet\n  # time:\n  #   command: uvx\n\nz: 1\n",
    b"mcp_servers:\n    time:\n        command: uvx\n",
    b"mcp_servers:\n time:\n  command: uvx",
    b"mcp_servers:\n  time:\n    env:\n      A: |\n        text\n\nz: 1\n",
    b"mcp_servers:\n  time: &t\n    command: uvx\n  again: *t\n",
    b"mcp_servers:\n  time:\n    args:\n    - a\n    - b\nz: 1\n",
    b"'mcp_servers':\n  \"time\": x\n",
    b"# a\nmcp_servers:\n\n\n  time: x\n\n\n",
]


@pytest.mark.parametrize("original", LAYOUTS)
def test_set_then_delete_gives_the_bytes_back(original: bytes) -> None:
    edited = editor.set_key(original, KEY, ENTRY)
    before = editor.load(original)
    after = dict(parse(edited))
    servers = after.pop("mcp_servers")
    assert servers.pop(KEY[1]) == ENTRY
    rest = {name: value for name, value in before.items() if name != "mcp_servers"}
    assert repr(after) == repr(rest)  # repr, for NaN
    assert servers == (before.get("mcp_servers") or {})
    assert editor.set_key(edited, KEY, ENTRY) is edited
    assert editor.delete_key(edited, KEY, prune=0 if "mcp_servers" in before else 1) == original
    ends = set(re.findall(rb"\r\n|\r|\n", original))
    assert len(ends) != 1 or ends == set(re.findall(rb"\r\n|\r|\n", edited))


@pytest.mark.parametrize("null", [b"~", b"null", b"Null"])
def test_written_null_gives_way(null: bytes) -> None:
    original = b"mcp_servers: " + null + b"  # none\nz: 1\n"
    edited = editor.set_key(original, KEY, ENTRY)
    assert edited == b"mcp_servers:  # none\n" + LINES.encode() + b"z: 1\n"
    assert editor.delete_key(edited, KEY) == b"mcp_servers:  # none\nz: 1\n"


def test_entry_that_the_harness_wrote_again_is_still_ours() -> None:
    dumped = (
        b"mcp_servers:\n  ecc-memory-vault:\n    args: []\n    command: /home/jane doe/bin/ecc-memory-mcp\n"
        b"    enabled: true\n    env:\n      ECC_MEMORY_HARNESS: 'hermes'\n"
        b"      ECC_MEMORY_READ_ONLY: '1'\nz: 1\n"
    )
    assert editor.set_key(dumped, KEY, ENTRY) is dumped
    assert editor.delete_key(dumped, KEY, prune=1) == b"z: 1\n"
    flow = b'mcp_servers: {"ecc-memory-vault": {command: x, env: {}}, time: {}}\n'
    assert editor.delete_key(flow, KEY) == b"mcp_servers: {time: {}}\n"


def test_what_a_person_added_below_our_key_stays_when_it_is_left_in_the_value() -> None:
    data = COMMENTED.replace(b"  # after\n", LINES.encode() + b"    timeout: 9   # mine\n  # after\n")
    kept = {**ENTRY, "timeout": 9, "enabled": False}
    assert editor.set_key(data, KEY, kept) == data.replace(b"enabled: true", b"enabled: false")
    assert editor.delete_key(data, KEY) == COMMENTED


@pytest.mark.parametrize(
    ("original", "key", "value", "expected"),
    [
        (b"a: 1 # c\n", ("a",), "x", b"a: x # c\n"),
        (b"a: # c\nb: 1\n", ("a",), "x", b"a: x # c\nb: 1\n"),
        (b"a: 'x\n  y'\nb: 1\n", ("a",), 2, b"a: 2\nb: 1\n"),
        (b"a: [1, 2] # c\n", ("a",), ["x", True], b"a: [x, true] # c\n"),
        (b"a:\n- 1\n- 2 # c\nb: 1\n", ("a",), ["x"], b"a: [x]\nb: 1\n"),
        (b"a: |\n  x\nb: 1\n", ("a",), "k", b"a: k\nb: 1\n"),
        (b"a: 1 # c\nb: 1\n", ("a",), {"x": {"k": 2}}, b"a: # c\n  x:\n    k: 2\nb: 1\n"),
        (b"a:\n    x: 1\nb: 1\n", ("a",), "text", b"a: text\nb: 1\n"),
        (b"a:\n    x: 1\nb: 1", ("b",), {"k": 2}, b"a:\n    x: 1\nb:\n    k: 2"),
        (b"a: {x: 1, y: 2}\n", ("a", "x"), {"z": "no"}, b'a: {x: {z: "no"}, y: 2}\n'),
        (b"a: {}\n", ("a",), {"x": 1}, b"a: {x: 1}\n"),
        (b"a:\n  b:\n    c: 1\n", ("a", "d", "e"), None, b"a:\n  b:\n    c: 1\n  d:\n    e: null\n"),
        (
            b"a: 1\n",
            ("l",),
            [{"x": [1], "k": {"z": "~"}}, "s"],
            b'a: 1\nl:\n  - x: [1]\n    k:\n      z: "~"\n  - s\n',
        ),
    ],
)
def test_setting_a_value(original: bytes, key: tuple[str, ...], value: object, expected: bytes) -> None:
    edited = editor.set_key(original, key, value)
    assert edited == expected
    assert editor.set_key(edited, key, value) is edited


HOOK = {"command": "/bin/ecc-memory-hook", "timeout": 5}


@pytest.mark.parametrize(
    ("original", "expected"),
    [
        (b"a: 1\n", b"a: 1\nhooks:\n  start:\n    - command: /bin/ecc-memory-hook\n      timeout: 5\n"),
        (b"hooks: {}\n", b"hooks: {start: [{command: /bin/ecc-memory-hook, timeout: 5}]}\n"),
        (b"hooks:\n  start: []\n", b"hooks:\n  start: [{command: /bin/ecc-memory-hook, timeout: 5}]\n"),
        (
            b"hooks:\n  start:\n  - command: other # mine\n    # end\nz: 1\n",
            (
                b"hooks:\n  start:\n  - command: other # mine\n"
                b"  - command: /bin/ecc-memory-hook\n    timeout: 5\n    # end\nz: 1\n"
            ),
        ),
        (
            b"hooks:\n    start:\n        -   command: other\n",
            (
                b"hooks:\n    start:\n        -   command: other\n"
                b"        - command: /bin/ecc-memory-hook\n          timeout: 5\n"
            ),
        ),
        (
            b"hooks:\n  start: # none\n",
            b"hooks:\n  start: # none\n    - command: /bin/ecc-memory-hook\n      timeout: 5\n",
        ),
        (b"hooks: {start: [x]}", b"hooks: {start: [x, {command: /bin/ecc-memory-hook, timeout: 5}]}"),
    ],
)
def test_list_item_is_added_last_and_taken_out_again(original: bytes, expected: bytes) -> None:
    key = ("hooks", "start")
    edited = editor.append_item(original, key, HOOK)
    assert edited == expected
    assert editor.append_item(edited, key, HOOK) is edited
    prune = 0 if b"start" in original else 1 if b"hooks" in original else 2
    assert editor.remove_item(edited, key, HOOK, prune=prune) == original
    assert editor.remove_item(original, key, HOOK) is original


def test_middle_item_goes_with_its_lines_only() -> None:
    data = b"l:\n- a\n# about b\n- b: 1\n  c: |\n    text\n# about d\n- d\n"
    assert (
        editor.remove_item(data, ("l",), {"b": 1, "c": "text\n"}) == b"l:\n- a\n# about b\n# about d\n- d\n"
    )


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"a: 1\n---\nb: 2\n", "line 2: not valid YAML: a second document"),
        (b"a: 1\n...\n---\nb: 2\n", "not valid YAML: a second document"),
        (b"a: 1\na: 2\n", "line 2: not valid YAML: a key appears twice"),
        (b"mcp_servers: {a: 1, 'a': 2}\n", "line 1: not valid YAML: a key appears twice"),
        (b"a:\n\tb: 1\n", "line 2: not valid YAML"),
        (b"a: 1\t# a tab before a remark\n", "line 1: not valid YAML"),
        (b"a: [1, 2\n", "not valid YAML"),
        (b"a: 'open\n", "not valid YAML"),
        (b"a: b: c\n", "line 1: not valid YAML"),
        (b"a: *nowhere\n", "line 1: not valid YAML"),
        (b"a: !custom 1\n", "line 1: not valid YAML"),
        (b"a: 2001-99-99\n", "not valid YAML"),
        (b"a: \x00\n", "not valid YAML"),
        (b"a: \xff\n", "line 1: not valid UTF-8"),
        (b"- a\n- b\n", "line 1: the file does not hold a mapping"),
        (b"just text\n", "line 1: the file does not hold a mapping"),
        (b"null\n", "line 1: the file does not hold a mapping"),
        (b"a: 1\nmcp_servers: text\n", "line 2: mcp_servers is not a table of keys"),
        (b"mcp_servers: [a]\n", "line 1: mcp_servers is not a table of keys"),
        (b"x: &x {a: 1}\nmcp_servers: *x\n", "line 2: an anchor"),
        (b"mcp_servers: &x {a: 1}\n", "line 1: an anchor"),
        (b"mcp_servers: !!map {a: 1}\n", "line 1: an anchor"),
        (b"x: &x {a: 1}\nmcp_servers:\n  <<: *x\n", "line 3: an anchor"),
        (b"&root\na: 1\n", "line 1: an anchor"),
        (b"a: " + b"[" * 5000 + b"]" * 5000, "nested too deeply"),
        (b"#" * (512 * 1024 + 1), "larger than 512 KiB"),
    ],
)
def test_what_cannot_be_edited_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(EditRefused, match=re.escape(reason)):
        editor.set_key(data, KEY, ENTRY)


@pytest.mark.parametrize(
    ("data", "key"),
    [
        (b"a: &x {b: 1}\nc: *x\n", ("a", "b")),
        (b"a: &x {b: 1}\nc: *x\n", ("a",)),
        (b"a: &x {b: 1}\nc: *x\n", ("c", "b")),
        (b"a: &x {b: 1}\nc:\n  <<: *x\n  d: 1\n", ("c", "b")),
        (b"? a\n: 1\nb: 2\n", ("a",)),
        (b"a:\n  ? b\n  : 1\n", ("a", "b")),
    ],
)
def test_deleting_what_hangs_together_is_refused(data: bytes, key: tuple[str, ...]) -> None:
    with pytest.raises(EditRefused):
        editor.delete_key(data, key)


def test_refusal_of_a_doubled_key_shows_no_value() -> None:
    with pytest.raises(EditRefused) as refused:
        editor.load(b"token: first-value\ntoken: second-value\n")
    assert "value" not in str(refused.value)


def test_alias_bomb_is_compared_without_unfolding() -> None:
    lines = ["a0: &a0 [x, x]"] + [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 40)]
    original = "\n".join(lines).encode() + b"\n"
    edited = editor.set_key(original, KEY, ENTRY)
    assert edited == original + b"mcp_servers:\n" + LINES.encode()
    assert editor.delete_key(edited, KEY, prune=1) == original
    loop = b"a: &a {again: *a}\n"
    assert editor.delete_key(editor.set_key(loop, KEY, ENTRY), KEY, prune=1) == loop


@pytest.mark.parametrize("value", [object(), {"a": b"x"}, "\ud800"])
def test_value_that_yaml_cannot_hold_is_refused(value: object) -> None:
    with pytest.raises(EditRefused):
        editor.set_key(b"", ("a",), value)


def test_snippet_is_what_the_editor_would_write() -> None:
    assert editor.snippet(KEY, ENTRY) == f"mcp_servers:\n{LINES}"


AMBIGUOUS = [
    *[
        "yes",
        "No",
        "on",
        "OFF",
        "y",
        "N",
        "true",
        "null",
        "~",
        "1",
        "1.0",
        "1e3",
        "0x1F",
        "0o17",
        "017",
        "1_000",
        "1:20",
        "2024-01-01",
        ".inf",
        ".nan",
        "=",
        "<<",
    ],
    *"-?:#&*!|>%@`",
    "a:b",
    "a:",
    "#x",
    "{x",
    "[x",
]
WORDS = st.sampled_from([*AMBIGUOUS, "", " lead", "trail ", "a #b", "a: b", "---", "..."]) | st.text(
    st.characters(blacklist_categories=("Cs",)), max_size=6
)


@given(WORDS, WORDS)
def test_our_strings_stay_strings_in_both_versions_of_yaml(name: str, text: str) -> None:
    value = {name: [text, {text: name}]}
    for original in (b"", b"a: {}\n"):
        edited = editor.set_key(original, ("a", "b"), value)
        old = YAML(typ="safe", pure=True)
        old.version = (1, 1)
        assert old.load(edited.decode()) == {"a": {"b": value}}
        assert pyyaml.safe_load(edited.decode()) == {"a": {"b": value}}


@given(st.floats(allow_nan=False))
def test_floats_are_floats_in_both_versions_of_yaml(number: float) -> None:
    edited = editor.set_key(b"", ("a",), number)
    assert pyyaml.safe_load(edited) == {"a": number}


FRAGMENTS = st.sampled_from(
    [
        "",
        "# remark",
        "    # deep remark",
        "model: x",
        'quoted: "a: #b"  # remark',
        "nothing:",
        "tilde: ~",
        "flow: {a: 1, b: [x, 'y']}",
        "wide: {\n  a: 1, # one\n  b: 2,\n  }",
        "text: |\n  one\n\n  two\n",
        "kept: |+\n  one\n\n",
        "folded: >-\n    one\n    two",
        "list:\n- a\n- b: 1\n  c: 2",
        "deep:\n    list:\n      - - a\n        - b\n      - x: |\n          y",
        "anchor: &a\n  x: 1",
        "mcp_servers:",
        "mcp_servers: {}",
        "mcp_servers:\n  time:\n    command: uvx",
        "mcp_servers:\n    time: {command: uvx}   # t\n    # end",
        "mcp_servers: {time: {command: uvx}, }",
        "  more:\n    command: x",
        "    indented: 1",
        "'single': ''",
        "1: one",
    ]
)
VALUES = st.recursive(
    WORDS | st.integers() | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)


@st.composite
def documents(draw: st.DrawFn) -> bytes:
    text = "\n".join(draw(st.lists(FRAGMENTS, max_size=7))) + draw(st.sampled_from(["", "\n", "\n\n"]))
    text = text.replace("\n", draw(st.sampled_from(["\n", "\r\n", "\r"])))
    return draw(st.sampled_from([b"", b"\xef\xbb\xbf"])) + text.encode()


@given(documents(), VALUES, VALUES)
def test_only_our_key_changes_and_every_byte_comes_back(
    original: bytes, value: object, other: object
) -> None:
    try:
        before = dict(editor.load(original))
    except EditRefused:
        reject()
    edited = editor.set_key(original, KEY, value)
    after = YAML(typ="safe", pure=True).load(edited.decode("utf-8-sig"))
    assert after == {**before, "mcp_servers": {**(before.get("mcp_servers") or {}), KEY[1]: value}}
    assert editor.set_key(edited, KEY, value) is edited
    assert editor.delete_key(edited, KEY, prune=0 if "mcp_servers" in before else 1) == original
    changed = editor.set_key(edited, KEY, other)
    assert editor.load(editor.set_key(changed, KEY, value)) == after
    assert editor.load(editor.delete_key(changed, KEY, prune=0 if "mcp_servers" in before else 1)) == before
