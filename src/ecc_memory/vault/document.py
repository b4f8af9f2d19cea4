"""The document format ``ecc.memory.v1``: one Markdown file, JSON-valued frontmatter.

Parsing is strict: whatever is not exactly the format is :class:`InvalidMemory`, with the line
and the repair. Serialising validates first, so that nothing invalid is ever written.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import NoReturn

from ecc_memory.errors import InvalidMemory

SCHEMA = "ecc.memory.v1"
KINDS = ("context", "decision", "fact", "handoff", "lesson", "note", "preference", "runbook")
SCOPES = ("project", "team", "user")
STATUSES = ("active", "rejected", "superseded")
TRUST = "unreviewed"

MAX_TITLE_UNITS = 200
MAX_TARGETS = 32
MAX_TAGS = 32
MAX_LINKS = 64
MAX_BODY_BYTES = 64 * 1024
MAX_DOCUMENT_BYTES = 128 * 1024

# JavaScript's white space, which is what the format trims: unlike str.strip() it takes U+FEFF
# and leaves U+001C..U+001F and U+0085 (ECMAScript, String.prototype.trim).
_WHITE = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
_ID = re.compile(r"mem_[a-z0-9][a-z0-9_-]{2,127}\Z")
_SLUG = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}\Z")
_TIMESTAMP = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\.[0-9]{3}Z\Z"
)
_BIDI = "\u202a-\u202e\u2066-\u2069"
_BAD_IN_LINE = re.compile(f"[\x00-\x1f\x7f-\x9f{_BIDI}]")
_BAD_IN_BODY = re.compile(f"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f{_BIDI}]")


def trim(text: str) -> str:
    """Remove the white space that the format trims (JavaScript's) from both ends."""
    return text.strip(_WHITE)


@dataclass(frozen=True, slots=True)
class Memory:
    """One memory. Field values are trimmed and valid when it comes from this package.

    Lists are tuples. ``trust`` is always ``"unreviewed"``: a memory is context, never instruction.
    """

    id: str
    title: str
    kind: str
    scope: str
    status: str
    source_harness: str
    target_harnesses: tuple[str, ...]
    tags: tuple[str, ...]
    links: tuple[str, ...]
    created_at: str
    updated_at: str
    body: str
    trust: str = TRUST
    schema: str = SCHEMA

    def to_json(self, *, body: bool = True) -> dict[str, object]:
        """Return the machine-readable form, camelCase, in the order of the format.

        Args:
            body: False leaves the body out, as search results do.
        """
        values: dict[str, object] = {}
        for name, key in _JSON_KEYS.items():
            value = getattr(self, name)
            values[key] = list(value) if isinstance(value, tuple) else value
        if body:
            values["body"] = self.body
        return values

    @classmethod
    def from_json(cls, value: Mapping[str, object]) -> Memory:
        """Build a memory from its machine-readable form (``to_json()`` with body).

        Raises:
            InvalidMemory: a field is missing, unknown or breaks the format.
        """
        unknown = sorted(str(key) for key in set(value) - set(_JSON_KEYS.values()) - {"body"})
        if unknown:
            raise InvalidMemory(f"unknown field {_shown(unknown[0])}; remove it")
        return _validated({name: value.get(key) for name, key in _JSON_KEYS.items()}, value.get("body"))

    def targets(self, harness: str) -> bool:
        """Whether this memory is addressed to ``harness`` (or to every harness)."""
        return "all" in self.target_harnesses or harness in self.target_harnesses


_JSON_KEYS = {
    "schema": "schema",
    "id": "id",
    "title": "title",
    "kind": "kind",
    "scope": "scope",
    "trust": "trust",
    "status": "status",
    "source_harness": "sourceHarness",
    "target_harnesses": "targetHarnesses",
    "tags": "tags",
    "links": "links",
    "created_at": "createdAt",
    "updated_at": "updatedAt",
}

BODY_LINE = len(_JSON_KEYS) + 4
"""The line on which the body begins in a document that we wrote."""


def parse_document(text: str) -> Memory:
    """Read one document.

    Args:
        text: the whole file, decoded from strict UTF-8; at most 128 KiB of UTF-8.

    Raises:
        InvalidMemory: the text is not a valid ``ecc.memory.v1`` document; the message names
            the line or the field and how to repair it.
    """
    if len(text) > MAX_DOCUMENT_BYTES or len(_utf8(text, "the document")) > MAX_DOCUMENT_BYTES:
        raise InvalidMemory(f"the document is larger than {MAX_DOCUMENT_BYTES} bytes; shorten or split it")
    line, position = _line(text, 0)
    if line != "---" or not text[3:]:
        hint = (
            "; the file starts with a byte-order mark, save it as UTF-8 without one"
            if text[:1] == "\ufeff"
            else ""
        )
        raise InvalidMemory(f'line 1 must be exactly "---"{hint}', line=1)
    raw: dict[str, object] = {}
    number = 1
    while True:
        if position == len(text):
            raise InvalidMemory('the frontmatter has no closing line "---"; add it after the last field')
        line, position = _line(text, position)
        number += 1
        if line == "---":
            break
        _read_field(line, number, raw)
    missing = [name for name in _JSON_KEYS if name not in raw]
    if missing:
        raise InvalidMemory(f'the field "{missing[0]}" is missing; add it to the frontmatter')
    return _validated(raw, text[position:])


def serialize_document(memory: Memory) -> str:
    """Return the canonical document of a memory.

    Raises:
        InvalidMemory: the memory breaks the format, or the document would exceed 128 KiB.
    """
    memory = _validated({name: getattr(memory, name) for name in _JSON_KEYS}, memory.body)
    lines = ["---"]
    for name in _JSON_KEYS:
        value = getattr(memory, name)
        plain = list(value) if isinstance(value, tuple) else value
        lines.append(f"{name}: {json.dumps(plain, ensure_ascii=False, separators=(',', ':'))}")
    document = "\n".join([*lines, "---", "", memory.body, ""])
    if len(document.encode("utf-8")) > MAX_DOCUMENT_BYTES:
        raise InvalidMemory(f"the document would be larger than {MAX_DOCUMENT_BYTES} bytes; shorten the body")
    return document


def check_id(value: object, what: str = "id") -> str:
    """Return the trimmed memory id, or raise :class:`InvalidMemory`."""
    text = _string(value, what)
    if not _ID.match(text):
        raise InvalidMemory(f'{what} {_shown(text)} is not of the form "mem_" and 3 to 128 of a-z 0-9 _ -')
    return text


def check_slug(value: object, what: str) -> str:
    """Return the trimmed harness name or tag, or raise :class:`InvalidMemory`."""
    text = _string(value, what)
    if not _SLUG.match(text):
        raise InvalidMemory(
            f"{what} {_shown(text)} is not 1 to 64 of a-z 0-9 . _ - starting with a letter or digit"
        )
    return sys.intern(text)  # a vault has few different ones


def check_choice(value: object, what: str, choices: tuple[str, ...]) -> str:
    """Return the trimmed value if it is one of ``choices``, or raise :class:`InvalidMemory`."""
    text = _string(value, what)
    if text not in choices:
        raise InvalidMemory(f"{what} {_shown(text)} is not one of {', '.join(choices)}")
    return sys.intern(text)


def _line(text: str, start: int) -> tuple[str, int]:
    """The line that begins at a position, without its LF or CRLF, and where the next one begins."""
    end = text.find("\n", start)
    if end < 0:
        return text[start:], len(text)
    return text[start : end - 1 if text[start:end].endswith("\r") else end], end + 1


def _read_field(line: str, number: int, raw: dict[str, object]) -> None:
    key, colon, value = line.partition(":")
    key = trim(key)
    if not colon:
        raise InvalidMemory(f'line {number} is not of the form "key: JSON value"', line=number)
    if key not in _JSON_KEYS:
        raise InvalidMemory(f"line {number}: unknown field {_shown(key)}; remove it", line=number)
    if key in raw:
        raise InvalidMemory(f'line {number}: the field "{key}" stands twice; keep one', line=number)
    try:
        raw[key] = _JSON.decode(trim(value))
    except (ValueError, RecursionError):
        shown = json.dumps(trim(value).strip("'\"")[:80], ensure_ascii=False)
        example = f"[{shown}]" if key in ("target_harnesses", "tags", "links") else shown
        raise InvalidMemory(
            f'line {number}: the value of "{key}" is not JSON; write it like {key}: {_shown_raw(example)}',
            line=number,
        ) from None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


_JSON = json.JSONDecoder(parse_constant=_no_constant)


def _validated(raw: Mapping[str, object], body: object) -> Memory:
    if raw["schema"] != SCHEMA:
        raise InvalidMemory(f'schema must be "{SCHEMA}"')
    values: dict[str, object] = {
        "id": check_id(raw["id"]),
        "title": _title(raw["title"]),
        "kind": check_choice(raw["kind"], "kind", KINDS),
        "scope": check_choice(raw["scope"], "scope", SCOPES),
        "trust": check_choice(raw["trust"], "trust", (TRUST,)),
        "status": check_choice(raw["status"], "status", STATUSES),
        "source_harness": check_slug(raw["source_harness"], "source harness"),
        "target_harnesses": _list(raw["target_harnesses"], "target harness", check_slug, 1, MAX_TARGETS),
        "tags": _list(raw["tags"], "tag", check_slug, 0, MAX_TAGS),
        "links": _list(raw["links"], "link", check_id, 0, MAX_LINKS),
        "created_at": _timestamp(raw["created_at"], "created_at"),
        "updated_at": _timestamp(raw["updated_at"], "updated_at"),
        "body": _body(body),
    }
    return Memory(**values)  # type: ignore[arg-type]


def _string(value: object, what: str) -> str:
    if not isinstance(value, str):
        raise InvalidMemory(f"{what} must be a string")
    return trim(value)


def _title(value: object) -> str:
    title = _string(value, "title")
    _utf8(title, "title")
    units = len(title.encode("utf-16-le")) // 2
    if not 1 <= units <= MAX_TITLE_UNITS:
        reason = "it is blank" if not units else f"it has {units} UTF-16 units ({len(title.encode())} bytes)"
        raise InvalidMemory(f"title must have 1 to {MAX_TITLE_UNITS} characters (UTF-16 units); {reason}")
    if _BAD_IN_LINE.search(title):
        raise InvalidMemory(
            "title holds a line break, control or bidirectional formatting character; remove it"
        )
    return title


def _body(value: object) -> str:
    if not isinstance(value, str):
        raise InvalidMemory("body must be a string")
    bad = _BAD_IN_BODY.search(value)
    if bad:
        line = value.count("\n", 0, bad.start()) + 1
        raise InvalidMemory(
            f"body line {line} holds the control or bidirectional formatting character "
            f"U+{ord(bad[0]):04X}; remove it"
        )
    body = trim(value)
    if not body:
        raise InvalidMemory("body is empty; write what should be remembered")
    size = len(_utf8(body, "body"))
    if size > MAX_BODY_BYTES:
        raise InvalidMemory(
            f"body has {size} bytes, at most {MAX_BODY_BYTES} are allowed; shorten or split it"
        )
    return body


def _list(
    value: object, what: str, check: Callable[[object, str], str], least: int, most: int
) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)):
        raise InvalidMemory(f'{what}: a list is needed, like ["one","two"]')
    if not least <= len(value) <= most:
        raise InvalidMemory(f"{what}: {least} to {most} entries are allowed, not {len(value)}")
    items = tuple(check(item, what) for item in value)
    for index, item in enumerate(items):
        if item in items[:index]:
            raise InvalidMemory(f"{what} {_shown(item)} stands twice; keep one")
    return items


def _timestamp(value: object, what: str) -> str:
    text = _string(value, what)
    match = _TIMESTAMP.match(text)
    if not match or not _is_date(int(match[1]), int(match[2]), int(match[3])):
        raise InvalidMemory(f'{what} must be a real UTC time like "2026-07-26T20:00:00.000Z"')
    return text


def _is_date(year: int, month: int, day: int) -> bool:
    """Proleptic Gregorian with a year 0, which datetime does not have."""
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    days = (31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
    return 1 <= month <= 12 and 1 <= day <= days[month - 1]


def _utf8(text: str, what: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidMemory(f"{what} holds half of a surrogate pair, which is not text; remove it") from None


def _shown(value: str) -> str:
    """A rejected value as it may appear in a message: short, on one line, ASCII-safe controls."""
    return _shown_raw(json.dumps(value[:80], ensure_ascii=False))


def _shown_raw(text: str) -> str:
    return re.sub("[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]", "?", text)


assert {field.name for field in fields(Memory)} == {*_JSON_KEYS, "body"}  # noqa: S101
