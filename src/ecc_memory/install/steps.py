"""The words of a plan: what is wanted, what happens to an artifact, what happens to a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ecc_memory.harness.types import Artifact
from ecc_memory.install.artifacts import Anything
from ecc_memory.install.files import View
from ecc_memory.install.receipt import FileReceipt, Owner

Action = Literal[
    "add",  # written
    "update",  # written over an older form of ours
    "share",  # there already, one owner more
    "unchanged",  # there already
    "take-over",  # written over something foreign, which is remembered
    "skip",  # the user has a setting of their own, which stays
    "remove",  # taken out
    "give-back",  # taken out, and what was taken over put back
    "release",  # stays for its other owners
    "gone",  # someone removed it before us
    "keep",  # someone edited it, so it stays
    "foreign",  # under our name, but not ours; it stays
]
"""What happens to one artifact."""

WRITING: frozenset[Action] = frozenset({"add", "update", "take-over", "remove", "give-back"})
"""The actions that change a file."""


@dataclass(frozen=True)
class Wish:
    """An artifact that is wanted for an owner."""

    owner: Owner
    artifact: Artifact


@dataclass(frozen=True)
class Item:
    """What happens to one artifact of one owner, and what a person should know about it."""

    owner: Owner
    artifact: Anything
    action: Action
    note: str = ""


@dataclass(frozen=True)
class Step:
    """What happens to one file.

    Attributes:
        view: the file as it is.
        after: its bytes afterwards, None for no file.
        receipt: what is to be remembered of it, None when nothing of ours is left.
        items: the artifacts.
        mode: the mode it gets if it is new.
    """

    view: View
    after: bytes | None
    receipt: FileReceipt | None
    items: tuple[Item, ...]
    mode: int = 0o644

    @property
    def writes(self) -> bool:
        """Whether the file's bytes change."""
        return self.after != self.view.data
