"""The four kinds of artifact on the bytes of one file: is it there, put it there, take it out.

Everything here is pure. ``None`` stands for a file that does not exist.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from ecc_memory.errors import InstallError
from ecc_memory.harness.types import Artifact, ConfigEntry, ListItem, MarkedBlock, OwnedFile, Part
from ecc_memory.install.edit import markdown
from ecc_memory.install.edit.value import MISSING, lookup, same
from ecc_memory.install.editors import editor
from ecc_memory.install.values import altered, covers, extras, merged, plain

Keys = frozenset[tuple[str, ...]]


@dataclass(frozen=True)
class KeptFile:
    """An owned file as a receipt remembers it: by its digest, not by its bytes."""

    part: Part
    path: Path
    sha256: str


Held = KeptFile | MarkedBlock | ConfigEntry | ListItem
"""An artifact as a receipt remembers it."""

Anything = Artifact | KeptFile


class State(Enum):
    """What a file holds in an artifact's place."""

    ABSENT = "absent"
    INTACT = "intact"
    GROWN = "grown"  # ours, with keys that someone added below it
    OTHER = "other"


def identity(artifact: Anything) -> tuple[object, ...]:
    """Return what makes two artifacts of one file the same one, whatever their content."""
    if isinstance(artifact, (OwnedFile, KeptFile)):
        return ("file",)
    if isinstance(artifact, MarkedBlock):
        return ("block",)
    if isinstance(artifact, ConfigEntry):
        return ("entry", artifact.key)
    name = artifact.mark or json.dumps(plain(artifact.item), sort_keys=True, default=repr)
    return ("item", artifact.key, name)


def kind(artifact: Anything) -> str:
    """Return the kind's name as it stands in receipts and reports: file, block, entry or item."""
    return str(identity(artifact)[0])


def title(artifact: Anything) -> str:
    """Say in a few words what the artifact is, for a person who knows the file."""
    if isinstance(artifact, (OwnedFile, KeptFile)):
        return "the file"
    if isinstance(artifact, MarkedBlock):
        return "the ecc-memory block"
    key = ".".join(artifact.key)
    return key if isinstance(artifact, ConfigEntry) else f"our element of {key}"


def held(artifact: Anything) -> Held:
    """Return the form in which a receipt remembers the artifact."""
    if isinstance(artifact, OwnedFile):
        return KeptFile(artifact.part, artifact.path, hashlib.sha256(artifact.content).hexdigest())
    if isinstance(artifact, ConfigEntry):
        also = tuple(plain(value) for value in artifact.also_ours)
        return ConfigEntry(
            artifact.part,
            artifact.path,
            artifact.format,
            artifact.key,
            plain(artifact.value),
            artifact.absent_only,
            also,
        )
    if isinstance(artifact, ListItem):
        item = plain(artifact.item)
        return ListItem(artifact.part, artifact.path, artifact.format, artifact.key, item, artifact.mark)
    return artifact


def alike(left: Held, right: Held) -> bool:
    """Whether two artifacts of one identity put the same into a file, whatever part they are for."""
    if isinstance(left, KeptFile) and isinstance(right, KeptFile):
        return left.sha256 == right.sha256
    if isinstance(left, MarkedBlock) and isinstance(right, MarkedBlock):
        return left.text == right.text
    if isinstance(left, ConfigEntry) and isinstance(right, ConfigEntry):
        return same(left.value, right.value)
    if isinstance(left, ListItem) and isinstance(right, ListItem):
        return same(left.item, right.item)
    return False


def state(artifact: Anything, data: bytes | None) -> State:
    """Say what ``data`` holds in the artifact's place.

    Raises:
        EditRefused: the file cannot be parsed.
    """
    if data is None:
        return State.ABSENT
    if isinstance(artifact, (OwnedFile, KeptFile)):
        kept = held(artifact)
        return State.INTACT if kept == _as_kept(artifact, data) else State.OTHER
    if isinstance(artifact, MarkedBlock):
        block = markdown.find_block(data)
        if block is None:
            return State.ABSENT
        return State.INTACT if block.text == artifact.text else State.OTHER
    if isinstance(artifact, ListItem):
        found = _elements(artifact, data)
        return State.ABSENT if not found else State.INTACT if same(found[0], artifact.item) else State.OTHER
    value = lookup(editor(artifact.format).load(data), artifact.key)
    if value is MISSING:
        return State.ABSENT
    ours = [artifact.value, *artifact.also_ours]
    if any(same(value, known) for known in ours):
        return State.INTACT
    return State.GROWN if any(covers(known, value) for known in ours) else State.OTHER


def present(artifact: Anything, data: bytes | None) -> object:
    """Return what stands in the artifact's place, to be given back later; None where nothing does."""
    if data is None:
        return None
    if isinstance(artifact, (OwnedFile, KeptFile)):
        return data
    if isinstance(artifact, ListItem):
        return next(map(plain, _elements(artifact, data)), None)
    if isinstance(artifact, MarkedBlock):
        block = markdown.find_block(data)
        return None if block is None else block.text
    value = lookup(editor(artifact.format).load(data), artifact.key)
    return None if value is MISSING else plain(value)


def added_by_others(artifact: Anything, data: bytes | None) -> list[str]:
    """Return the dotted keys that someone added below our entry."""
    if data is None or not isinstance(artifact, ConfigEntry):
        return []
    return extras(artifact.value, lookup(editor(artifact.format).load(data), artifact.key))


def missing_keys(artifact: Anything, data: bytes | None) -> Keys:
    """Return the containers that :func:`put` will make on its way to the artifact."""
    if not isinstance(artifact, (ConfigEntry, ListItem)):
        return frozenset()
    tree = editor(artifact.format).load(data or b"")
    depth = len(artifact.key) + isinstance(artifact, ListItem)
    paths = (artifact.key[:length] for length in range(1, depth))
    return frozenset(path for path in paths if lookup(tree, path) is MISSING)


def put(artifact: Artifact | Held, data: bytes | None, previous: Held | None = None) -> bytes:
    """Put an artifact in its place, over whatever stands there.

    Args:
        artifact: what to put.
        data: the file.
        previous: our own earlier entry in that place; keys that someone added to it stay.

    Raises:
        EditRefused: the file cannot be edited safely.
    """
    if isinstance(artifact, OwnedFile):
        return artifact.content
    if isinstance(artifact, KeptFile):
        raise InstallError("the receipt does not hold the bytes of an owned file", detail=str(artifact.path))
    data = data or b""
    if isinstance(artifact, MarkedBlock):
        return markdown.set_block(data, artifact.text)
    edit = editor(artifact.format)
    if isinstance(artifact, ListItem):
        for element in _elements(artifact, data):
            data = edit.remove_item(data, artifact.key, element)
        return edit.append_item(data, artifact.key, artifact.item)
    value = artifact.value
    if isinstance(previous, ConfigEntry):
        value = merged(value, lookup(edit.load(data), artifact.key), previous.value)
    return edit.set_key(data, artifact.key, value)


def take_out(artifact: Anything, data: bytes, original: object, made: Keys) -> bytes | None:
    """Take an artifact out of a file that others changed too.

    Args:
        artifact: what to take out.
        data: the file.
        original: what stood in its place before we took it over, None for nothing.
        made: the containers that our edits made; those left empty go too.

    Returns:
        The new bytes, None when the whole file was the artifact.

    Raises:
        EditRefused: the file cannot be edited safely.
    """
    if isinstance(artifact, (OwnedFile, KeptFile)):
        return original if isinstance(original, bytes) else None
    if isinstance(artifact, MarkedBlock):
        if isinstance(original, str):
            return markdown.set_block(data, original)
        return markdown.delete_block(data)
    edit = editor(artifact.format)
    if isinstance(artifact, ListItem):
        for element in _elements(artifact, data):
            data = edit.remove_item(data, artifact.key, element, prune=_made_above(artifact.key, made))
        return data if original is None else edit.append_item(data, artifact.key, original)
    if original is not None:
        return edit.set_key(data, artifact.key, original)
    return edit.delete_key(data, artifact.key, prune=_made_above(artifact.key[:-1], made))


def is_bare(data: bytes) -> bool:
    """Whether a file that we created holds nothing any more."""
    return data.removeprefix(b"\xef\xbb\xbf").split() in ([], [b"{}"], [b"{", b"}"])


def _elements(artifact: ListItem, data: bytes) -> list[object]:
    """Return what stands for our element: the last that equals it, else those someone made of it."""
    value = lookup(editor(artifact.format).load(data), artifact.key)
    elements = value if isinstance(value, list) else []
    if any(same(element, artifact.item) for element in elements):
        return [artifact.item]
    return [element for element in elements if altered(artifact.item, element, artifact.mark)]


def _as_kept(artifact: OwnedFile | KeptFile, data: bytes) -> KeptFile:
    return KeptFile(artifact.part, artifact.path, hashlib.sha256(data).hexdigest())


def _made_above(key: tuple[str, ...], made: Keys) -> int:
    """Return how many of the nearest containers, from ``key`` upwards, our edits made."""
    count = 0
    while key and key in made:
        count, key = count + 1, key[:-1]
    return count


def snippet(artifact: MarkedBlock | ConfigEntry | ListItem) -> str:
    """Return the text that a person pastes to make the edit by hand."""
    if isinstance(artifact, MarkedBlock):
        return f"{markdown.BEGIN}\n{artifact.text}{markdown.END}\n"
    value = [artifact.item] if isinstance(artifact, ListItem) else artifact.value
    return editor(artifact.format).snippet(artifact.key, value)
