"""Values of configuration entries compared and combined, where a person added to ours."""

from __future__ import annotations

from collections.abc import Mapping

from ecc_memory.install.edit.value import same


def plain(value: object) -> object:
    """Return the value in dicts and lists only, whatever mapping or sequence it was made of."""
    if isinstance(value, Mapping):
        return {str(name): plain(below) for name, below in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(element) for element in value]
    return value


def mentions(value: object, word: str) -> bool:
    """Whether ``word`` is a key or a whole string somewhere in the value."""
    if isinstance(value, Mapping):
        return word in value or any(mentions(below, word) for below in value.values())
    if isinstance(value, (list, tuple)):
        return any(mentions(element, word) for element in value)
    return value == word


def covers(ours: object, found: object) -> bool:
    """Whether ``found`` is ours with nothing changed but keys added, at any depth."""
    if isinstance(ours, Mapping) and isinstance(found, Mapping):
        return all(name in found and covers(value, found[name]) for name, value in ours.items())
    return same(ours, found)


def altered(ours: object, found: object, mark: str) -> bool:
    """Whether ``found`` holds the mark of ours and nothing beside ours: no list in it has grown."""
    return bool(mark) and mentions(found, mark) and not _grown(ours, found)


def _grown(ours: object, found: object) -> bool:
    if isinstance(found, Mapping):
        fields = ours if isinstance(ours, Mapping) else {}
        return any(_grown(fields.get(name), value) for name, value in found.items())
    if isinstance(found, (list, tuple)):
        elements = ours if isinstance(ours, (list, tuple)) else ()
        return len(found) > len(elements) or any(map(_grown, elements, found))
    return False


def extras(ours: object, found: object, prefix: str = "") -> list[str]:
    """Return the dotted names of what ``found`` has beyond ours."""
    if not isinstance(ours, Mapping) or not isinstance(found, Mapping):
        return []
    names: list[str] = []
    for name, value in found.items():
        if name in ours:
            names += extras(ours[name], value, f"{prefix}{name}.")
        else:
            names.append(f"{prefix}{name}")
    return names


def merged(new: object, found: object, previous: object) -> object:
    """Return the new value of our entry with the keys kept that someone added to the previous one."""
    if not isinstance(new, Mapping) or not isinstance(found, Mapping):
        return new
    before = previous if isinstance(previous, Mapping) else {}
    result: dict[str, object] = {}
    for name, value in found.items():
        if name in new:
            result[name] = merged(new[name], value, before.get(name))
        elif name not in before:
            result[name] = value
    return {**result, **{name: value for name, value in new.items() if name not in result}}
