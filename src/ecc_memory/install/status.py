"""What is installed, whether it is as we left it, and which vault each harness will use."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ecc_memory.errors import EccMemoryError
from ecc_memory.harness.plugins import Adapter
from ecc_memory.harness.types import ConfigEntry, Surroundings
from ecc_memory.install import artifacts
from ecc_memory.install.artifacts import Anything, State, identity
from ecc_memory.install.checks import Checked, ask
from ecc_memory.install.engine import known_forms
from ecc_memory.install.files import leftovers, look
from ecc_memory.install.receipt import Installed, Owner, Receipts
from ecc_memory.install.request import PROJECT_ROOT, USER_ROOT, Context, owner_of
from ecc_memory.install.steps import Wish
from ecc_memory.install.values import mentions
from ecc_memory.vault import Vault


@dataclass(frozen=True)
class ArtifactStatus:
    """One artifact as it is now.

    Attributes:
        artifact: what it should be.
        path: the file's real path.
        state: intact, edited, missing, unreadable, yours (a setting that we supplied and someone
            changed, which is left alone), or without a record: foreign, unrecorded.
        owners: who has it.
        note: what a person should know about it.
    """

    artifact: Anything
    path: str
    state: str
    owners: tuple[Owner, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class InstallationStatus:
    """One harness at one level.

    Attributes:
        owner: harness, level, project.
        installed: version and settings; None when only leftovers of it are held.
        artifacts: what it has.
        vaults: scope -> folder that its server will use from here.
        checks: what its own program says of each part.
    """

    owner: Owner
    installed: Installed | None
    artifacts: tuple[ArtifactStatus, ...]
    vaults: dict[str, str]
    checks: tuple[Checked, ...]


@dataclass(frozen=True)
class Status:
    """Everything there is to say.

    Attributes:
        installations: what is installed.
        strangers: things under our name that no record knows.
        leftovers: temporary files of an installer that was killed, or of one that is at work.
    """

    installations: tuple[InstallationStatus, ...]
    strangers: tuple[ArtifactStatus, ...]
    leftovers: tuple[Path, ...] = ()


def status(context: Context, slugs: Iterable[str] = (), *, run_checks: bool = True) -> Status:
    """Look at everything that is installed; nothing is changed.

    Args:
        context: where to look.
        slugs: only these harnesses; none means all.
        run_checks: ask the harnesses' own programs too, a few at a time, each within its limit.

    Raises:
        InstallError: the record of what is installed is damaged.
    """
    receipts = context.store.load()
    wanted = set(slugs)
    owners = [owner for owner in receipts.owners() if not wanted or owner.harness in wanted]
    installations = tuple(_installation(context, receipts, owner, run_checks=run_checks) for owner in owners)
    adapters = [one for one in context.plugins.adapters if not wanted or one.harness.slug in wanted]
    strangers = {
        (found.path, identity(found.artifact)): found
        for adapter in adapters
        for found in _strangers(context, receipts, adapter)
    }
    return Status(installations, tuple(strangers.values()), _leftovers(context, receipts))


def vault_env(context: Context, receipts: Receipts, owner: Owner) -> dict[str, str]:
    """Return the overrides that reach an installed server when it is started from this shell."""
    installed = receipts.installations.get(owner)
    env = {
        name: value for name, value in (installed.server_env if installed else {}).items() if name in _ROOTS
    }
    adapter = _adapter(context, owner)
    for name in _ROOTS:
        if name not in env and name in context.env and _reaches(adapter, receipts, owner, name):
            env[name] = context.env[name]
    return env


_ROOTS = (USER_ROOT, PROJECT_ROOT)


def _reaches(adapter: Adapter | None, receipts: Receipts, owner: Owner, name: str) -> bool:
    if adapter is not None and adapter.harness.whole_environment:
        return True
    entries = (holding.artifact for _, holding in receipts.owned_by(owner))
    return any(isinstance(entry, ConfigEntry) and mentions(entry.value, name) for entry in entries)


def _installation(
    context: Context, receipts: Receipts, owner: Owner, *, run_checks: bool
) -> InstallationStatus:
    found = tuple(
        _artifact(holding.artifact, receipt.path, holding.owners)
        for receipt, holding in receipts.owned_by(owner)
    )
    cwd = Path(owner.project) if owner.project else context.cwd
    vault = Vault.open(cwd, vault_env(context, receipts, owner), context.home)
    vaults = {
        scope: vault.place(scope).path
        for scope in ("project", "team", "user")
        if not vault.place(scope).refusal
    }
    checks = tuple(_checks(context, receipts, owner)) if run_checks else ()
    return InstallationStatus(owner, receipts.installations.get(owner), found, vaults, checks)


def _artifact(artifact: Anything, path: str, owners: tuple[Owner, ...]) -> ArtifactStatus:
    try:
        data = look(Path(path)).data
        state = artifacts.state(artifact, data)
    except EccMemoryError as error:
        return ArtifactStatus(artifact, path, "unreadable", owners, error.message)
    optional = isinstance(artifact, ConfigEntry) and artifact.absent_only
    words = {State.ABSENT: "missing", State.OTHER: "yours" if optional else "edited"}
    extra = artifacts.added_by_others(artifact, data) if state is State.GROWN else []
    note = f"with {', '.join(extra)} added" if extra else ""
    return ArtifactStatus(artifact, path, words.get(state, "intact"), owners, note)


def _checks(context: Context, receipts: Receipts, owner: Owner) -> Iterator[Checked]:
    parts = dict.fromkeys(holding.artifact.part for _, holding in receipts.owned_by(owner))
    adapter = _adapter(context, owner)
    project = Path(owner.project) if owner.project else None
    named: tuple[Checked, ...] = ()
    note = "its adapter is not installed"
    if adapter is not None:
        where = Surroundings(context.home, context.env, project)
        try:
            checks = [check for check in adapter.checks(where, owner.level) if check.part in parts]
            note = "its program is not on this machine, or cannot tell"
            named = tuple(ask(checks, context.env, context.home))
        except EccMemoryError as error:
            note = error.message
    yield from named
    for part in parts:
        if part not in {checked.part for checked in named}:
            yield Checked(part, "not checked", note=note)


def _strangers(context: Context, receipts: Receipts, adapter: Adapter) -> Iterator[ArtifactStatus]:
    """Look for things under our name that no record knows, at user level and in the project we are in."""
    for owner, forms in _forms(context, adapter):
        for wishes in forms:
            artifact = wishes[0].artifact
            if isinstance(artifact, ConfigEntry) and artifact.absent_only:
                continue
            try:
                view = look(artifact.path)
                states = [artifacts.state(wish.artifact, view.data) for wish in wishes]
            except EccMemoryError:
                continue
            receipt = receipts.files.get(str(view.real))
            if receipt and identity(artifact) in [identity(held.artifact) for held in receipt.holdings]:
                continue
            if State.INTACT in states:
                yield ArtifactStatus(artifact, str(view.real), "unrecorded", (owner,))
            elif states[0] is not State.ABSENT:
                yield ArtifactStatus(artifact, str(view.real), "foreign", (owner,))


def _forms(context: Context, adapter: Adapter) -> Iterator[tuple[Owner, list[list[Wish]]]]:
    """Yield everything that an adapter may have written at each level from here."""
    for level in adapter.harness.levels:
        try:
            owner = owner_of(adapter.harness.slug, level, context.surroundings(level))
            yield owner, known_forms(context, owner)
        except EccMemoryError:
            continue


def _leftovers(context: Context, receipts: Receipts) -> tuple[Path, ...]:
    """Look for temporary files wherever an installer may have been killed while it wrote."""
    files = [*receipts.files, *(os.path.realpath(path) for path in _written_from_here(context))]
    folders = {os.path.realpath(context.store.folder), *map(os.path.dirname, files)}
    return tuple(path for folder in sorted(folders) for path in leftovers(Path(folder)))


def _written_from_here(context: Context) -> Iterator[Path]:
    for adapter in context.plugins.adapters:
        for _, forms in _forms(context, adapter):
            yield from (wishes[0].artifact.path for wishes in forms)


def _adapter(context: Context, owner: Owner) -> Adapter | None:
    return next((one for one in context.plugins.adapters if one.harness.slug == owner.harness), None)
