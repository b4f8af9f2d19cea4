"""Whether what an adapter described has the shape that the engine relies on."""

from __future__ import annotations

import os
from typing import get_args

from ecc_memory.harness.types import (
    Artifact,
    ConfigEntry,
    ConfigFormat,
    Installation,
    ListItem,
    MarkedBlock,
    OwnedFile,
    Part,
)


def check_installation(installation: Installation) -> str | None:
    """Return what is wrong with an adapter's description, or None."""
    if not isinstance(installation.artifacts, tuple) or not isinstance(installation.notes, tuple):
        return "artifacts and notes must be tuples"
    faults = (_fault(artifact) for artifact in installation.artifacts)
    return next((fault for fault in faults if fault is not None), None)


def _fault(artifact: Artifact) -> str | None:
    if not isinstance(artifact, get_args(Artifact)):
        return f"{type(artifact).__name__} is no artifact"
    if artifact.part not in get_args(Part):
        return f"{artifact.part!r} is no part; parts are {', '.join(get_args(Part))}"
    if not os.path.isabs(artifact.path):
        return f"the path {str(artifact.path)!r} is not absolute"
    if isinstance(artifact, OwnedFile):
        return None if isinstance(artifact.content, bytes) else "the content of an OwnedFile must be bytes"
    if isinstance(artifact, MarkedBlock):
        return None if artifact.text.endswith("\n") else "the text of a MarkedBlock must end in a newline"
    return _fault_in_config(artifact)


def _fault_in_config(artifact: ConfigEntry | ListItem) -> str | None:
    if artifact.format not in get_args(ConfigFormat):
        return f"{artifact.format!r} is no format; formats are {', '.join(get_args(ConfigFormat))}"
    key = artifact.key
    if not isinstance(key, tuple) or not key or not all(isinstance(name, str) for name in key):
        return f"the key {key!r} is not a tuple of one or more strings"
    return None
