"""TOML: every spelling of our table is found, nothing else moves, and every byte comes back."""

from __future__ import annotations

import sys
from datetime import date, datetime, time, timezone

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from ecc_memory.errors import EditRefused
from ecc_memory.install.edit import toml

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

KEY = ("mcp_servers", "ecc-memory-vault")
ENTRY = {
    "command": "/home/jane doe/bin/ecc-memory-mcp",
    "args": ["--quiet"],
    "env_vars": ["ECC_MEMORY_USER_ROOT"],
    "startup_timeout_sec": 30,
    "enabled": True,
    "env": {"ECC_MEMORY_HARNESS": "codex"},
}
TABLE = """\
[mcp_servers.ecc-memory-vault]
command = "/home/jane doe/bin/ecc-memory-mcp"
args = ["--quiet"]
env_vars = ["ECC_MEMORY_USER_ROOT"]
startup_timeout_sec = 30
enabled = true

[mcp_servers.ecc-memory-vault.env]
ECC_MEMORY_HARNESS = "codex"
"""

PINNED = (
    b'# pinned, see wiki\nmodel = "gpt-x"\n\n[mcp_servers.a]\ncommand = "a"\n'
    b'startup_timeout_ms = 20_000\nargs = ["--x", """multi\nline"""]\n'
)


def parse(data: bytes) -> dict[str, object]:
    return tomllib.loads(data.decode("utf-8-sig"))


def test_toml_round_trip_flattened() -> None:
    edited = toml.set_key(PINNED, KEY, ENTRY)
    assert edited == PINNED + b"\n" + TABLE.encode()
    assert toml.delete_key(edited, KEY) == PINNED


@pytest.mark.parametrize(
    "original",
    [
        b"",
        b"\n",
        b"\n\n\n",
        b"  \t",
        b"# only a comment\n",
        b"# only a comment",
        b'model = "x"\n',
        b'model = "x"',
        b'model = "x"\n\n',
        b'model = "x"\r\n\r\n[features]\r\nhooks = true\r\n',
        b'model = "x"\r\n[features]\r\nhooks = true',
        b'model = "x"\r\n[features]\nhooks = true\n',
        b'\xef\xbb\xbfmodel = "x"\n',
        b"\xef\xbb\xbf",
        b"\t[features]\n\t\thooks = true\n",
        b"mcp_servers = {}\n",
        b"mcp_servers = { }\n",
        b'mcp_servers = { a = { command = "x" } }  # inline\nlast = 1\n',
        b'mcp_servers={a={command="x"},b={command="y"}}',
        b'mcp_servers.a.command = "x"\n',
        b'"mcp_servers"."a" = { command = "x" }\n[z]\n',
        b'[mcp_servers]\n\n[mcp_servers.a]\ncommand = "x"\n',
        b'[mcp_servers]\na = { command = "x" }\n[other]\nk = 1\n',
        b'[mcp_servers]\na.command = "x"\n',
        b"[[hooks.SessionStart]]\nmatcher = 'x'\n[[hooks.SessionStart.hooks]]\ntype = 'command'\n",
        b"[a.b]\nx = 1\n[a]\ny = 2\n",
        b"text = '''\n[mcp_servers.ecc-memory-vault]\ncommand = 'not real'\n'''\n",
        b'text = """\n\\"\\"\\"\n[mcp_servers.ecc-memory-vault]\n"""\n',
        b"# [mcp_servers.ecc-memory-vault]\n# command = 'old'\n",
        b"when = 1979-05-27 07:32:00Z\nhow = [ 1, 2 , # two\n  3,\n]\nf = -inf\nn = nan\n",
    ],
)
def test_set_then_delete_gives_the_bytes_back(original: bytes) -> None:
    edited = toml.set_key(original, KEY, ENTRY)
    assert parse(edited)["mcp_servers"]["ecc-memory-vault"] == ENTRY  # type: ignore[index]
    assert toml.set_key(edited, KEY, ENTRY) is edited
    assert toml.delete_key(edited, KEY) == original


SPELLINGS = {
    "tables": TABLE,
    "inline": f'mcp_servers.ecc-memory-vault = {{ command = "{ENTRY["command"]}", args = ["--quiet"], '
    'env_vars = ["ECC_MEMORY_USER_ROOT"], startup_timeout_sec = 30, enabled = true, '
    'env = { ECC_MEMORY_HARNESS = "codex" } }\n',
    "inline in a table": f'[mcp_servers]\necc-memory-vault = {{ command = "{ENTRY["command"]}", '
    'enabled = true, args = ["--quiet"], env_vars = ["ECC_MEMORY_USER_ROOT"], startup_timeout_sec = 30, '
    'env.ECC_MEMORY_HARNESS = "codex" }\n',
    "all inline": f'mcp_servers = {{ "ecc-memory-vault" = {{ command = "{ENTRY["command"]}", enabled = true, '
    'args = ["--quiet"], env_vars = ["ECC_MEMORY_USER_ROOT"], startup_timeout_sec = 30, '
    'env = { ECC_MEMORY_HARNESS = "codex" } } }\n',
    "env inline": TABLE.replace(
        "\n[mcp_servers.ecc-memory-vault.env]\nECC_MEMORY_HARNESS", "env = { ECC_MEMORY_HARNESS"
    ).replace('"codex"', '"codex" }'),
    "quoted header": TABLE.replace("ecc-memory-vault", '"ecc-memory-vault"', 1),
    "literal quotes and blanks": TABLE.replace(
        "[mcp_servers.ecc-memory-vault.env]", "[ mcp_servers . 'ecc-memory-vault' . env ]"
    ),
    "escaped key": TABLE.replace(
        "[mcp_servers.ecc-memory-vault]", '["mcp\\u005fservers"."ecc-memory\\U0000002dvault"]'
    ),
    "dotted keys": "".join(
        f"mcp_servers.ecc-memory-vault.{line}\n"
        for line in TABLE.replace("\n[mcp_servers.ecc-memory-vault.env]\n", "env.").splitlines()[1:]
    ),
    "dotted below the parent": "[mcp_servers]\n"
    + "".join(
        f"ecc-memory-vault.{line}\n"
        for line in TABLE.replace("\n[mcp_servers.ecc-memory-vault.env]\n", "env.").splitlines()[1:]
    ),
    "single strings, literal, many lines": TABLE.replace('["--quiet"]', "[\n  '--quiet', # hush\n]").replace(
        '"codex"', "'''codex'''"
    ),
}


@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS.keys())
def test_toml_same_key_inline_and_subtable(spelling: str) -> None:
    """However the harness rewrote our entry, it is found, left alone, changed in place, and removed whole."""
    before, after = 'model = "x"\n', '\n[mcp_servers_other]\nkeep = "me" # and this\n'
    data = (before + spelling + after).encode()
    assert toml.set_key(data, KEY, ENTRY) is data
    changed = {**ENTRY, "startup_timeout_sec": 60}
    edited = toml.set_key(data, KEY, changed)
    assert edited == data.replace(b"30", b"60")
    removed = toml.delete_key(data, KEY, prune=1)
    assert "ecc-memory" not in removed.decode()
    assert parse(removed) == {"model": "x", "mcp_servers_other": {"keep": "me"}}
    assert removed.startswith(before.encode())
    assert removed.endswith(after.encode())


def test_sub_tables_far_from_their_parent_go_too() -> None:
    original = "a = 1\n\n[other]\nb = 2\n\n[last]\nc = 3\n"
    table, env = TABLE.split("\n\n")
    data = f"a = 1\n\n{env}\n[other]\nb = 2\n\n{table}\n\n[last]\nc = 3\n"
    assert toml.delete_key(data.encode(), KEY) == original.encode()


APPROVAL = '\n[mcp_servers.ecc-memory-vault.tools.memory_save]\napproval_mode = "prompt" # ask me\n'


def test_toml_subtree_overdelete() -> None:
    """A caller keeps what a person added by leaving it in the value, in the person's own spelling."""
    data = f'model = "x"\n\n{TABLE}{APPROVAL}'.encode()
    added = {"tools": {"memory_save": {"approval_mode": "prompt"}}}
    assert toml.load(data)["mcp_servers"] == {KEY[1]: {**ENTRY, **added}}
    updated = toml.set_key(data, KEY, {**ENTRY, "args": [], **added})
    assert updated == data.replace(b'["--quiet"]', b"[]")
    kept = toml.set_key(data, KEY, added)
    assert parse(kept)["mcp_servers"] == {KEY[1]: added}
    assert APPROVAL.encode() in kept
    assert toml.delete_key(data, KEY) == b'model = "x"\n'


def test_update_keeps_comments_and_layout_of_what_does_not_differ() -> None:
    data = (
        b"[mcp_servers.ecc-memory-vault]\n"
        b'command = "old"   # mine\n'
        b"args    = [ '--quiet' ]\n"
        b"# a person's remark\n"
        b'env_vars = [\n  "ECC_MEMORY_USER_ROOT",\n]\n'
        b"gone = 1\n"
        b"startup_timeout_sec = 3_0\n"
        b"enabled = true\n"
        b"env.ECC_MEMORY_HARNESS = 'codex'\n"
    )
    edited = toml.set_key(data, KEY, ENTRY)
    assert edited == data.replace(b'"old"', b'"/home/jane doe/bin/ecc-memory-mcp"').replace(
        b"gone = 1\n", b""
    )


@pytest.mark.parametrize(
    ("original", "key", "value", "expected"),
    [
        (b"", ("a",), "x", b'a = "x"\n'),
        (b"[t]\nb = 1\n", ("a",), 1, b"a = 1\n[t]\nb = 1\n"),
        (b"# about\n\n# t is for\n[t]\nb = 1\n", ("a",), 1, b"# about\n\na = 1\n# t is for\n[t]\nb = 1\n"),
        (b"z = 1 # z\n\n# t is for\n[t]\n", ("a",), 1, b"z = 1 # z\na = 1\n\n# t is for\n[t]\n"),
        (b"[t]\n\n[u]\n", ("t", "a"), True, b"[t]\na = true\n\n[u]\n"),
        (b"[t]\n  b = 1\n\n[u]\n", ("t", "a"), [], b"[t]\n  b = 1\n  a = []\n\n[u]\n"),
        (b"[t]\nb = 1", ("t", "a"), ["x", 1], b'[t]\nb = 1\na = ["x", 1]'),
        (b"t.b = 1\n[u]\n", ("t", "a"), 1, b"t.b = 1\nt.a = 1\n[u]\n"),
        (b"[r]\nt.b = 1\n[u]\n", ("r", "t", "a"), 1, b"[r]\nt.b = 1\nt.a = 1\n[u]\n"),
        (b"[t.s]\nb = 1\n", ("t", "a"), 1, b"[t.s]\nb = 1\n\n[t]\na = 1\n"),
        (b"t = { b = 1 }\n", ("t", "a"), 1, b"t = { b = 1, a = 1 }\n"),
        (b"t = { s.b = 1 }\n", ("t", "s", "a"), 1, b"t = { s.b = 1, s.a = 1 }\n"),
        (b"t = { s = {} }\n", ("t", "s", "r", "a"), {"x": 1}, b"t = { s = {r.a = { x = 1 }} }\n"),
        (b"", ("t", "with space", "ü"), 1, '[t."with space"]\n"ü" = 1\n'.encode()),
        (b"", ("t",), {}, b"[t]\n"),
    ],
)
def test_where_a_new_key_goes(original: bytes, key: tuple[str, ...], value: object, expected: bytes) -> None:
    edited = toml.set_key(original, key, value)
    assert edited == expected
    if b"[t.s]" not in original:  # [t] had to be written there, and stays
        assert (
            toml.delete_key(edited, key, prune=0 if b"t" in original else 2) == original or b"{}" in original
        )


@pytest.mark.parametrize(
    ("original", "key", "value", "expected"),
    [
        (b"a = 1 # one\n", ("a",), "x", b'a = "x" # one\n'),
        (b"a = [\n 1, # c\n]\nb = 2\n", ("a",), ["x"], b'a = ["x"]\nb = 2\n'),
        (b"t = { a = 1, b = 2 }\n", ("t", "a"), False, b"t = { a = false, b = 2 }\n"),
        (b"a = 1\nb = 2\n", ("a",), {"x": 1}, b"b = 2\n\n[a]\nx = 1\n"),
        (b"b = 2\n\n[a]\nx = 1\n", ("a",), "now text", b'b = 2\na = "now text"\n'),
        (b"t = { a = { x = 1 } }\n", ("t", "a"), 1, b"t = { a = 1 }\n"),
        (b"[a]\nx.y = 1\nz = 2\n", ("a", "x"), 1, b"[a]\nz = 2\nx = 1\n"),
    ],
)
def test_replacing_a_value(original: bytes, key: tuple[str, ...], value: object, expected: bytes) -> None:
    assert toml.set_key(original, key, value) == expected


def test_prune_removes_empty_parents_only() -> None:
    data = b"[a]\n\n[a.b]\n\n[a.b.c]\nx = 1\n"
    assert toml.delete_key(data, ("a", "b", "c")) == b"[a]\n\n[a.b]\n"
    assert toml.delete_key(data, ("a", "b", "c"), prune=1) == b"[a]\n"
    assert toml.delete_key(data, ("a", "b", "c"), prune=9) == b""
    assert toml.delete_key(b"[a]\ny = 1\n[a.b]\nx = 1\n", ("a", "b"), prune=1) == b"[a]\ny = 1\n"
    assert toml.delete_key(b"a = { b = { x = 1 } }\n", ("a", "b", "x"), prune=1) == b"a = { }\n"


def test_absent_key_changes_nothing() -> None:
    for key in (("nope",), ("model", "deeper"), ("mcp_servers", "b"), KEY):
        assert toml.delete_key(PINNED, key) is PINNED


LISTS = [
    (b"", b'a = ["x"]\n'),
    (b"a = []\n", b'a = ["x"]\n'),
    (b"a = [ ]\n", b'a = [ "x" ]\n'),
    (b"a = [\n]\n", None),
    (b"a = ['b']\n", b"a = ['b', \"x\"]\n"),
    (b"a = ['b', ] # t\n", b"a = ['b', \"x\", ] # t\n"),
    (b"a = [\n  'b', # why\n  # 'c',\n]\n", b"a = [\n  'b', # why\n  \"x\",\n  # 'c',\n]\n"),
    (b"a = [\r\n\t'b' # why\r\n]", b"a = [\r\n\t'b', # why\r\n\t\"x\"\r\n]"),
    (b"a = [\n  'b'\n  , 'c'\n]\n", b"a = [\n  'b'\n  , 'c', \"x\"\n]\n"),
    (b"a = [ # none yet\n]\n", b'a = [ # none yet\n"x"\n]\n'),
    (b"t = { a = ['b'] }\n", None),
]


@pytest.mark.parametrize(("original", "expected"), LISTS)
def test_list_item_is_added_last_and_taken_out_again(original: bytes, expected: bytes | None) -> None:
    key = ("t", "a") if original.startswith(b"t") else ("a",)
    edited = toml.append_item(original, key, "x")
    assert expected is None or edited == expected
    assert toml.append_item(edited, key, "x") is edited
    prune = 1 if not original else 0
    assert toml.remove_item(edited, key, "x", prune=prune) == original.replace(b"[\n]", b"[]")
    assert toml.remove_item(original, key, "x") is original


def test_items_are_compared_by_structure_and_type() -> None:
    data = b"a = [1, true, { k = 'v', l = [1.0] }]\n"
    assert toml.remove_item(data, ("a",), {"l": [1.0], "k": "v"}) == b"a = [1, true]\n"
    assert toml.remove_item(data, ("a",), {"l": [1], "k": "v"}) is data
    assert toml.remove_item(data, ("a",), 1) == b"a = [true, { k = 'v', l = [1.0] }]\n"
    assert toml.remove_item(data, ("a",), item=True) == b"a = [1, { k = 'v', l = [1.0] }]\n"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"a = \n", "line 1"),
        (b"ok = 1\na = [1, 2\n", "line 3: not valid TOML: Unclosed array"),
        (b"[a]\n[a]\n", "line 2"),
        (b"[mcp_servers.ecc-memory-vault]\n[mcp_servers.ecc-memory-vault]\n", "line 2"),
        (b"a = 1\ra = 2\r", "not valid TOML"),
        (b"a = 'x\xff'\n", "line 1: not valid UTF-8"),
        (b"a = 1\x00\n", "not valid TOML"),
        (b"a = 1\nmcp_servers = 3\n", "line 2: mcp_servers is not a table of keys"),
        (b"mcp_servers = []\n", "line 1: mcp_servers is not a table of keys"),
        (b"[[mcp_servers]]\nx = 1\n", "line 1: mcp_servers is not a table of keys"),
        (b"a = " + b"[" * 3000 + b"]" * 3000, "too deeply"),
        (b"#" * (8 * 1024 * 1024 + 1), "larger than 8 MiB"),
    ],
)
def test_what_cannot_be_edited_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(EditRefused, match=reason):
        toml.set_key(data, KEY, ENTRY)


@pytest.mark.parametrize("value", [None, {"a": None}, [None], object(), "\ud800"])
def test_value_that_toml_cannot_hold_is_refused(value: object) -> None:
    with pytest.raises(EditRefused):
        toml.set_key(b"", ("a", "b"), value)


def test_values_of_a_person_can_be_given_back() -> None:
    value = {
        "f": [1e16, -0.5, float("inf")],
        "when": [datetime(1979, 5, 27, 7, 32, tzinfo=timezone.utc), date(1979, 5, 27), time(7, 32)],
    }
    assert parse(toml.set_key(b"", ("a",), value)) == {"a": value}


def test_array_of_tables_is_no_list_to_append_to() -> None:
    with pytest.raises(EditRefused, match="line 1: a is an array of tables"):
        toml.append_item(b"[[a]]\nx = 1\n", ("a",), {"x": 2})
    with pytest.raises(EditRefused, match="line 1: a is not a list"):
        toml.append_item(b"a = 1\n", ("a",), "x")


def test_snippet_is_what_the_editor_would_write() -> None:
    assert toml.snippet(KEY, ENTRY) == TABLE
    assert toml.snippet(("features", "hooks"), value=True) == "[features]\nhooks = true\n"
    assert toml.snippet(("a",), ["x"]) == 'a = ["x"]\n'


STATEMENTS = st.sampled_from(
    [
        "",
        "# a comment about nothing",
        "   # indented comment",
        'model = "gpt-x"  # trailing',
        "approval_policy = 'on-request'",
        "  indented = 1_000",
        "when = 1979-05-27T07:32:00Z",
        'notify = ["a", "b",]',
        'args = [\n  "--x", # first\n  """multi\nline""",\n]',
        "literal = '''\n[mcp_servers.fake]\n'''",
        'dotted.key."with space".x = 0x1F',
        "inline = { a = 1, b.c = [ { d = 2 } ] }",
        "[features]",
        "  [tui]  # indented header",
        "[mcp_servers]",
        "[mcp_servers.a]",
        "[mcp_servers.a.env]",
        '["quoted.header".x]',
        "[[profiles]]",
        "[[profiles.items]]",
        'mcp_servers.b.command = "b"',
        'mcp_servers = { c = { command = "c" } }',
        'c = { command = "c" }',
        'command = "x"',
    ]
)
NAMES = st.sampled_from(["ecc-memory-vault", "a", "with space", 'quo"te', "ü", "1", ""])
VALUES = st.recursive(
    st.text(st.characters(blacklist_categories=("Cs",)), max_size=8)
    | st.integers(-(2**63), 2**63 - 1)
    | st.booleans(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(NAMES | st.text("ab.'\" ", max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)


@st.composite
def documents(draw: st.DrawFn) -> bytes:
    lines = draw(st.lists(STATEMENTS, max_size=10))
    ends = st.sampled_from(["\n", "\r\n"])
    ends = st.just(draw(ends)) | ends
    text = "".join(line + draw(ends) for line in lines)
    if draw(st.booleans()):
        text = text.rstrip("\r\n")
    return draw(st.sampled_from([b"", b"\xef\xbb\xbf"])) + text.encode()


@given(documents(), st.sampled_from(["mcp_servers", "features", "dotted", "inline"]), NAMES, VALUES, VALUES)
def test_only_our_key_changes_and_every_byte_comes_back(
    original: bytes, parent: str, name: str, value: object, other: object
) -> None:
    key = (parent, name)
    try:
        before = parse(original)
    except tomllib.TOMLDecodeError:
        reject()
    if name in before.get(parent, {}):  # type: ignore[operator]
        reject()
    edited = toml.set_key(original, key, value)  # every valid document can take our key
    after = parse(edited)
    assert after[parent].pop(name) == value  # type: ignore[attr-defined]
    assert {**after, parent: after[parent] or before.get(parent, {})} == {parent: {}, **before}
    assert toml.set_key(edited, key, value) is edited
    if edited.count(f"[{parent}]".encode()) == original.count(f"[{parent}]".encode()) or parent not in before:
        assert toml.delete_key(edited, key, prune=0 if parent in before else 1) == original
    changed = toml.set_key(edited, key, other)
    assert parse(changed)[parent][name] == other  # type: ignore[index]
    assert parse(toml.set_key(changed, key, value)) == parse(edited)
