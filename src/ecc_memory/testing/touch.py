"""What other people and programs do to files: plant something of our name, edit ours, add their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ecc_memory.harness.types import Artifact, ConfigEntry, ListItem, MarkedBlock, OwnedFile
from ecc_memory.install.edit import markdown
from ecc_memory.install.editors import editor

THEIR_KEY = ("added_by_somebody",)
THEIR_LINE = b"\nAdded by somebody.\n"


def format_of(artifact: Artifact) -> str | None:
    """Return the format of a shared file, None for a file that is wholly ours."""
    if isinstance(artifact, OwnedFile):
        return None
    return "markdown" if isinstance(artifact, MarkedBlock) else artifact.format


def can_be_foreign(artifact: Artifact) -> bool:
    """Whether something of the artifact's name can be there that is not ours."""
    if isinstance(artifact, ConfigEntry):
        return not artifact.absent_only
    return not isinstance(artifact, ListItem) or _has_mark(artifact)


def planted(artifact: Artifact) -> bytes:
    """Return a file that has something foreign in the artifact's place."""
    if isinstance(artifact, OwnedFile):
        return b"made by hand\n"
    if isinstance(artifact, MarkedBlock):
        return f"mine\n\n{markdown.BEGIN}\nmade by hand\n{markdown.END}\n".encode()
    value = {"command": "made-by-hand"} if isinstance(artifact, ConfigEntry) else [_altered(artifact)]
    return editor(artifact.format).set_key(b"", artifact.key, value)


def edited(artifact: Artifact, data: bytes) -> bytes:
    """Return a file with the artifact in it changed by somebody."""
    if isinstance(artifact, OwnedFile):
        return data + b"edited\n"
    if isinstance(artifact, MarkedBlock):
        return markdown.set_block(data, artifact.text + "edited\n")
    if isinstance(artifact, ListItem):
        edit = editor(artifact.format)
        return edit.append_item(
            edit.remove_item(data, artifact.key, artifact.item), artifact.key, _altered(artifact)
        )
    path = _first_text(artifact.value)
    if path is None:
        return editor(artifact.format).set_key(data, artifact.key, "edited")
    return editor(artifact.format).set_key(data, (*artifact.key, *path), "edited")


def added(artifact: Artifact, data: bytes) -> bytes:
    """Return a shared file with something of somebody's own added, away from the artifact."""
    if isinstance(artifact, MarkedBlock):
        return data + THEIR_LINE
    if isinstance(artifact, OwnedFile):
        return data
    return editor(artifact.format).set_key(data, THEIR_KEY, "kept")


def texts(artifact: Artifact) -> str:
    """Return everything that an artifact writes, to look for words in it."""
    if isinstance(artifact, OwnedFile):
        return artifact.content.decode(errors="replace")
    if isinstance(artifact, MarkedBlock):
        return artifact.text
    return "\n".join(_strings(artifact.item if isinstance(artifact, ListItem) else artifact.value))


def _has_mark(artifact: ListItem) -> bool:
    """Say whether an edited copy of the element can be told from other people's elements."""
    return artifact.mark != "" and isinstance(artifact.item, Mapping)


def _altered(artifact: ListItem) -> object:
    return {**artifact.item, "note": "edited"} if isinstance(artifact.item, Mapping) else artifact.item


def _first_text(value: object) -> tuple[str, ...] | None:
    if isinstance(value, Mapping):
        for name, below in value.items():
            path = () if isinstance(below, str) else _first_text(below)
            if path is not None:
                return (name, *path)
    return None


def _strings(value: object) -> list[str]:
    if isinstance(value, Mapping):
        return [text for name, below in value.items() for text in (str(name), *_strings(below))]
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return [text for element in value for text in _strings(element)]
    return [str(value)]
