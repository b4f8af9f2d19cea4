"""A loopback endpoint that stands where a harness expects a model and follows a script.

It speaks the three dialects of the four harnesses (responses, messages, chat completions), answers
each turn with the next step, a text or one tool call, and keeps every request it was sent. What a
harness sends is the proof that our rules, tools and reminders reach its model.
"""

from __future__ import annotations

import itertools
import json
import math
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True)
class Call:
    """A step that calls the tool whose name ends in ``tool``, whatever prefix the harness gives it."""

    tool: str
    arguments: Json


@dataclass(frozen=True)
class Patch:
    """A step that calls Codex's ``apply_patch``, whose one argument is no JSON."""

    text: str


@dataclass(frozen=True)
class Script:
    """A step of Codex's newer models, which call tools from JavaScript that they run with ``exec``."""

    source: str


Step = str | Call | Patch | Script

_SERIAL = itertools.count(1)
"""A harness takes two calls of one id for the same one."""


class ScriptedModel:
    """The endpoint; use it as a context manager.

    Attributes:
        url: ``http://127.0.0.1:PORT``.
        turns: the bodies of all requests that carried tools, in order.
        waited: seconds until the first of them came.
        tool_names: the last part and the full name of every tool that the first turn offered.
    """

    def __init__(self, *steps: Step) -> None:
        self.turns: list[Json] = []
        self.waited = math.inf
        self._steps = list(steps)
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> ScriptedModel:
        self._started = time.monotonic()
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def next_step(self, body: Json) -> Step:
        """Take the next step; requests without tools are side jobs, such as titles."""
        if not body.get("tools") and not _carries_tools_in_its_input(body):
            return "ok"
        with self._lock:
            self.waited = min(self.waited, time.monotonic() - self._started)
            self.turns.append(body)
            return self._steps.pop(0) if self._steps else "done"

    @property
    def tools(self) -> dict[str, str]:
        """The tools of the first turn: bare name -> name as the model sees it."""
        names = [name for _, name in _tool_names(self.turns[0])]
        return {name.split("__")[-1].split("vault_")[-1]: name for name in names}


def text_of(body: Json) -> str:
    """Give all of a request as one text in which quotes and line ends are not escaped."""
    return json.dumps(body, ensure_ascii=False).replace("\\n", "\n").replace('\\"', '"')


def results(body: Json) -> list[str]:
    """Give what the tools answered, in order, as the harness reports it to its model."""
    items = [*body.get("input", ()), *body.get("messages", ())]
    outputs = [item["output"] for item in items if str(item.get("type")).endswith("_call_output")]
    outputs += [item["content"] for item in items if item.get("role") == "tool"]
    for item in items:
        if item.get("role") == "user" and isinstance(item.get("content"), list):
            outputs += [part["content"] for part in item["content"] if part.get("type") == "tool_result"]
    return [output if isinstance(output, str) else _joined(output) for output in outputs]


def _joined(parts: list[Json]) -> str:
    return "".join(part.get("text", "") for part in parts)


def _carries_tools_in_its_input(body: Json) -> bool:
    return any(item.get("type") == "additional_tools" for item in body.get("input", ()))


def _tool_names(body: Json) -> Iterator[tuple[str | None, str]]:
    for tool in body.get("tools", ()):
        if tool.get("type") == "namespace":
            for inner in tool["tools"]:
                yield tool["name"], inner["name"]
        else:
            yield None, tool.get("name") or tool.get("function", {}).get("name", "")


def _resolve(body: Json, call: Call) -> tuple[str | None, str]:
    for namespace, name in _tool_names(body):
        if name.endswith(call.tool):
            return namespace, name
    return None, call.tool


def _handler(model: ScriptedModel) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            """Stay quiet."""

        def do_GET(self) -> None:
            self._json({"object": "list", "data": [{"id": "stub", "object": "model", "owned_by": "stub"}]})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or b"{}")
            path = self.path.partition("?")[0]
            if path.endswith("/count_tokens"):
                self._json({"input_tokens": 10})
            elif path.endswith("/responses"):
                self._events(_responses(body, model.next_step(body)))
            elif path.endswith("/messages"):
                self._events(_messages(body, model.next_step(body)))
            elif path.endswith("/chat/completions"):
                step = model.next_step(body)
                if body.get("stream"):
                    self._events(_completion_chunks(body, step))
                else:
                    self._json(_completion(body, step))
            else:
                self.send_error(404)

        def _json(self, value: Json) -> None:
            data = json.dumps(value).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def _events(self, events: Iterator[Json | str]) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()
            for event in events:
                if isinstance(event, str):
                    self.wfile.write(f"data: {event}\n\n".encode())
                    continue
                if "type" in event:
                    self.wfile.write(f"event: {event['type']}\n".encode())
                self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())
            self.close_connection = True

    return Handler


def _responses(body: Json, step: Step) -> Iterator[Json]:
    yield {"type": "response.created", "response": {"id": "resp_1"}}
    yield {"type": "response.output_item.done", "item": _response_item(body, step)}
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    yield {"type": "response.completed", "response": {"id": "resp_1", "usage": usage}}


def _response_item(body: Json, step: Step) -> Json:
    if isinstance(step, str):
        content = [{"type": "output_text", "text": step}]
        return {"type": "message", "role": "assistant", "id": "msg_1", "content": content}
    call = {"call_id": f"call_{next(_SERIAL)}"}
    if isinstance(step, Patch):
        return {"type": "custom_tool_call", **call, "name": "apply_patch", "input": step.text}
    if isinstance(step, Script):
        return {
            "type": "custom_tool_call",
            **call,
            "namespace": "functions",
            "name": "exec",
            "input": step.source,
        }
    namespace, name = _resolve(body, step)
    item = {"type": "function_call", **call, "name": name, "arguments": json.dumps(step.arguments)}
    return {**item, "namespace": namespace} if namespace else item


def _messages(body: Json, step: Step) -> Iterator[Json]:
    usage = {"input_tokens": 1, "output_tokens": 1}
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": body.get("model", "stub")}
    yield {"type": "message_start", "message": {**head, "content": [], "stop_reason": None, "usage": usage}}
    if isinstance(step, str):
        block: Json = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": step}
    else:
        name = _resolve(body, step)[1]
        block = {"type": "tool_use", "id": f"call_{next(_SERIAL)}", "name": name, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(step.arguments)}
    yield {"type": "content_block_start", "index": 0, "content_block": block}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    reason = "end_turn" if isinstance(step, str) else "tool_use"
    yield {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage}
    yield {"type": "message_stop"}


def _chat_message(body: Json, step: Step) -> Json:
    if isinstance(step, str):
        return {"role": "assistant", "content": step}
    function = {"name": _resolve(body, step)[1], "arguments": json.dumps(step.arguments)}
    call = {"index": 0, "id": f"call_{next(_SERIAL)}", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def _completion(body: Json, step: Step) -> Json:
    reason = "stop" if isinstance(step, str) else "tool_calls"
    choice = {"index": 0, "message": _chat_message(body, step), "finish_reason": reason}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return {"id": "c", "object": "chat.completion", "created": 0, "model": "stub", "choices": [choice],
            "usage": usage}  # fmt: skip


def _completion_chunks(body: Json, step: Step) -> Iterator[Json | str]:
    head = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "stub"}
    yield {**head, "choices": [{"index": 0, "delta": _chat_message(body, step), "finish_reason": None}]}
    reason = "stop" if isinstance(step, str) else "tool_calls"
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    yield {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage}
    yield "[DONE]"
