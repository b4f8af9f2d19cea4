"""What an installation did, remembered so that it can be taken back exactly.

There is one receipt for each file, whoever shares it: the original's digest, the splices that lead
from the original to what we left, and the artifacts in it with their owners. A file that is still as
we left it is therefore always the original plus the artifacts that have an owner, in whatever order
harnesses came and went.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ecc_memory.harness.types import Level, Part
from ecc_memory.install.artifacts import Held, Keys
from ecc_memory.install.files import digest
from ecc_memory.install.splice import Splice, undo


@dataclass(frozen=True, order=True)
class Owner:
    """Who an artifact was installed for.

    Attributes:
        harness: the harness's slug.
        level: user or project.
        project: the project's real path at project level, else empty.
    """

    harness: str
    level: Level
    project: str = ""

    def __str__(self) -> str:
        return f"{self.harness} ({self.level})"


@dataclass(frozen=True)
class Installed:
    """One harness's installation at one level.

    Attributes:
        version: the ecc-memory that installed it last.
        parts: the parts that were asked for, over all runs.
        server_env: what its server is given.
        server_command: what starts its server.
    """

    version: str
    parts: frozenset[Part]
    server_env: Mapping[str, str]
    server_command: str


@dataclass(frozen=True)
class Holding:
    """One artifact in a file.

    Attributes:
        artifact: what it looks like.
        owners: who it was installed for, in order; never empty.
        original: what stood in its place before ``--adopt``, None for nothing.
    """

    artifact: Held
    owners: tuple[Owner, ...]
    original: object = None


@dataclass(frozen=True)
class FileReceipt:
    """What we know about one file.

    Attributes:
        path: its real path.
        existed: whether it was there before us.
        before: digest of the original, None when there was none.
        after: digest of what we left.
        mode: the original's mode, None when there was none.
        splices: what leads from the original to what we left; None once the exact original is
            lost, because someone else changed the file between two of our edits.
        made: containers of keys that our edits made.
        holdings: the artifacts, in the order in which they were put.
    """

    path: str
    existed: bool
    before: str | None
    after: str | None
    mode: int | None
    splices: tuple[Splice, ...] | None
    made: Keys
    holdings: tuple[Holding, ...]

    def knows_original(self, data: bytes | None) -> bool:
        """Whether :meth:`original` can tell what ``data`` was before us."""
        if digest(data) == self.before:
            return True
        return digest(data) == self.after and self.splices is not None

    def original(self, data: bytes | None) -> bytes | None:
        """Return the file's bytes from before us, None when there was no file.

        Args:
            data: the file's bytes now, for which :meth:`knows_original` holds.
        """
        if digest(data) == self.before:
            return data
        if not self.existed or data is None or self.splices is None:
            return None
        return undo(data, self.splices)


@dataclass(frozen=True)
class Receipts:
    """Everything that is installed for this person.

    Attributes:
        installations: by owner.
        files: by real path.
        folders: folders that we created, and remove when they are empty and no longer needed.
    """

    installations: Mapping[Owner, Installed] = field(default_factory=dict)
    files: Mapping[str, FileReceipt] = field(default_factory=dict)
    folders: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether nothing is installed."""
        return not self.installations and not self.files

    def relocated(self) -> Receipts:
        """Return the receipts with files found where links lead now, should one have become a link."""
        found = {os.path.realpath(path): receipt for path, receipt in self.files.items()}
        moved = {path: replace(receipt, path=path) for path, receipt in found.items()}
        return replace(self, files=moved)

    def owners(self) -> list[Owner]:
        """Return everyone who has anything, sorted."""
        holders = (owner for file in self.files.values() for held in file.holdings for owner in held.owners)
        return sorted({*self.installations, *holders})

    def owned_by(self, owner: Owner) -> list[tuple[FileReceipt, Holding]]:
        """Return the artifacts that an owner has, with their files."""
        return [
            (receipt, holding)
            for receipt in self.files.values()
            for holding in receipt.holdings
            if owner in holding.owners
        ]
