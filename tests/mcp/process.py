"""A server as a process, spoken to in raw bytes."""

from __future__ import annotations

import contextlib
import json
import queue
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

COMMAND = str(Path(sys.executable).with_name("ecc-memory-mcp"))
PATIENCE = 30.0  # seconds until a test gives up on a server; no assertion is about time unless it says so

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": "open",
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "tests", "version": "0"},
    },
}
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "0"},
}


def request(identity: object, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
    message: dict[str, Any] = {"jsonrpc": "2.0", "id": identity, "method": method}
    return message if params is None else {**message, "params": params}


def call(identity: object, tool: str, **arguments: Any) -> dict[str, Any]:
    return request(identity, "tools/call", {"name": tool, "arguments": arguments})


def modern(message: dict[str, Any]) -> dict[str, Any]:
    """The same request with the envelope of 2026-07-28."""
    return {**message, "params": {**message.get("params", {}), "_meta": ENVELOPE}}


class ServerProcess:
    """A server and everything that it writes."""

    def __init__(self, command: list[str], *, cwd: Path, env: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env=env,
        )
        self.raw: list[bytes] = []
        self._lines: queue.Queue[bytes | None] = queue.Queue()
        self._errors: list[bytes] = []
        self._threads = [threading.Thread(target=target, daemon=True) for target in (self._out, self._err)]
        for thread in self._threads:
            thread.start()

    def _out(self) -> None:
        assert self.process.stdout is not None
        with contextlib.suppress(ValueError, OSError):
            for line in self.process.stdout:
                self.raw.append(line)
                self._lines.put(line)
        self._lines.put(None)

    def _err(self) -> None:
        assert self.process.stderr is not None
        with contextlib.suppress(ValueError, OSError):
            for line in self.process.stderr:
                self._errors.append(line)

    def write(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message: object) -> None:
        self.write(json.dumps(message).encode() + b"\n")

    def receive(self) -> dict[str, Any]:
        """The next line, which must be a JSON object."""
        line = self._lines.get(timeout=PATIENCE)
        assert line is not None, f"the server is gone: {self.errors()}"
        value = json.loads(line.decode("utf-8"))
        assert isinstance(value, dict)
        assert value["jsonrpc"] == "2.0"
        return value

    def receive_until(self, wanted: Callable[[dict[str, Any]], bool]) -> list[dict[str, Any]]:
        """Everything up to and including the first answer that is wanted."""
        seen = [self.receive()]
        while not wanted(seen[-1]):
            seen.append(self.receive())
        return seen

    def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        """Send one request and return the answer of its id."""
        self.send(message)
        return self.receive_until(lambda answer: answer.get("id") == message["id"])[-1]

    def open(self) -> dict[str, Any]:
        """Shake hands in the era up to 2025-11-25."""
        answer = self.ask(INITIALIZE)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    def succeed(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return its structured content."""
        answer = self.ask(call(f"{tool} {len(self.raw)}", tool, **arguments))
        content = answer["result"].get("structuredContent")
        assert isinstance(content, dict), answer
        return content

    def end_input(self) -> None:
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):
            self.process.stdin.close()

    def wait(self, timeout: float = PATIENCE) -> int:
        return self.process.wait(timeout)

    def errors(self) -> str:
        if self.process.poll() is not None:
            self._threads[1].join(PATIENCE)
        return b"".join(self._errors).decode("utf-8", "replace")

    def peak_kib(self) -> int:
        """The largest resident size so far (proc_pid_status(5), VmHWM)."""
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(text.split("VmHWM:")[1].split()[0])

    def close(self) -> None:
        self.end_input()
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for thread in self._threads:
            thread.join(PATIENCE)
        for stream in (self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()
