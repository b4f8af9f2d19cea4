"""The transport under bad input, pressure and cancellation, in raw bytes against a real process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .conftest import Machine
from .process import COMMAND, INITIALIZE, ServerProcess, call, modern, request
from .test_frames import NOT_A_MESSAGE, NOT_JSON

MIB = 1024 * 1024
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read from /proc")


def is_answer_to(identity: object) -> Any:
    return lambda answer: answer.get("id") == identity


def errors_before_ping(server: ServerProcess, data: bytes) -> list[tuple[int, object]]:
    """Send bytes, then a ping that must be answered; return the errors that came meanwhile."""
    server.write(data)
    server.send(request("sentinel", "ping"))
    answers = server.receive_until(is_answer_to("sentinel"))
    assert answers[-1]["result"] == {}
    return [(answer["error"]["code"], answer["id"]) for answer in answers[:-1]]


@pytest.mark.parametrize("line", NOT_JSON.values(), ids=NOT_JSON.keys())
def test_a_bad_line_gets_one_parse_error_and_the_next_is_served(steady: ServerProcess, line: bytes) -> None:
    assert errors_before_ping(steady, line + b"\n") == [(-32700, None)]


@pytest.mark.parametrize(("line", "identity"), NOT_A_MESSAGE.values(), ids=NOT_A_MESSAGE.keys())
def test_a_line_that_is_no_message_gets_one_error(
    steady: ServerProcess, line: bytes, identity: object
) -> None:
    assert errors_before_ping(steady, line + b"\n") == [(-32600, identity)]


def test_bad_utf8_on_stdin_kills_server_not(steady: ServerProcess) -> None:
    assert errors_before_ping(steady, b"\xff\xfe\n") == [(-32700, None)]
    surrogate = json.dumps(call(5, "memory_save", title="t", body="x")).replace("x", r"\ud800").encode()
    assert errors_before_ping(steady, surrogate + b"\n") == [(-32602, 5)]
    assert errors_before_ping(steady, b"x" * 50_000_000 + b"\n") == [(-32700, None)]
    assert errors_before_ping(steady, b"\n\r\n[]\n") == [(-32700, None), (-32700, None), (-32600, None)]


def test_lines_may_end_in_crlf(steady: ServerProcess) -> None:
    steady.write(json.dumps(request(6, "ping")).encode() + b"\r\n")
    assert steady.receive() == {"jsonrpc": "2.0", "id": 6, "result": {}}


def test_answers_of_a_client_are_dropped_silently(steady: ServerProcess) -> None:
    assert errors_before_ping(steady, b'{"jsonrpc":"2.0","id":1,"result":{}}\n') == []


def test_unknown_notifications_and_methods(steady: ServerProcess) -> None:
    lines = b'{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}\n{"jsonrpc":"2.0","method":"x"}\n'
    assert errors_before_ping(steady, lines) == []
    assert steady.ask(request(8, "resources/list"))["error"]["code"] == -32601
    assert steady.ask(request(8, "nothing/such"))["error"]["code"] == -32601


def test_a_message_may_have_exactly_one_mebibyte(steady: ServerProcess) -> None:
    message = json.dumps(request(9, "ping", {"padding": ""})).encode()
    padded = message.replace(b'""', b'"' + b"p" * (MIB - len(message)) + b'"')
    assert len(padded) == MIB
    assert errors_before_ping(steady, padded.replace(b"p", b"pp", 1) + b"\n") == [(-32700, None)]
    steady.write(padded + b"\n")
    assert steady.receive() == {"jsonrpc": "2.0", "id": 9, "result": {}}


def test_deep_json_that_can_be_parsed_is_served(steady: ServerProcess) -> None:
    deep = b"[" * 300 + b"]" * 300
    steady.write(b'{"jsonrpc":"2.0","id":10,"method":"ping","params":{"x":' + deep + b"}}\n")
    assert steady.receive() == {"jsonrpc": "2.0", "id": 10, "result": {}}


fragments = st.one_of(
    st.binary(max_size=60),
    st.sampled_from([*NOT_JSON.values(), *(line for line, _ in NOT_A_MESSAGE.values())]),
    st.builds(
        lambda identity, method, params: json.dumps(
            {"jsonrpc": "2.0", "id": identity, "method": method, "params": params}
        ).encode(),
        st.integers() | st.text(max_size=5) | st.none() | st.floats(allow_nan=False),
        st.sampled_from(["ping", "tools/list", "tools/call", "initialize", "server/discover", "no/such"]),
        st.dictionaries(
            st.sampled_from(["name", "arguments", "_meta", "cursor", "protocolVersion"]),
            st.none()
            | st.integers()
            | st.sampled_from(["memory_search", "memory_read", "x"])
            | st.dictionaries(
                st.sampled_from(["query", "id", "limit", "progressToken"]), st.integers() | st.text()
            ),
        ),
    ),
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lines=st.lists(fragments.map(lambda line: line.replace(b"\n", b" ")), max_size=8), cut=st.integers(1, 40)
)
def test_no_bytes_stop_the_server(steady: ServerProcess, lines: list[bytes], cut: int) -> None:
    data = b"".join(line + b"\n" for line in lines)
    for start in range(0, len(data), max(1, len(data) // cut)):
        steady.write(data[start : start + max(1, len(data) // cut)])
    steady.send(request("the end", "ping"))
    answers = steady.receive_until(is_answer_to("the end"))
    while len(answers) - 1 < sum(wants_answer(line) for line in lines):
        answers.append(steady.receive())
    assert all(("result" in answer) != ("error" in answer) for answer in answers)


def wants_answer(line: bytes) -> bool:
    """Whether a line must be answered: everything but notifications and answers."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return True
    if not isinstance(value, dict) or "id" in value or value.get("jsonrpc") != "2.0":
        return True
    return not isinstance(value.get("method"), str) or not isinstance(value.get("params"), (dict, type(None)))


def test_pipes_may_be_non_blocking(machine: Machine) -> None:
    """Some clients hand over the ends of non-blocking pipes."""
    ours, theirs = os.pipe(), os.pipe()
    for descriptor in (ours[0], theirs[1]):
        os.set_blocking(descriptor, False)
    process = subprocess.Popen(
        [COMMAND], stdin=ours[0], stdout=theirs[1], cwd=machine.project, env=machine.env()
    )
    os.close(ours[0])
    os.close(theirs[1])
    lines = [INITIALIZE, *(request(number, "tools/list") for number in range(100))]
    with os.fdopen(ours[1], "wb") as to_server, os.fdopen(theirs[0], "rb") as from_server:
        for line in lines:
            to_server.write(json.dumps(line).encode() + b"\n")
            to_server.flush()
            time.sleep(0.002)
        assert {json.loads(from_server.readline())["id"] for _ in lines} == {"open", *range(100)}
    assert process.wait() == 0


@on_linux
def test_a_line_of_64_mib_costs_no_memory(machine: Machine) -> None:
    server = machine.open()
    server.succeed("memory_search", query="x")
    idle = server.peak_kib()
    for _ in range(64):
        server.write(b"x" * MIB)
    assert errors_before_ping(server, b"\n") == [(-32700, None)]
    assert server.peak_kib() - idle < 10 * 1024


@on_linux
@pytest.mark.parametrize("arguments", [{"query": "rotation"}, {"query": "", "limit": 100}])
def test_pipelined_calls_are_all_answered_and_cost_no_memory(
    machine: Machine, arguments: dict[str, Any]
) -> None:
    server = machine.open()
    for number in range(30):
        server.succeed("memory_save", title=f"Rotation {number}", body="The rotation tests pass. " * 100)
    server.succeed("memory_search", **arguments)
    idle = server.peak_kib()
    writer = threading.Thread(
        target=lambda: [server.send(call(number, "memory_search", **arguments)) for number in range(5000)]
    )
    writer.start()
    answers = [server.receive() for _ in range(5000)]
    writer.join()
    server.raw.clear()
    assert sorted(answer["id"] for answer in answers) == list(range(5000))
    busy = [answer["error"]["code"] for answer in answers if "error" in answer]
    assert set(busy) <= {-32603}
    assert len(busy) < 5000
    assert server.peak_kib() - idle < 10 * 1024


def test_a_client_may_write_everything_before_it_reads(machine: Machine) -> None:
    lines = [INITIALIZE, *(request(number, "tools/list") for number in range(5000))]
    process = subprocess.Popen(
        [COMMAND], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=machine.project, env=machine.env()
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    process.stdin.flush()
    answers = [json.loads(process.stdout.readline()) for _ in lines]
    assert {answer["id"] for answer in answers} == {"open", *range(5000)}
    process.stdin.close()
    assert process.wait() == 0
    process.stdout.close()


def test_an_id_in_use_is_refused_and_the_first_is_answered(machine: Machine) -> None:
    server = machine.open()
    search = json.dumps(call(1, "memory_search", query="x")).encode() + b"\n"
    server.write(search + search)
    answers = [server.receive(), server.receive()]
    assert [answer["error"]["code"] for answer in answers if "error" in answer] == [-32600]
    assert [answer["id"] for answer in answers if "result" in answer] == [1]
    assert "result" in server.ask(call(1, "memory_search", query="x"))


def test_too_many_bytes_pending_is_busy(machine: Machine) -> None:
    server = machine.open()
    large = {"query": "y" * (MIB - 1000)}
    server.write(b"".join(json.dumps(call(n, "memory_search", **large)).encode() + b"\n" for n in range(12)))
    answers = {answer["id"]: answer for answer in (server.receive() for _ in range(12))}
    assert sorted(answers) == list(range(12))
    busy = [n for n, answer in answers.items() if answer.get("error", {}).get("code") == -32603]
    assert 0 not in busy
    assert all("Busy" in answers[n]["error"]["message"] for n in busy)


@pytest.mark.parametrize("era", ["handshake", "modern"])
def test_cancelled_requests_are_not_answered_and_free_their_place(machine: Machine, era: str) -> None:
    server = machine.start()
    dress: Any = modern if era == "modern" else dict
    if era == "handshake":
        server.open()
    for round_ in range(3):
        identities = [f"{round_}-{number}" for number in range(60)]
        lines = [dress(call(identity, "memory_search", query="x")) for identity in identities]
        lines += [
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": identity}}
            for identity in identities
        ]
        server.write(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
        last = dress(call(f"last {round_}", "memory_doctor"))
        server.send(last)
        answers = server.receive_until(is_answer_to(last["id"]))
        assert len(answers) < 61
        assert all("result" in answer for answer in answers), answers


def test_a_cancellation_of_true_does_not_cancel_the_first_request(machine: Machine) -> None:
    """True equals 1 in Python, in JSON it does not."""
    server = machine.open()
    lines = [call(number, "memory_search", query="x") for number in range(5, 0, -1)]
    lines += [{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": True}}]
    server.write(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    assert {server.receive()["id"] for _ in lines[:-1]} == {1, 2, 3, 4, 5}


@pytest.mark.parametrize("method", ["tools/list", "tools/call"])
def test_a_request_before_the_handshake_is_told_so(machine: Machine, method: str) -> None:
    server = machine.start()
    early = {**call(1, "memory_doctor"), "method": method}
    error = server.ask(early)["error"]
    assert (error["code"], "the handshake is missing; send initialize" in error["message"]) == (-32602, True)
    server.open()
    assert "result" in server.ask(call(2, "memory_doctor"))


def test_a_request_without_a_newline_at_the_end_is_served(machine: Machine) -> None:
    server = machine.open()
    server.write(json.dumps(call(1, "memory_search", query="x")).encode())
    server.end_input()
    assert server.receive()["id"] == 1
    assert server.wait() == 0


def test_too_large_an_answer_is_an_error_of_its_request() -> None:
    from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCResponse

    from ecc_memory.mcp.answers import encode

    line = json.loads(encode(JSONRPCResponse(jsonrpc="2.0", id=3, result={"x": "y" * 2000}), 1000))
    assert (line["id"], line["error"]["code"]) == (3, -32603)
    assert b"y" * 100 in encode(JSONRPCResponse(jsonrpc="2.0", id=3, result={"x": "y" * 100}), 1000)
    assert b"method" in encode(JSONRPCNotification(jsonrpc="2.0", method="m"), 1000)
    leaked = JSONRPCError.model_validate(
        {"jsonrpc": "2.0", "id": 4, "error": {"code": 0, "message": "/home/x/private"}}
    )
    assert json.loads(encode(leaked, 1000))["error"] == {"code": -32603, "message": "Internal error"}
