"""What a tool takes: one table that yields the schema, the check and the form shown on error."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ecc_memory.errors import UsageError

Kind = Literal["text", "count", "list"]

_NAMES = {"text": "a string", "count": "an integer", "list": "a list of strings"}
_MARKS = {"text": "", "count": " (integer)", "list": " (list)"}
_IDENTITY = ("harness", "identity", "source", "target", "trust", "status")


@dataclass(frozen=True)
class Argument:
    """One argument of a tool.

    Attributes:
        name: its key on the wire.
        example: a value of the right form that does no harm when a model copies it, shown when a
            wrong one arrives.
        kind: text is a string, count an integer, list an array of strings.
        choices: the values allowed, empty for any.
        required: whether it must be there.
        bounds: lowest and highest count.
    """

    name: str
    example: str | int | tuple[str, ...]
    kind: Kind = "text"
    choices: tuple[str, ...] = ()
    required: bool = False
    bounds: tuple[int, int] | None = None

    def schema(self) -> dict[str, object]:
        """Return the JSON Schema: no union, no reference, ``items`` on arrays."""
        if self.kind == "count":
            return {"type": "integer", **self._limits()}
        text: dict[str, object] = {"type": "string"}
        if self.choices:
            text["enum"] = list(self.choices)
        return text if self.kind == "text" else {"type": "array", "items": text}

    def check(self, value: object) -> object:
        """Return the value as the vault takes it.

        Raises:
            UsageError: it has another type or is none of the choices.
        """
        if self.kind == "count":
            return self._count(value)
        if self.kind == "list":
            return self._list(value)
        if not isinstance(value, str):
            raise self._wrong(value)
        self._chosen(value)
        return value

    def _limits(self) -> dict[str, int]:
        return {"minimum": self.bounds[0], "maximum": self.bounds[1]} if self.bounds else {}

    def _count(self, value: object) -> int:
        if isinstance(value, float) and value.is_integer():  # an integer to JSON Schema
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise self._wrong(value)
        if self.bounds is not None and not self.bounds[0] <= value <= self.bounds[1]:
            raise UsageError(f"{self.name} must be from {self.bounds[0]} to {self.bounds[1]}")
        return value

    def _list(self, value: object) -> tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self._wrong(value)
        for item in value:
            self._chosen(item)
        return tuple(value)

    def _chosen(self, value: str) -> None:
        if self.choices and value not in self.choices:
            raise UsageError(f"{self.name} may be {_either(self.choices)}")

    def _wrong(self, value: object) -> UsageError:
        said = f"{self.name} must be {_NAMES[self.kind]}, such as {_compact(self.example)}"
        if value is None:
            return UsageError(f"{said}; leave it out rather than sending null")
        if self.kind == "list" and isinstance(value, str):
            return UsageError(f"{said}; a string arrived: send the list itself, not its text")
        if self.kind == "count" and isinstance(value, str):
            return UsageError(f"{said}; a string arrived: send the number without quotes")
        return UsageError(said)


def check_arguments(tool: str, takes: Iterable[Argument], given: Mapping[str, Any]) -> dict[str, Any]:
    """Check the arguments of a call.

    Args:
        tool: its name, for messages.
        takes: the arguments of the tool, at least one.
        given: the arguments of the call.

    Returns:
        The given values, lists as tuples; what was left out stays out.

    Raises:
        UsageError: an unknown or missing argument, a wrong type or choice. The message ends
            with the right form.
    """
    known = {argument.name: argument for argument in takes}
    try:
        return _checked(known, given)
    except UsageError as error:
        raise UsageError(f"{tool}: {error.message}. {form(known.values())}") from None


def form(takes: Iterable[Argument]) -> str:
    """Return how a call is written: what it needs as JSON, and the names of what else it may hold.

    A model may send what it is shown, so that nothing is in there that would be stored unasked.
    Where nothing is required the first argument is shown.
    """
    first, *others = takes
    needed = [first, *(argument for argument in others if argument.required)]
    rest = [argument.name + _MARKS[argument.kind] for argument in others if not argument.required]
    shown = f"Form: {_compact({argument.name: argument.example for argument in needed})}"
    return f"{shown}; optional: {', '.join(rest)}" if rest else shown


def _checked(known: Mapping[str, Argument], given: Mapping[str, Any]) -> dict[str, Any]:
    for name in given:
        if name not in known:
            raise UsageError(_unknown(name))
    for argument in known.values():
        if argument.required and argument.name not in given:
            raise UsageError(f"{argument.name} is missing")
    return {name: known[name].check(value) for name, value in given.items()}


def _unknown(name: str) -> str:
    shown = name if len(name) <= 40 and name.isprintable() else "an argument"
    if name != "targetHarnesses" and any(word in name.lower() for word in _IDENTITY):
        return f"{shown} is not taken: who saves and who may read is fixed where this server is configured"
    return f"{shown} is not an argument of it"


def _either(choices: tuple[str, ...]) -> str:
    return ", ".join(choices[:-1]) + " or " + choices[-1]


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
