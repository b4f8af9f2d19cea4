"""The corpus: every file gives every byte back after our entries came and went, or is refused as listed.

``tests/corpus/<format>/<harness>-<what>.<ext>`` are written by hand, in the shapes people have;
``tests/corpus/manifest.json`` lists the refused ones and why, and the few whose last byte only the
installer's receipt can remember. Line ends, marks and tabs are varied here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ecc_memory.errors import EditRefused
from ecc_memory.install.edit import json as json_editor
from ecc_memory.install.edit import markdown, toml, yaml
from ecc_memory.install.edit.value import MISSING, lookup

CORPUS = Path(__file__).parents[2] / "corpus"
MANIFEST = json.loads((CORPUS / "manifest.json").read_text(encoding="utf-8"))
REFUSED: dict[str, str] = MANIFEST["refused"]
RECEIPT: dict[str, str] = MANIFEST["receipt"]
FORMATS = ("json", "toml", "yaml", "markdown")
FILES = sorted(f"{form}/{path.name}" for form in FORMATS for path in (CORPUS / form).iterdir())

NAME = "ecc-memory-vault"
STDIO = {"command": "/home/jane doe/bin/ecc-memory-mcp", "args": [], "env": {"ECC_MEMORY_HARNESS": "x"}}
LOCAL = {
    "type": "local",
    "command": ["/opt/ecc-memory-mcp"],
    "environment": {"ECC_MEMORY_HARNESS": "opencode"},
}
GROUP = {"hooks": [{"type": "command", "command": "ecc-memory-hook claude session-start", "timeout": 5}]}
SHELL = {"command": "/opt/ecc-memory-hook hermes", "timeout": 5}
TEXT = "## Shared memory\n\nRecall with `memory_search` before you start.\n"

Key = tuple[str, ...]
Wish = tuple[str, Key, object]

WISHES: dict[str, list[Wish]] = {
    "json/claude-settings": [("item", ("hooks", "SessionStart"), GROUP)],
    "json/claude-mcp": [("key", ("mcpServers", NAME), STDIO)],
    "json/claude-state": [("key", ("mcpServers", NAME), STDIO)],
    "json/codex-hooks": [("item", ("hooks", "SessionStart"), GROUP)],
    "json/opencode": [
        ("key", ("mcp", NAME), LOCAL),
        ("item", ("instructions",), "~/.config/ecc-memory/rules.md"),
    ],
    "toml/codex": [("key", ("mcp_servers", NAME), {**STDIO, "startup_timeout_sec": 30})],
    "yaml/hermes": [
        ("key", ("mcp_servers", NAME), STDIO),
        ("item", ("hooks", "pre_llm_call"), SHELL),
        ("item", ("skills", "external_dirs"), "~/.agents/skills-of-ecc"),
    ],
}


class Steps:
    """Our entries in one file: put in one after the other, taken out in the opposite order."""

    def __init__(self, name: str) -> None:
        form, _, base = name.partition("/")
        self.form = form
        self.strict = {"strict": not base.startswith("opencode")} if form == "json" else {}
        self.module: Any = {"json": json_editor, "toml": toml, "yaml": yaml}.get(form)
        self.wishes = next((wishes for prefix, wishes in WISHES.items() if name.startswith(prefix)), [])
        self.prunes: list[int] = []

    def load(self, data: bytes) -> object:
        return self.module.load(data, **self.strict) if self.module else data

    def install(self, data: bytes) -> bytes:
        if self.form == "markdown":
            return markdown.set_block(data, TEXT)
        for kind, key, value in self.wishes:
            tree = self.load(data)
            depth = len(key) - (kind == "key")
            self.prunes.append(sum(lookup(tree, key[:n]) is MISSING for n in range(1, depth + 1)))
            put = self.module.set_key if kind == "key" else self.module.append_item
            edited = put(data, key, value, **self.strict)
            assert put(edited, key, value, **self.strict) is edited
            data = edited
        return data

    def uninstall(self, data: bytes) -> bytes:
        if self.form == "markdown":
            return markdown.delete_block(data)
        for (kind, key, value), prune in zip(reversed(self.wishes), reversed(self.prunes), strict=True):
            if kind == "key":
                data = self.module.delete_key(data, key, prune=prune, **self.strict)
            else:
                data = self.module.remove_item(data, key, value, prune=prune, **self.strict)
        return data


def mixed(data: bytes) -> bytes:
    lines = data.split(b"\n")
    ends = [b"\r\n" if index % 2 else b"\n" for index in range(len(lines) - 1)]
    return b"".join(line + end for line, end in zip(lines, [*ends, b""], strict=True))


VARIANTS: dict[str, Callable[[bytes], bytes]] = {
    "as it is": lambda data: data,
    "CRLF": lambda data: data.replace(b"\n", b"\r\n"),
    "CR": lambda data: data.replace(b"\n", b"\r"),
    "mixed ends": mixed,
    "byte order mark": lambda data: b"\xef\xbb\xbf" + data,
    "no final line end": lambda data: data[:-1] if data.endswith(b"\n") else data + b"\n",
    "blank lines at the end": lambda data: data + b"\n\n",
    "tabs": lambda data: re.sub(rb"(?m)^(?:  )+", lambda match: b"\t" * (len(match[0]) // 2), data),
}


def variants(name: str) -> Iterator[tuple[str, bytes]]:
    """Yield the forms of a file in which it means the same; TOML knows no CR, YAML no tabs."""
    data = (CORPUS / name).read_bytes()
    without = {"toml": {"CR"}, "yaml": {"tabs"}, "markdown": {"tabs"}}.get(name.partition("/")[0], set())
    forms = {variant: change(data) for variant, change in VARIANTS.items() if variant not in without}
    seen: set[bytes] = set()
    for variant, form in forms.items():
        if form not in seen:
            seen.add(form)
            yield variant, form


@pytest.mark.parametrize("name", [name for name in FILES if name not in REFUSED])
def test_every_byte_comes_back(name: str) -> None:
    for variant, original in variants(name):
        steps = Steps(name)
        edited = steps.install(original)
        assert edited != original
        restored = steps.uninstall(edited)
        if name not in RECEIPT:
            assert restored == original, variant
        else:
            assert steps.load(restored) == steps.load(original), variant


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_refused_as_listed(name: str) -> None:
    """Where a parser speaks, its words differ from version to version; the line does not."""
    listed = re.split(r"(?<=not valid TOML|not valid YAML)", REFUSED[name])[0]
    with pytest.raises(EditRefused, match=re.escape(listed)):
        Steps(name).install((CORPUS / name).read_bytes())


@pytest.mark.parametrize("name", sorted(RECEIPT))
def test_receipt_is_needed_only_where_listed(name: str) -> None:
    data = (CORPUS / name).read_bytes()
    steps = Steps(name)
    assert steps.uninstall(steps.install(data)) != data


@pytest.mark.parametrize("form", FORMATS)
def test_corpus_is_large_and_without_doubles(form: str) -> None:
    paths = list((CORPUS / form).iterdir())
    assert len(paths) >= 60
    assert len({path.read_bytes() for path in paths}) == len(paths)
    assert {name.partition("/")[0] for name in FILES} == set(FORMATS)
    assert set(REFUSED) | set(RECEIPT) <= set(FILES)
