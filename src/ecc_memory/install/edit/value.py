"""Parsed configuration as plain values: find a key, say what an edit must lead to, compare.

A tree is made of dicts with string keys, lists and scalars. Nothing here changes a tree; what is
unchanged is shared between the old and the new one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

Key = tuple[str, ...]
"""The path of a key from the root of a document."""


class _Missing:
    """The type of :data:`MISSING`."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = _Missing()
"""What :func:`lookup` returns for a key that is not there; None is a value."""


def lookup(tree: object, key: Key) -> object:
    """Return the value at ``key``, or :data:`MISSING`."""
    for name in key:
        if not isinstance(tree, Mapping) or name not in tree:
            return MISSING
        tree = tree[name]
    return tree


def with_key(tree: object, key: Key, value: object) -> object:
    """Return ``tree`` with ``key`` set to ``value``; a parent that is no mapping becomes one."""
    if not key:
        return value
    parent = tree if isinstance(tree, Mapping) else {}
    return {**parent, key[0]: with_key(parent.get(key[0]), key[1:], value)}


def without_key(tree: object, key: Key) -> object:
    """Return ``tree`` without ``key``; its parents stay, empty if need be."""
    if not isinstance(tree, Mapping) or key[0] not in tree:
        return tree
    if len(key) == 1:
        return {name: value for name, value in tree.items() if name != key[0]}
    return {**tree, key[0]: without_key(tree[key[0]], key[1:])}


def nested(key: Key, value: object) -> object:
    """Return ``value`` below ``key``: one mapping in another for each name."""
    for name in reversed(key):
        value = {name: value}
    return value


def without_empty(tree: object, key: Key) -> object:
    """Return ``tree`` without the empty containers and nulls at the end of the path ``key``.

    Formats differ in what is left of a parent whose last key went: nothing (TOML), a null (YAML)
    or an empty object (JSON). All of them mean the same, and look the same after this.
    """
    while key and lookup(tree, key) in (MISSING, None, {}, []):
        tree, key = without_key(tree, key), key[:-1]
    return tree


def same(left: object, right: object) -> bool:
    """Tell whether two trees are equal in structure, type and value; NaN equals itself.

    Linear also where YAML aliases make one node appear many times, or inside itself.
    """
    seen: set[tuple[int, int]] = set()
    pairs = [(left, right)]
    while pairs:
        a, b = pairs.pop()
        if a is b or (id(a), id(b)) in seen:
            continue
        if isinstance(a, Mapping) and isinstance(b, Mapping):
            if a.keys() != b.keys():
                return False
            pairs += [(a[name], b[name]) for name in a]
        elif isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
            if len(a) != len(b):
                return False
            pairs += zip(a, b, strict=True)
        elif not _same_scalar(a, b):
            return False
        seen.add((id(a), id(b)))
    return True


def _same_scalar(a: object, b: object) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, float) and isinstance(b, float):
        return (math.isnan(a) and math.isnan(b)) or (a == b and math.copysign(1, a) == math.copysign(1, b))
    return a == b
