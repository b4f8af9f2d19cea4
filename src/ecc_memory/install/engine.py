"""Installing into harnesses and taking it out again: the two commands, without their words."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

from ecc_memory.errors import PluginError, UsageError
from ecc_memory.harness.types import Installation, InstallRequest, Level, Surroundings
from ecc_memory.install.apply import carry_out
from ecc_memory.install.artifacts import KeptFile, identity
from ecc_memory.install.notes import notes_for
from ecc_memory.install.plan import Plan, Target, plan_install, plan_uninstall
from ecc_memory.install.receipt import Installed, Owner, Receipts
from ecc_memory.install.request import ALL_PARTS, Context, Options, build_request, owner_of, require_level
from ecc_memory.install.steps import Step, Wish
from ecc_memory.install.store import Store


@dataclass(frozen=True)
class Outcome:
    """What was done, or with ``dry_run`` would be done.

    Attributes:
        dry_run: whether nothing was written.
        owners: the installations that were asked for, with what is installed of each afterwards.
        steps: the files that hold something of ours, or did.
        folders: the folders that are made.
        notes: sentences a person should read.
    """

    dry_run: bool
    owners: tuple[tuple[Owner, Installed | None], ...]
    steps: tuple[Step, ...]
    folders: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def kept(self) -> bool:
        """Whether something of ours stays because someone edited it."""
        return any(item.action == "keep" for step in self.steps for item in step.items)


def install(context: Context, slugs: Sequence[str], options: Options, *, dry_run: bool = False) -> Outcome:
    """Plug the vault into harnesses, or bring them up to date; all of them or none.

    Args:
        context: where to work.
        slugs: the harnesses, at least one.
        options: what to install.
        dry_run: only say what would be done, exactly.

    Raises:
        PluginError: there is no working adapter for a harness.
        InstallError: see :mod:`ecc_memory.install.plan` and :mod:`ecc_memory.install.apply`.
    """
    adapters = [context.plugins.get(slug) for slug in dict.fromkeys(slugs)]
    for adapter in adapters:
        require_level(adapter, options.level)
    where = context.surroundings(options.level)
    requests = [(adapter, build_request(context, adapter, where, options)) for adapter in adapters]
    dry_run = dry_run or context.dry_run
    with _session(context, dry_run) as (receipts, store):
        described = [(request, adapter.installation(request)) for adapter, request in requests]
        targets = [_target(request, installation) for request, installation in described]
        plan = plan_install(targets, receipts, force=options.force, adopt=options.adopt)
        notes = [note for _, installation in described for note in installation.notes]
        for adapter, request in requests:
            notes += notes_for(context, adapter, request, options, plan)
        if store is not None:
            carry_out(plan, receipts, store)
    return _outcome(plan, [target.owner for target in targets], notes, dry_run=dry_run)


def _target(request: InstallRequest, installation: Installation) -> Target:
    owner = owner_of(request.server_env["ECC_MEMORY_HARNESS"], request.level, request.where)
    return Target(
        owner,
        tuple(artifact for artifact in installation.artifacts if artifact.part in request.parts),
        request.parts,
        Installed(request.version, request.parts, request.server_env, request.server_command),
    )


def detected(context: Context, level: Level) -> list[str]:
    """Return the harnesses that are on this machine and have the level.

    Raises:
        InstallError: at project level, when there is no project here.
    """
    where = context.surroundings(level)
    return [
        adapter.harness.slug
        for adapter in context.plugins.adapters
        if level in adapter.harness.levels and adapter.detect(where).found
    ]


def uninstall(
    context: Context,
    slugs: Sequence[str] | None,
    level: Level | None = None,
    *,
    force: bool = False,
    dry_run: bool = False,
) -> Outcome:
    """Take everything that is ours out of harnesses; a vault is never touched.

    Args:
        context: where to work.
        slugs: the harnesses, None for every one that is installed.
        level: user or project (of the project we are in); None means user for named harnesses,
            and every level and project for all of them.
        force: take out what someone edited, too.
        dry_run: only say what would be done, exactly.

    Raises:
        PluginError: a harness that is not installed has no working adapter either.
        InstallError: see :mod:`ecc_memory.install.plan` and :mod:`ecc_memory.install.apply`.
    """
    dry_run = dry_run or context.dry_run
    with _session(context, dry_run) as (receipts, store):
        owners = _owners(context, receipts, slugs, level)
        unknown = [] if slugs is None else [owner for owner in owners if owner not in receipts.owners()]
        unrecorded = [forms for owner in unknown for forms in known_forms(context, owner)]
        residue = [wish for owner in owners for wish in _residue(context, receipts, owner, unrecorded)]
        plan = plan_uninstall(owners, receipts, unrecorded, residue, force=force)
        if store is not None:
            carry_out(plan, receipts, store)
    notes = [f"{owner}: no record of an installation" for owner in unknown]
    return _outcome(plan, owners, notes, dry_run=dry_run)


@contextlib.contextmanager
def _session(context: Context, dry_run: bool) -> Iterator[tuple[Receipts, Store | None]]:
    """Give the receipts, and the store only when it is locked and may be written."""
    store = context.store
    if dry_run:
        yield store.load(), None
        return
    with store.locked() as made:
        receipts = store.load()
        yield replace(receipts, folders=tuple(dict.fromkeys((*made, *receipts.folders)))), store


def _outcome(plan: Plan, owners: Sequence[Owner], notes: Sequence[str], *, dry_run: bool) -> Outcome:
    after = plan.receipts.installations
    pairs = tuple((owner, after.get(owner)) for owner in owners)
    steps = tuple(step for step in plan.steps if step.items or step.writes)  # found nothing elsewhere
    return Outcome(dry_run, pairs, steps, plan.new_folders, tuple(dict.fromkeys(notes)))


def _owners(
    context: Context, receipts: Receipts, slugs: Sequence[str] | None, level: Level | None
) -> list[Owner]:
    installed = receipts.owners()
    if slugs is None and level is None:
        return installed
    level = level or "user"
    where = context.surroundings(level)
    if slugs is None:
        return [owner for owner in installed if owner == owner_of(owner.harness, level, where)]
    if not slugs:
        raise UsageError("name a harness with --harness, or take --all")
    return [owner_of(slug, level, where) for slug in dict.fromkeys(slugs)]


def known_forms(context: Context, owner: Owner) -> list[list[Wish]]:
    """Return every artifact that this version may have written for an owner, in all its forms."""
    adapter = context.plugins.get(owner.harness)
    require_level(adapter, owner.level)
    where = context.surroundings(owner.level)
    forms: dict[tuple[object, ...], list[Wish]] = {}
    for read_only, user_scope in product((False, True), (False, True) if owner.level == "user" else (False,)):
        options = Options(owner.level, ALL_PARTS, read_only=read_only, allow_user_scope=user_scope)
        for artifact in adapter.installation(build_request(context, adapter, where, options)).artifacts:
            forms.setdefault((artifact.path, identity(artifact)), []).append(Wish(owner, artifact))
    return list(forms.values())


def _residue(
    context: Context, receipts: Receipts, owner: Owner, unrecorded: Sequence[Sequence[Wish]]
) -> list[Wish]:
    """Return what the harness wrote because of our artifacts; a broken adapter knows of nothing."""
    adapter = next((one for one in context.plugins.adapters if one.harness.slug == owner.harness), None)
    if adapter is None:
        return []
    held = [holding.artifact for _, holding in receipts.owned_by(owner)]
    guessed = [wish.artifact for forms in unrecorded for wish in forms if wish.owner == owner]
    where = Surroundings(context.home, context.env, Path(owner.project) if owner.project else None)
    described = tuple(one for one in (*held, *guessed) if not isinstance(one, KeptFile))
    try:
        return [Wish(owner, one) for one in adapter.residue(where, described)]
    except PluginError:
        return []
