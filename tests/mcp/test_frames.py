"""One line to one message or one error."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types import JSONRPCNotification, JSONRPCRequest

from ecc_memory.mcp.frames import Refusal, parse

NOT_JSON = {
    "empty": b"",
    "carriage-return": b"\r",
    "words": b"hello",
    "half": b'{"jsonrpc":"2.0","id":1',
    "two-on-a-line": b'{"jsonrpc":"2.0","id":1,"method":"ping"}{"jsonrpc":"2.0"}',
    "bom": b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"ping"}',
    "not-utf-8": b'{"jsonrpc":"2.0","id":1,"method":"\xff\xfe"}',
    "overlong-utf-8": b'{"jsonrpc":"2.0","id":1,"method":"\xc0\xaf"}',
    "surrogate-as-utf-8": b'{"jsonrpc":"2.0","id":1,"method":"\xed\xa0\x80"}',
    "nan": b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":NaN}}',
    "infinity": b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":-Infinity}}',
    "comment": b'{"jsonrpc":"2.0","id":1,"method":"ping"} // no',
    "nul": b'{"jsonrpc":"2.0","id":1,"method":"pi\x00ng"}',
    "deep": b"[" * 100_000,
    "digits": b'{"jsonrpc":"2.0","id":' + b"9" * 10_000 + b',"method":"ping"}',
}
NOT_A_MESSAGE = {
    "batch": (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', None),
    "empty-batch": (b"[]", None),
    "string": (b'"ping"', None),
    "null": (b"null", None),
    "float-id": (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', None),
    "whole-float-id": (b'{"jsonrpc":"2.0","id":1.0,"method":"ping"}', None),
    "null-id": (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', None),
    "bool-id": (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', None),
    "list-id": (b'{"jsonrpc":"2.0","id":[1],"method":"ping"}', None),
    "long-id": (b'{"jsonrpc":"2.0","id":"' + b"i" * 1001 + b'","method":"ping"}', None),
    "no-version": (b'{"id":7,"method":"ping"}', 7),
    "old-version": (b'{"jsonrpc":"1.0","id":7,"method":"ping"}', 7),
    "no-method": (b'{"jsonrpc":"2.0","id":"x"}', "x"),
    "method-number": (b'{"jsonrpc":"2.0","id":"x","method":5}', "x"),
    "params-list": (b'{"jsonrpc":"2.0","id":"x","method":"ping","params":[]}', "x"),
    "params-text": (b'{"jsonrpc":"2.0","id":"x","method":"ping","params":"{}"}', "x"),
    "notification-params": (b'{"jsonrpc":"2.0","method":"notifications/x","params":3}', None),
}


@pytest.mark.parametrize("line", NOT_JSON.values(), ids=NOT_JSON.keys())
def test_what_is_not_json_is_a_parse_error(line: bytes) -> None:
    frame = parse(line)
    assert isinstance(frame, Refusal)
    assert (frame.code, frame.id) == (-32700, None)


@pytest.mark.parametrize(("line", "identity"), NOT_A_MESSAGE.values(), ids=NOT_A_MESSAGE.keys())
def test_what_is_not_a_message_is_an_invalid_request_of_its_id(line: bytes, identity: object) -> None:
    frame = parse(line)
    assert isinstance(frame, Refusal)
    assert (frame.code, frame.id) == (-32600, identity)


@pytest.mark.parametrize("escape", [r"\ud800", r"\uDFFF", r"\ude00\ud83d"])
def test_a_lone_surrogate_is_refused_with_the_id_of_its_request(escape: str) -> None:
    frame = parse(b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"t":"%s"}}' % escape.encode())
    assert isinstance(frame, Refusal)
    assert (frame.code, frame.id) == (-32602, 9)


def test_a_whole_pair_of_surrogates_is_one_character() -> None:
    frame = parse(rb'{"jsonrpc":"2.0","id":9,"method":"x","params":{"t":"\ud83e\udde0"}}')
    assert isinstance(frame, JSONRPCRequest)
    assert frame.params == {"t": "🧠"}


@pytest.mark.parametrize("identity", [0, -1, 2**63, 10**300, "", "7", "é" * 1000])
def test_ids_come_back_as_they_were(identity: int | str) -> None:
    frame = parse(json.dumps({"jsonrpc": "2.0", "id": identity, "method": "ping"}).encode() + b"\r")
    assert isinstance(frame, JSONRPCRequest)
    assert frame.id == identity


def test_params_may_be_null() -> None:
    frame = parse(b'{"jsonrpc":"2.0","method":"notifications/initialized","params":null}')
    assert isinstance(frame, JSONRPCNotification)
    assert frame.params is None


@pytest.mark.parametrize("outcome", ['"result":{}', '"error":{"code":1,"message":"x"}'])
def test_an_answer_is_nothing_to_us(outcome: str) -> None:
    assert parse(b'{"jsonrpc":"2.0","id":1,%s}' % outcome.encode()) is None


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
almost_messages = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | json_values,
        "id": st.integers() | st.text() | json_values,
        "method": st.sampled_from(["ping", "tools/list", "initialize"]) | json_values,
        "params": st.dictionaries(st.text(max_size=8), json_values, max_size=3) | json_values,
        "result": json_values,
    },
)


@given(st.binary() | almost_messages.map(lambda value: json.dumps(value).encode()))
def test_every_line_has_an_outcome(line: bytes) -> None:
    frame = parse(line)
    if isinstance(frame, Refusal):
        assert frame.code in (-32700, -32600, -32602)
        assert b"\n" not in frame.encode()
        assert json.loads(frame.encode())["id"] == frame.id
    else:
        assert frame is None or isinstance(frame, (JSONRPCRequest, JSONRPCNotification))
