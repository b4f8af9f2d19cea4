"""JSON and JSONC: only our member is written, every comment and comma stays, every byte comes back."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecc_memory.errors import EditRefused
from ecc_memory.install.edit import json as editor

KEY = ("mcpServers", "ecc-memory-vault")
ENTRY = {"type": "stdio", "command": "/home/jane doe/bin/ecc-memory-mcp", "args": [], "alwaysLoad": True}

BLOCK = """\
  "mcpServers": {
    "ecc-memory-vault": {
      "type": "stdio",
      "command": "/home/jane doe/bin/ecc-memory-mcp",
      "args": [],
      "alwaysLoad": true
    }
  }"""


def test_template_overwrites_settings() -> None:
    original = b'{\n  "outputStyle": "terse",\n  "permissions": {"allow": ["Bash(ls)"]}\n}'
    edited = editor.set_key(original, KEY, ENTRY, strict=True)
    assert edited == original[:-2] + b",\n" + BLOCK.encode() + b"\n}"
    assert editor.delete_key(edited, KEY, prune=1, strict=True) == original


def test_bom_settings_reset_to_empty() -> None:
    original = b'\xef\xbb\xbf{"model":"x"}'
    edited = editor.set_key(original, KEY, ENTRY, strict=True)
    assert edited.startswith(b'\xef\xbb\xbf{"model":"x","mcpServers":{"ecc-memory-vault":{')
    assert editor.delete_key(edited, KEY, prune=1, strict=True) == original


def test_wrong_codepage_mangles_non_ascii() -> None:
    original = '{"note": "café — don’t 設計 🧠", "escaped": "\\u00e9\\ud83e\\udde0"}\n'.encode()
    edited = editor.set_key(original, ("ü",), "schön")
    assert edited == original[:-2] + ', "ü": "schön"}\n'.encode()
    assert editor.delete_key(edited, ("ü",)) == original


OPENCODE = (
    b'{ // my providers\n "provider": {"a": {}},\n "mcp": {"x": {"type":"local","command":["true"]}},\n}'
)


def test_jsonc_parse_fail_becomes_empty_object() -> None:
    entry = {"type": "local", "command": ["/bin/ecc-memory-mcp"], "enabled": True}
    edited = editor.set_key(OPENCODE, ("mcp", "ecc-memory-vault"), entry)
    ours = b', "ecc-memory-vault": {"type": "local", "command": ["/bin/ecc-memory-mcp"], "enabled": true}'
    assert edited == OPENCODE.replace(b'["true"]}', b'["true"]}' + ours)
    assert editor.delete_key(edited, ("mcp", "ecc-memory-vault")) == OPENCODE
    with pytest.raises(EditRefused, match=r"\Aline 1: a comment"):
        editor.set_key(OPENCODE, ("mcp", "ecc-memory-vault"), entry, strict=True)


def test_jsonc_comments_stripped() -> None:
    """An entry that is there already, however it is laid out, is left alone."""
    data = (
        b'{\n  // servers\n  "mcpServers": {\n    /* ours */ "ecc\\u002dmemory-vault" : {\n'
        b'      "args": [ /* none */ ], "alwaysLoad": true, // now\n'
        b'      "type": "stdio",\n      "command": "/home/jane doe/bin\\/ecc-memory-mcp",\n    },\n  },\n}'
    )
    assert editor.set_key(data, KEY, ENTRY) is data
    assert editor.delete_key(data, KEY) == b'{\n  // servers\n  "mcpServers": {\n    /* ours */\n  },\n}'


def test_array_replaced_not_merged() -> None:
    foreign = b'{"matcher":"compact","hooks":[{"type":"command","command":"other-tool remind"}]}'
    original = b'{"hooks":{"SessionStart":[' + foreign + b"]}}"
    group = {"hooks": [{"type": "command", "command": "ecc-memory-hook"}]}
    key = ("hooks", "SessionStart")
    edited = editor.append_item(original, key, group)
    assert edited == original[:-3] + b',{"hooks":[{"type":"command","command":"ecc-memory-hook"}]}]}}'
    assert editor.append_item(edited, key, group) is edited
    assert editor.remove_item(edited, key, group, prune=2) == original


def test_substring_match_uninstall() -> None:
    data = b'{"hooks": [{"command": "ecc-memory-hook --x"}, {"command": "/home/u/ecc-memory-hook"}]}'
    assert editor.remove_item(data, ("hooks",), {"command": "ecc-memory-hook"}) is data


LAYOUTS = [
    b"",
    b"{}",
    b"{}\n",
    b"{ }",
    b'{"a":1}',
    b'{"a": 1}\n',
    b'{ "a": 1, "b": [1,2] }',
    b'{"a": 1, }',
    b'{\n  "a": 1\n}',
    b'{\n  "a": 1\n}\n',
    b'{\n  "a": 1   \n\n}\n\n',
    b'{\r\n    "a": 1\r\n}\r\n',
    b'{\r  "a": 1\r}',
    b'{\r\n  "a": 1,\n  "b": 2\r\n}\n',
    b'{\n\t"a": {\n\t\t"b": null\n\t}\n}',
    b'{\n"a": 1\n}',
    b'\xef\xbb\xbf{\n  "a": 1\n}',
    b'{\n  "a": 1, // note\n}',
    b'{\n  "a": 1 // note\n}',
    b'{\n  "a": 1 // note */\n  // more\n}',
    b'{\n  "a": 1 /* note\n  over lines */ // and one\n}',
    b'{\n  "a": 1\n  , "b": 2\n}',
    b'{\n  "a": 1\n  /* a comma: */ , // after\n  // more\n}',
    b"{\n  // nothing yet\n}",
    b"{ // nothing yet\n}",
    b"{ /* nothing yet */ }",
    b"{/**/}",
    b'// head\n/* and */ { "a": 1 } // tail',
    b'{\n  "$schema": "https://opencode.ai/config.json"\n}',
    b'{"url": "http://x//y", "re": "/* no comment */", "b": "}\\"{"}',
    b'{"mcpServers":{}}',
    b'{\n  "mcpServers": {}\n}',
    b'{\n  "mcpServers": { },\n  "z": 1\n}',
    b'{\n    "mcpServers": {\n        // none\n    }\n}',
    b'{\n  "mcpServers": {\n    "time": { "command": "uvx" }\n  }\n}',
    b'{\n  "mcpServers": {\n    "time": { "command": "uvx" }, // t\n    // "off": {},\n  },\n}\n',
    b'{"mcpServers": {"time": {"command": "uvx"}}}',
    b'{\n  "mcpServers": {"time": {"command": "uvx"} // t\n  }\n}',
    b'{"a": 1 // t\n}',
]


@pytest.mark.parametrize("original", LAYOUTS)
def test_set_then_delete_gives_the_bytes_back(original: bytes) -> None:
    edited = editor.set_key(original, KEY, ENTRY)
    before = editor.load(original)
    after = dict(editor.load(edited))
    servers = dict(after.pop("mcpServers"))  # type: ignore[call-overload]
    assert servers.pop(KEY[1]) == ENTRY
    assert {**after, **({"mcpServers": servers} if "mcpServers" in before else {})} == before
    assert editor.set_key(edited, KEY, ENTRY) is edited
    restored = editor.delete_key(edited, KEY, prune=0 if "mcpServers" in before else 1)
    assert restored == original or (original == b"" and restored == b"{}\n")
    ends = set(re.findall(rb"\r\n|\r|\n", original))
    assert len(ends) != 1 or ends == set(re.findall(rb"\r\n|\r|\n", edited))


@pytest.mark.parametrize("original", [b"{\n}", b"{\n}\n", b'{\n  "mcpServers": {\n  }\n}'])
def test_empty_object_over_two_lines_comes_back_on_one(original: bytes) -> None:
    """The one layout that the text alone cannot remember; the receipt of the installer does."""
    edited = editor.set_key(original, KEY, ENTRY)
    assert editor.delete_key(edited, KEY, prune=0 if b"mcp" in original else 1) == re.sub(
        rb"\{\s+\}", b"{}", original
    )


@pytest.mark.parametrize(
    ("original", "key", "value", "expected"),
    [
        (b'{"a": 1, "b": 2}', ("a",), "x", b'{"a": "x", "b": 2}'),
        (b'{"a":{"x":1}}', ("a",), [1, {"y": None}], b'{"a":[1,{"y":null}]}'),
        (b'{\n  "a": [1, 2] // c\n}', ("a",), ["x", "y"], b'{\n  "a": ["x", "y"] // c\n}'),
        (b'{\n  "a": [\n    1\n  ]\n}', ("a",), ["x"], b'{\n  "a": [\n    "x"\n  ]\n}'),
        (b'{\r\n\t"a": false\r\n}', ("a",), {"b": 1}, b'{\r\n\t"a": {\r\n\t\t"b": 1\r\n\t}\r\n}'),
        (b'{"a": {"b": 1 /* b */, "c": 2}}', ("a",), {"b": 1, "c": 3}, b'{"a": {"b": 1 /* b */, "c": 3}}'),
        (b'{"a": {"b": 1, "c": 2}}', ("a",), {"c": 2, "d": 4}, b'{"a": {"c": 2, "d": 4}}'),
        (b'{"a": {}}', ("a",), {"d": 4}, b'{"a": {"d": 4}}'),
        (b'{"a": 1}', ("b", "c", "d"), 4, b'{"a": 1, "b": {"c": {"d": 4}}}'),
    ],
)
def test_setting_a_value(original: bytes, key: tuple[str, ...], value: object, expected: bytes) -> None:
    assert editor.set_key(original, key, value) == expected


@pytest.mark.parametrize(
    ("original", "key", "expected"),
    [
        (b'{"a": 1, "b": 2, "c": 3}', "a", b'{"b": 2, "c": 3}'),
        (b'{"a": 1, "b": 2, "c": 3}', "b", b'{"a": 1, "c": 3}'),
        (b'{"a": 1, "b": 2, "c": 3}', "c", b'{"a": 1, "b": 2}'),
        (b'{\n  "a": 1,\n  "b": 2,\n  "c": 3\n}', "a", b'{\n  "b": 2,\n  "c": 3\n}'),
        (
            b'{\n  "a": 1, // a\n  "b": 2, // b\n  "c": 3 // c\n}',
            "b",
            b'{\n  "a": 1, // a\n   // b\n  "c": 3 // c\n}',
        ),
        (b'{\n  "a": 1, // a\n  "b": 2\n}', "a", b'{ // a\n  "b": 2\n}'),
        (b'{\n  // about a\n  "a": 1,\n  "b": 2\n}', "a", b'{\n  // about a\n  "b": 2\n}'),
        (b'{\n  "a": 1, // a\n  "b": 2 }', "b", b'{\n  "a": 1 // a\n   }'),
        (b'{ // c\n "a": 1 }', "a", b"{ // c\n  }"),
        (b'{"a": 1,}', "a", b"{}"),
        (b'{\n  "a": 1, // a\n}', "a", b"{ // a\n}"),
        (b'{"a": {"x": [1, 2]} /* y */ , "b": 2}', "a", b'{ /* y */  "b": 2}'),
    ],
)
def test_deleting_someone_elses_layout(original: bytes, key: str, expected: bytes) -> None:
    assert editor.delete_key(original, (key,)) == expected


def test_prune_stops_at_what_is_not_empty() -> None:
    data = b'{"a": {"b": {"c": {"d": 1}}, "e": 2}}'
    assert editor.delete_key(data, ("a", "b", "c", "d")) == b'{"a": {"b": {"c": {}}, "e": 2}}'
    assert editor.delete_key(data, ("a", "b", "c", "d"), prune=1) == b'{"a": {"b": {}, "e": 2}}'
    assert editor.delete_key(data, ("a", "b", "c", "d"), prune=9) == b'{"a": {"e": 2}}'
    assert editor.delete_key(b'{"a": {"x": 0, "b": 1}}', ("a", "b"), prune=1) == b'{"a": {"x": 0}}'


LISTS = [
    (b"{}", b'{\n  "l": [\n    "x"\n  ]\n}'),
    (b'{"l":[]}', b'{"l":["x"]}'),
    (b'{\n  "l": []\n}', b'{\n  "l": [\n    "x"\n  ]\n}'),
    (b'{"l": ["a"]}', b'{"l": ["a", "x"]}'),
    (b'{"l": ["a", ]}', b'{"l": ["a", "x", ]}'),
    (
        b'{\n  "l": [\n    "a", // why\n    // "b",\n  ],\n}',
        b'{\n  "l": [\n    "a", // why\n    "x",\n    // "b",\n  ],\n}',
    ),
    (b'{\r\n  "l": [\r\n    "a"\r\n  ]\r\n}', b'{\r\n  "l": [\r\n    "a",\r\n    "x"\r\n  ]\r\n}'),
    (b'{"l": [ // none\n  ]}', None),
    (b'{"l": [[], {}]}', b'{"l": [[], {}, "x"]}'),
]


@pytest.mark.parametrize(("original", "expected"), LISTS)
def test_list_item_is_added_last_and_taken_out_again(original: bytes, expected: bytes | None) -> None:
    edited = editor.append_item(original, ("l",), "x")
    assert expected is None or edited == expected
    assert editor.append_item(edited, ("l",), "x") is edited
    assert editor.remove_item(edited, ("l",), "x", prune=1 if original == b"{}" else 0) == original
    assert editor.remove_item(original, ("l",), "x") is original


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"[]", "line 1: the file does not hold an object"),
        (b"null", "line 1: the file does not hold an object"),
        (b'{"a": 1}\n{"b": 2}', "line 2: a second value"),
        (b'{"a": 1},', "line 1: a second value"),
        (b'{\n"a": 1,\n"a": 2}', "line 3: the key 'a' appears twice"),
        (b'{"a": 1, "\\u0061": 2}', "line 1: the key 'a' appears twice"),
        (b'{"a": NaN}', "line 1: expected a value"),
        (b'{"a": -Infinity}', "line 1: expected a value"),
        (b'{"a": 01}', "line 1: expected a value"),
        (b'{"a": +1}', "line 1: expected a value"),
        (b'{"a": 1.}', "line 1: expected a value"),
        (b'{"a": 0x10}', "line 1: expected a value"),
        (b'{"a": nulls}', "line 1: expected a value"),
        (b"{'a': 1}", "line 1: expected a key in double quotes"),
        (b"{a: 1}", "line 1: expected a key in double quotes"),
        (b'{"a" 1}', "line 1: expected a colon"),
        (b'{"a": }', "line 1: expected a value"),
        (b'{"a": 1 "b": 2}', "line 1: expected a comma or }"),
        (b'{"a": 1', "line 1: expected a comma or } before the end of the file"),
        (b'{"a": [1 2]}', "line 1: expected a comma or ]"),
        (b'{"a": 1,, "b": 2}', "line 1: expected a key"),
        (b"{,}", "line 1: expected a key"),
        (b'{\n"a": "x\ny"}', "line 2: a string"),
        (b'{"a": "\\x"}', "line 1: a string"),
        (b'{"a": "\\u12"}', "line 1: a string"),
        (b'{"a": "tab\there"}', "line 1: a string"),
        (b'{"a": 1} /* open', "line 1: a comment that is never closed"),
        (b'{"a": 1} / no comment', "line 1: a comment that is never closed"),
        (b'{"a": 1} # no comment', "line 1: a second value"),
        (b'{"a": \xc2\xa01}', "line 1: expected a value"),
        (b'{"a": "\xff"}', "line 1: not valid UTF-8"),
        (b"\xff\xfe{\x00}\x00", "line 1: the file is UTF-16"),
        (b'{"a":' * 129 + b"1" + b"}" * 129, "line 1: nested deeper than 128"),
        (b'{"a":' + b"[" * 100_000, "line 1: nested deeper than 128"),
        (b'{"a": ' + b"9" * 5000 + b"}", "line 1: a number with too many digits"),
        (b'{"mcpServers": []}', "line 1: mcpServers is not a table of keys"),
        (b'{\n"mcpServers": "x"}', "line 2: mcpServers is not a table of keys"),
        (b'{\n"mcpServers": null}', "line 2: mcpServers is not an object"),
        (b" " * (8 * 1024 * 1024 + 1), "larger than 8 MiB"),
    ],
)
def test_what_cannot_be_edited_is_refused(data: bytes, reason: str) -> None:
    if b"99999" in data and not hasattr(__import__("sys"), "set_int_max_str_digits"):
        pytest.skip("this Python reads numbers of any length")
    with pytest.raises(EditRefused, match=re.escape(reason)):
        editor.set_key(data, KEY, ENTRY)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b'{\n"a": 1 // x\n}', "line 2: a comment, which"),
        (b'/**/{"a": 1}', "line 1: a comment, which"),
        (b'{\n"a": 1,\n}', "line 2: a trailing comma, which"),
        (b'{"a": [1,\n]}', "line 1: a trailing comma, which"),
    ],
)
def test_strict_json_refuses_what_its_reader_rejects(data: bytes, reason: str) -> None:
    assert editor.load(data)
    for call in (
        lambda: editor.load(data, strict=True),
        lambda: editor.set_key(data, KEY, ENTRY, strict=True),
        lambda: editor.delete_key(data, ("a",), strict=True),
        lambda: editor.append_item(data, ("l",), 1, strict=True),
        lambda: editor.remove_item(data, ("a",), 1, strict=True),
    ):
        with pytest.raises(EditRefused, match=reason):
            call()


@pytest.mark.parametrize("value", [object(), float("nan"), {"a": b"x"}, "\ud800"])
def test_value_that_json_cannot_hold_is_refused(value: object) -> None:
    with pytest.raises(EditRefused):
        editor.set_key(b"{}", ("a",), value)


def test_number_spellings_and_lone_surrogates_of_others_stay() -> None:
    original = b'{"n": [1.0, 1e3, -0, 10000000000000000000000], "s": "\\ud800 \\/ \\u00E9"}'
    edited = editor.set_key(original, ("a",), 1)
    assert edited == original[:-1] + b', "a": 1}'
    assert editor.load(original)["n"] == [1.0, 1000.0, 0, 10**22]


def test_snippet_is_a_file_of_its_own() -> None:
    assert editor.snippet(KEY, ENTRY) == "{\n" + BLOCK + "\n}\n"
    assert editor.set_key(b"", KEY, ENTRY) == editor.snippet(KEY, ENTRY).encode()


def test_comment_only_file_keeps_its_comments() -> None:
    edited = editor.set_key(b"// mine\r\n", ("a",), 1)
    assert edited == b'// mine\r\n{\r\n  "a": 1\r\n}\r\n'


WORDS = st.text(st.characters(blacklist_categories=("Cs",)), max_size=5)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)
BLANKS = st.sampled_from(["", "", "", " ", "  ", "\n  ", "\n", "\r\n\t", "\r"])
COMMENTS = st.sampled_from(["/**/", "/* x */", "/* , } ] */", "// y\n", "// z */\r\n", '// "q": [\n'])


@st.composite
def gap(draw: st.DrawFn) -> str:
    return draw(BLANKS) + (draw(COMMENTS) if draw(st.integers(0, 5)) == 0 else "") + draw(BLANKS)


@st.composite
def written(draw: st.DrawFn, value: Any, *, comments: bool) -> str:
    """Write a value in any layout the dialect allows."""
    blank = gap() if comments else BLANKS
    if isinstance(value, (dict, list)) and value:
        pairs = value.items() if isinstance(value, dict) else ((None, item) for item in value)
        parts = []
        for key, item in pairs:
            name = (
                "" if key is None else json.dumps(key, ensure_ascii=draw(st.booleans())) + draw(blank) + ":"
            )
            parts.append(
                draw(blank) + name + draw(blank) + draw(written(item, comments=comments)) + draw(blank)
            )
        trailing = "," + draw(blank) if comments and draw(st.booleans()) else ""
        return ("{%s}" if isinstance(value, dict) else "[%s]") % (",".join(parts) + trailing)
    return json.dumps(value, ensure_ascii=draw(st.booleans()))


@given(st.data(), st.dictionaries(WORDS | st.just("mcpServers"), VALUES, max_size=4), st.booleans())
def test_only_our_key_changes_and_the_bytes_come_back(
    data: st.DataObject, tree: dict[str, Any], strict: bool
) -> None:
    if not isinstance(tree.get("mcpServers", {}), dict):
        tree["mcpServers"] = {"time": tree["mcpServers"]}
    blank = BLANKS if strict else gap()
    original = (data.draw(blank) + data.draw(written(tree, comments=not strict)) + data.draw(blank)).encode()
    assert editor.load(original, strict=strict) == tree
    value, other = data.draw(VALUES), data.draw(VALUES)
    edited = editor.set_key(original, KEY, value, strict=strict)
    after = editor.load(edited, strict=strict)
    if strict:
        assert after == json.loads(edited)
    expected = {**tree, "mcpServers": {**tree.get("mcpServers", {}), KEY[1]: value}}
    assert after == expected
    assert editor.set_key(edited, KEY, value, strict=strict) is edited
    restored = editor.delete_key(edited, KEY, prune=0 if "mcpServers" in tree else 1, strict=strict)
    assert editor.load(restored, strict=strict) == tree
    assert b"".join(restored.split()) == b"".join(original.split())
    if tree.get("mcpServers", tree):
        assert restored == original
    changed = editor.set_key(edited, KEY, other, strict=strict)
    assert editor.load(changed, strict=strict) == {
        **tree,
        "mcpServers": {**tree.get("mcpServers", {}), KEY[1]: other},
    }


@given(st.data(), st.lists(VALUES, max_size=4), VALUES)
def test_only_our_item_changes_and_the_bytes_come_back(
    data: st.DataObject, items: list[Any], item: Any
) -> None:
    original = data.draw(written({"l": items}, comments=True)).encode()
    edited = editor.append_item(original, ("l",), item)
    if edited is original:
        assert any(json.dumps(item, sort_keys=True) == json.dumps(old, sort_keys=True) for old in items)
        return
    assert editor.load(edited) == {"l": [*items, item]}
    restored = editor.remove_item(edited, ("l",), item)
    assert editor.load(restored) == {"l": items}
    assert restored == original or not items
    for index in reversed(range(len(items))):
        before = editor.load(edited)["l"]
        edited = editor.remove_item(edited, ("l",), items[index])
        assert len(editor.load(edited)["l"]) == len(before) - 1  # type: ignore[arg-type]


@given(st.text(st.sampled_from("{}[],:\"/*\\n1e-. \n\rtruefalsnu#'a"), max_size=30))
def test_strict_reader_agrees_with_the_standard_one(text: str) -> None:
    def pairs(items: list[tuple[str, object]]) -> dict[str, object]:
        if len(dict(items)) != len(items):
            raise ValueError("twice")
        return dict(items)

    def constant(name: str) -> object:
        raise ValueError(name)

    text = '{"k":' + text
    try:
        expected = json.loads(text, object_pairs_hook=pairs, parse_constant=constant)
    except ValueError:
        with pytest.raises(EditRefused):
            editor.load(text.encode(), strict=True)
    else:
        assert editor.load(text.encode(), strict=True) == expected
