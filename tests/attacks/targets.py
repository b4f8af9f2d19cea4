"""What reads bytes that others wrote, each as a function that any bytes may be given to.

A target returns when the reader did what it promises: it accepted the input and what it made of it
holds, or it refused with an error of ours. Everything else is an exception, which a fuzzer reports.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

from mcp_types import JSONRPCNotification, JSONRPCRequest

from ecc_memory.errors import EditRefused, InvalidMemory, UsageError
from ecc_memory.install.edit import markdown
from ecc_memory.install.edit.value import MISSING, lookup
from ecc_memory.install.editors import editor
from ecc_memory.install.receipt import FileReceipt, Installed, Owner, Receipts
from ecc_memory.install.receipt_json import dump, parse
from ecc_memory.mcp.frames import Refusal
from ecc_memory.mcp.frames import parse as parse_frame
from ecc_memory.mcp.lines import Lines
from ecc_memory.reminders.changes import changes
from ecc_memory.reminders.event import parse_event
from ecc_memory.vault import parse_document, serialize_document
from ecc_memory.vault.secrets import find_secret

TESTS = Path(__file__).parents[1]
KEY = ("mcp_servers", "ecc-memory-vault")
ENTRY = {"command": "/opt/ecc-memory-mcp", "args": ["--harness", "codex"], "env": {"A": "b"}}
LIST = ("hooks", "SessionStart")
ITEM = {"matcher": "startup", "hooks": [{"type": "command", "command": "/opt/hook --x"}]}
LONGEST_LINE = 512


def document(data: bytes) -> None:
    """A document is a memory that can be written and read again, or :class:`InvalidMemory`."""
    try:
        memory = parse_document(data.decode("utf-8", "surrogateescape"))
    except InvalidMemory:
        return
    assert parse_document(serialize_document(memory)) == memory


def config(format: str, data: bytes) -> None:
    """An edit does what it should and can be undone, or is refused; the rest of the values stay."""
    edit = editor(format)  # type: ignore[arg-type]
    for put, take in (
        (partial(edit.set_key, key=KEY, value=ENTRY), partial(edit.delete_key, key=KEY, prune=1)),
        (partial(edit.append_item, key=LIST, item=ITEM), partial(edit.remove_item, key=LIST, item=ITEM)),
    ):
        try:
            before = edit.load(data)
            edited = put(data)
            after = edit.load(edited)
            assert put(edited) is edited, "twice is once"
            gone = edit.load(take(edited))
        except EditRefused:
            continue
        assert lookup(after, KEY) == ENTRY or ITEM in _list(after)
        assert lookup(gone, KEY) is MISSING or ITEM not in _list(gone)
        others = {name: value for name, value in before.items() if name not in (KEY[0], LIST[0])}
        assert repr(others) == repr({name: after[name] for name in others})


def _list(tree: Mapping[str, object]) -> list[object]:
    value = lookup(tree, LIST)
    return value if isinstance(value, list) else []


def block(data: bytes) -> None:
    """A marked block comes and goes and leaves the bytes around it, or the file is refused."""
    try:
        before = markdown.find_block(data)
        edited = markdown.set_block(data, "ours\n")
        found = markdown.find_block(edited)
        taken = markdown.delete_block(edited)
    except EditRefused:
        return
    assert found is not None
    assert found.text == "ours\n"
    assert markdown.find_block(taken) is None
    if before is None:
        assert edited[: found.start].startswith(data.rstrip())
        assert taken.rstrip() == data.rstrip()


def frames(data: bytes) -> None:
    """Every line gets a message, a refusal that can be sent, or is an answer to nothing."""
    lines = Lines(LONGEST_LINE)
    middle = len(data) // 2
    for line in [*lines.feed(data[:middle]), *lines.feed(data[middle:]), *lines.finish()]:
        if line is None:
            continue
        assert len(line) <= LONGEST_LINE
        frame = parse_frame(line)
        if isinstance(frame, Refusal):
            assert json.loads(frame.encode())["error"]["message"]
        elif isinstance(frame, (JSONRPCRequest, JSONRPCNotification)):
            frame.model_dump_json().encode()
        else:
            assert frame is None


def receipts(data: bytes) -> None:
    """Receipts are read as they would be written again, or :class:`ValueError`."""
    try:
        found = parse(data)
    except ValueError:
        return
    assert parse(dump(found)) == found


def event(data: bytes) -> None:
    """An event yields changes of texts, or :class:`UsageError`."""
    try:
        found = parse_event(data)
    except UsageError:
        return
    for change in changes(found.tool, found.tool_input):
        assert isinstance(change.path, str)
        assert isinstance(change.text, str)


def secret(data: bytes) -> None:
    """Any text is answered, with a line that it has."""
    text = data.decode("utf-8", "surrogateescape")
    hit = find_secret(text)
    assert hit is None or 1 <= hit.line <= text.count("\n") + 1


TARGETS: dict[str, Callable[[bytes], None]] = {
    "document": document,
    "json": partial(config, "json"),
    "jsonc": partial(config, "jsonc"),
    "toml": partial(config, "toml"),
    "yaml": partial(config, "yaml"),
    "markdown": block,
    "frames": frames,
    "receipts": receipts,
    "event": event,
    "secret": secret,
}


def seeds(name: str) -> Iterator[bytes]:
    """Yield inputs of the kind that a target is made for."""
    yield from _FOUND.get(name, ())
    folder = TESTS / "corpus" / {"jsonc": "json"}.get(name, name)
    if folder.is_dir():
        yield from (path.read_bytes() for path in sorted(folder.iterdir()))
        return
    yield from _SEEDS[name]()


_FOUND = {"yaml": (b"%YAML 1.0\n---\na: 1\n",)}
"""What broke a target once."""


def _documents() -> Iterator[bytes]:
    cases = json.loads((TESTS / "conformance" / "parse.json").read_text("utf-8"))
    yield from (case["document"].encode("utf-8", "surrogatepass") for case in cases)


def _frames() -> Iterator[bytes]:
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "memory_search"}}
    for change in ({}, {"id": "x"}, {"id": None}, {"params": []}, {"jsonrpc": "1.0"}, {"method": 1}):
        yield json.dumps({**request, **change}).encode() + b"\n"
    yield b'{"jsonrpc":"2.0","method":"\\ud800"}\r\n[]\n\n{"id":1e400}\n\xff\n{"jsonrpc":"2.0","result":1}\n'


def _receipts() -> Iterator[bytes]:
    owner = Owner("codex", "project", "/home/jane/project")
    installed = Installed("1", frozenset({"mcp"}), {"ECC_MEMORY_HARNESS": "codex"}, "ecc-memory-mcp")
    kinds = [
        {"kind": "file", "sha256": "0" * 64},
        {"kind": "block", "text": "Recall.\n"},
        {"kind": "entry", "format": "toml", "key": list(KEY), "value": ENTRY, "alsoOurs": ["x"]},
        {"kind": "item", "format": "json", "key": list(LIST), "item": ITEM},
    ]
    for number, kind in enumerate(kinds):
        artifact = {
            **kind,
            "part": "mcp",
            "path": f"/home/jane/{number}",
            "originalBytes": {"base64": "/w=="},
        }
        path = f"/home/jane/{number}"
        file = FileReceipt(path, bool(number), "0" * 64, "1" * 64, 0o644, (), frozenset({KEY}), ())
        payload = json.loads(dump(Receipts({owner: installed}, {path: file}, ("/home/jane/.codex",))))
        owners = payload["installations"]
        payload["files"][0]["artifacts"] = [{**artifact, "owners": [dict(owners[0])]}]
        payload["files"][0]["splices"] = [{"at": 1, "removed": "", "inserted": "x"}]
        yield json.dumps(payload).encode()


def _events() -> Iterator[bytes]:
    patch = "*** Begin Patch\n*** Add File: a.md\n+x\n*** Update File: b\n*** Move to: c\n*** End Patch"
    inputs: dict[str, dict[str, object]] = {
        "Write": {"file_path": "a.md", "content": "x"},
        "MultiEdit": {"file_path": "a.md", "edits": [{"new_string": "x"}]},
        "apply_patch": {"command": patch},
        "patch": {"mode": "patch", "patch": patch},
    }
    for tool, given in inputs.items():
        said = {"hook_event_name": "PreToolUse", "cwd": "/x", "tool_name": tool, "tool_input": given}
        yield json.dumps({**said, "source": "startup", "extra": {"is_first_turn": True}}).encode()


def _secrets() -> Iterator[bytes]:
    from ..vault.secret_samples import positives

    yield from (text.encode() for _, text in positives(0))


_SEEDS: dict[str, Callable[[], Iterator[bytes]]] = {
    "document": _documents,
    "frames": _frames,
    "receipts": _receipts,
    "event": _events,
    "secret": _secrets,
}
