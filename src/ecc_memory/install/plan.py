"""A whole plan: every file that an installation or its removal touches, decided beforehand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ecc_memory.harness.types import SKILL_NAME, Artifact, Part
from ecc_memory.install.artifacts import Held, identity
from ecc_memory.install.file_plan import FilePlanner
from ecc_memory.install.files import View, look, missing_folders
from ecc_memory.install.receipt import FileReceipt, Installed, Owner, Receipts
from ecc_memory.install.steps import Step, Wish

_OUR_FOLDERS = (SKILL_NAME, "ecc-memory")


@dataclass(frozen=True)
class Target:
    """One harness's installation as it is wanted.

    Attributes:
        owner: whose it is.
        artifacts: all of them.
        parts: the parts that were asked for; what the owner has of other parts stays.
        installed: what is remembered of the whole.
    """

    owner: Owner
    artifacts: tuple[Artifact, ...]
    parts: frozenset[Part]
    installed: Installed


@dataclass(frozen=True)
class Plan:
    """What is to be done, and what is remembered afterwards.

    Attributes:
        steps: the files, in the order in which they are written.
        receipts: the receipts afterwards.
        new_folders: the folders that have to be made, topmost first.
    """

    steps: tuple[Step, ...]
    receipts: Receipts
    new_folders: tuple[str, ...] = ()


def plan_install(
    targets: Sequence[Target], receipts: Receipts, *, force: bool = False, adopt: bool = False
) -> Plan:
    """Plan to make every target exactly what is installed of its parts.

    What an owner holds of those parts and no longer wants is taken out.

    Raises:
        InstallError: a file cannot be edited faithfully, or something foreign is in the way.
    """
    board = _Board(receipts, force=force, adopt=adopt)
    wishes = [Wish(target.owner, artifact) for target in targets for artifact in target.artifacts]
    views = [board.view(wish.artifact.path) for wish in wishes]
    pairs = list(zip(wishes, views, strict=True))
    wanted = {(wish.owner, str(view.real), identity(wish.artifact)) for wish, view in pairs}
    for target in targets:
        for receipt, holding in receipts.owned_by(target.owner):
            known = (target.owner, receipt.path, identity(holding.artifact))
            if holding.artifact.part in target.parts and known not in wanted:
                board.leave(receipt.path, holding.artifact, target.owner)
    for wish, view in pairs:
        board.planner(view).want(wish)
    installations = dict(receipts.installations)
    for target in targets:
        installed, before = target.installed, installations.get(target.owner)
        if before is not None:
            if "mcp" not in target.parts:  # its entry stays what it is
                env, command = before.server_env, before.server_command
                installed = replace(installed, server_env=env, server_command=command)
            installed = replace(installed, parts=installed.parts | before.parts)
        installations[target.owner] = installed
    return board.plan(installations)


def plan_uninstall(
    owners: Iterable[Owner],
    receipts: Receipts,
    unrecorded: Iterable[Sequence[Wish]] = (),
    residue: Iterable[Wish] = (),
    *,
    force: bool = False,
) -> Plan:
    """Plan to take out everything that the owners hold.

    Args:
        owners: whose artifacts go.
        receipts: what is installed.
        unrecorded: artifacts to look for although no receipt knows them, each in all its forms.
        residue: what harnesses wrote because of our artifacts.
        force: take out what someone edited, too.

    Raises:
        InstallError: a file cannot be edited faithfully.
    """
    board = _Board(receipts, force=force)
    leaving = list(owners)
    for owner in leaving:
        for receipt, holding in receipts.owned_by(owner):
            board.leave(receipt.path, holding.artifact, owner)
    for forms in unrecorded:
        view = board.view(forms[0].artifact.path)
        planner = board.planner(view)
        for wish in forms:
            planner.meet(wish.artifact)
        planner.recognise([wish.artifact for wish in forms], forms[0].owner)
    for wish in residue:
        board.planner(board.view(wish.artifact.path)).recognise([wish.artifact], wish.owner)
    plan = board.plan(receipts.installations)
    left = {owner for owner in leaving if plan.receipts.owned_by(owner)}
    installations = {
        owner: installed
        for owner, installed in receipts.installations.items()
        if owner not in leaving or owner in left
    }
    deleted = [step.view.real for step in plan.steps if step.writes and step.after is None]
    found = (path for path in deleted if _was_found(receipts.files.get(str(path))))
    folders = (*plan.receipts.folders, *(folder for path in found for folder in _folders_of_ours(path)))
    receipts = replace(plan.receipts, installations=installations, folders=tuple(dict.fromkeys(folders)))
    return replace(plan, receipts=receipts)


def _was_found(receipt: FileReceipt | None) -> bool:
    """Whether a file of ours was there before its receipt, as in a clone, and its folders with it."""
    return receipt is None or (not receipt.existed and receipt.splices is None)


def _folders_of_ours(path: Path) -> list[str]:
    """Return the folders on the way to a file that have a name of ours, and those below them."""
    first = next((depth for depth, name in enumerate(path.parts[:-1]) if name in _OUR_FOLDERS), None)
    return [] if first is None else [str(folder) for folder in path.parents if len(folder.parts) > first]


class _Board:
    """One planner a file, made when the file is first met."""

    def __init__(self, receipts: Receipts, *, force: bool, adopt: bool = False) -> None:
        self._receipts = receipts
        self._force, self._adopt = force, adopt
        self._views: dict[Path, View] = {}
        self._planners: dict[str, FilePlanner] = {}

    def view(self, path: Path) -> View:
        """Look at a file, once."""
        if path not in self._views:
            self._views[path] = look(path)
        return self._views[path]

    def planner(self, view: View) -> FilePlanner:
        """Return the planner of the file that ``view`` leads to."""
        real = str(view.real)
        if real not in self._planners:
            receipt = self._receipts.files.get(real)
            self._planners[real] = FilePlanner(view, receipt, force=self._force, adopt=self._adopt)
        return self._planners[real]

    def leave(self, path: str, artifact: Held, owner: Owner) -> None:
        """Take an owner off an artifact that a receipt knows."""
        self.planner(self.view(Path(path))).leave(artifact, owner)

    def plan(self, installations: Mapping[Owner, Installed]) -> Plan:
        """Put all files' steps together."""
        steps = tuple(planner.step() for planner in self._planners.values())
        files = dict(self._receipts.files)
        for step in steps:
            files.pop(str(step.view.real), None)
            if step.receipt is not None:
                files[step.receipt.path] = step.receipt
        created = [step.view.real for step in steps if step.view.data is None and step.after is not None]
        new = sorted({str(folder) for path in created for folder in missing_folders(path.parent)})
        folders = tuple(dict.fromkeys((*self._receipts.folders, *new)))
        return Plan(steps, Receipts(installations, files, folders), tuple(new))
