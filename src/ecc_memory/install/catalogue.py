"""Every adapter there is, and whether its harness is on this machine."""

from __future__ import annotations

from dataclasses import dataclass

from ecc_memory.errors import EccMemoryError
from ecc_memory.harness.plugins import Adapter
from ecc_memory.harness.types import Detection, Surroundings
from ecc_memory.install.receipt import Owner
from ecc_memory.install.request import Context


@dataclass(frozen=True)
class Entry:
    """One adapter.

    Attributes:
        adapter: the adapter.
        detection: what it found, None when it failed.
        fault: why it failed.
        installed: where it is installed.
    """

    adapter: Adapter
    detection: Detection | None
    fault: str | None
    installed: tuple[Owner, ...]


def catalogue(context: Context) -> list[Entry]:
    """Return every adapter that loads, by slug.

    Raises:
        InstallError: the record of what is installed is damaged.
    """
    owners = context.store.load().owners()
    where = Surroundings(context.home, context.env)
    entries = []
    for adapter in context.plugins.adapters:
        installed = tuple(owner for owner in owners if owner.harness == adapter.harness.slug)
        try:
            entries.append(Entry(adapter, adapter.detect(where), None, installed))
        except EccMemoryError as error:
            entries.append(Entry(adapter, None, error.message, installed))
    return entries
