"""What is wrong with an installation, in sentences that say what to do."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ecc_memory import __version__
from ecc_memory.errors import InstallError
from ecc_memory.install import artifacts
from ecc_memory.install.environment import SERVER_PROGRAM, server_program
from ecc_memory.install.receipt import Owner
from ecc_memory.install.request import (
    DEFAULT_PARTS,
    PROJECT_ROOT,
    READ_ONLY,
    USER_ROOT,
    USER_SCOPE,
    Context,
)
from ecc_memory.install.status import ArtifactStatus, InstallationStatus, Status

_SETTINGS = {READ_ONLY: "--read-only", USER_SCOPE: "--allow-user-scope", PROJECT_ROOT: "--pin-project-root"}
_ROOTS = {"project": PROJECT_ROOT, "team": PROJECT_ROOT, "user": USER_ROOT}

PROGRAMS = ("ecc", "ecc-memory", SERVER_PROGRAM)

Weight = Literal["finding", "note"]


@dataclass(frozen=True)
class Remark:
    """One thing to say.

    Attributes:
        weight: a finding is wrong and makes ``status`` end with 1; a note is only worth knowing.
        code: stable, machine-readable.
        message: what it is and what to do.
    """

    weight: Weight
    code: str
    message: str


def diagnose(context: Context, status: Status) -> list[Remark]:
    """Return everything worth saying about a status, findings first."""
    remarks: list[Remark] = []
    for installation in status.installations:
        remarks += [*_artifacts(installation), *_checks(installation), *_settings(installation)]
        remarks += _vaults(context, installation)
    remarks += map(_stranger, status.strangers)
    remarks += map(_temporary, status.leftovers)
    remarks += [*_programs(context), *_bare_command(context, status), *_twice(context, status)]
    return sorted(remarks, key=lambda remark: remark.weight)


def _finding(code: str, message: str) -> Remark:
    return Remark("finding", code, message)


def _note(code: str, message: str) -> Remark:
    return Remark("note", code, message)


def _again(installation: InstallationStatus) -> str:
    """Return the command that installs the same once more, with the settings it was installed with."""
    owner, installed = installation.owner, installation.installed
    command = f"ecc memory install --harness {owner.harness} --{owner.level}"
    if installed is None:
        return command
    missing = "".join(f" --no-{part}" for part in sorted(DEFAULT_PARTS - installed.parts))
    reminders = " --reminders" if "reminders" in installed.parts else ""
    settings = "".join(
        f" {option}" for variable, option in _SETTINGS.items() if variable in installed.server_env
    )
    return f"{command}{missing}{reminders}{settings}"


def _name(found: ArtifactStatus, owner: Owner) -> str:
    return f"{artifacts.title(found.artifact)} ({found.artifact.part}) for {owner} in {found.path}"


def _artifacts(installation: InstallationStatus) -> Iterator[Remark]:
    ways = {
        "edited": f"{_again(installation)} --force writes it anew",
        "missing": f"{_again(installation)} puts it back",
    }
    for found in installation.artifacts:
        if found.state not in ("intact", "yours"):
            name = _name(found, installation.owner)
            yield _finding(found.state, f"{name} is {found.state}: {ways.get(found.state, found.note)}")


def _checks(installation: InstallationStatus) -> Iterator[Remark]:
    for checked in installation.checks:
        if checked.answer == "not seen":
            command = " ".join(checked.command)
            part = f"the {checked.part} is not seen by {installation.owner}"
            advice = f"; {checked.note}" if checked.note else ""
            yield _finding("not-seen", f"{part}: `{command}` does not show it{advice}")


def _settings(installation: InstallationStatus) -> Iterator[Remark]:
    owner, installed = installation.owner, installation.installed
    if installed is None:
        yield _note("leftover", f"what had been edited stayed when {owner} was uninstalled")
        return
    server = installed.server_command
    if "mcp" in installed.parts and os.path.isabs(server) and not os.access(server, os.X_OK):
        yield _finding("server-gone", f"{server}, which {owner} starts, is gone: {_again(installation)}")
    if installed.version != __version__:
        versions = f"{owner} was installed by {installed.version}, this is {__version__}"
        yield _note("other-version", f"{versions}: {_again(installation)} updates it")


def _vaults(context: Context, installation: InstallationStatus) -> Iterator[Remark]:
    """Compare the vault a server will use with the one this shell uses."""
    owner = installation.owner
    if owner.project and Path(owner.project) not in (context.cwd, *context.cwd.parents):
        return
    for scope, folder in installation.vaults.items():
        place = context.vault.place(scope)
        if place.refusal is None and place.path != folder:
            where = f"{owner} keeps {scope} memories in {folder}, this shell in {place.path}"
            yield _finding("other-vault", f"{where}: set {_ROOTS[scope]} alike and install again")


def _stranger(found: ArtifactStatus) -> Remark:
    name = _name(found, found.owners[0])
    if found.state == "foreign":
        return _finding("foreign", f"{name} has our name but is not ours: install --adopt takes it over")
    if found.owners[0].level == "project":  # git brings such files without the record
        return _note("unrecorded", f"{name} came with the project: install takes it in, uninstall out")
    return _finding("unrecorded", f"{name} is ours without a record: install takes it in, uninstall out")


def _temporary(path: Path) -> Remark:
    advice = "the next install or uninstall there removes it"
    return _note("temporary", f"{path} is a temporary file of an installer that was killed: {advice}")


def _programs(context: Context) -> Iterator[Remark]:
    """Name a foreign program of our name that comes earlier on PATH than ours."""
    try:
        folder = (context.server or server_program()).parent
    except InstallError as error:
        yield _note("throw-away", error.message)
        return
    for name in PROGRAMS:
        found = shutil.which(name, path=context.env.get("PATH", ""))
        if found is not None and not _is_same(found, folder / name):
            yield _finding("foreign-program", f"{name} on PATH is {found}, which is not {folder / name}")


def _bare_command(context: Context, status: Status) -> Iterator[Remark]:
    """Name a project's entry whose bare command is nowhere on PATH."""
    commands = {one.installed.server_command for one in status.installations if one.installed is not None}
    if SERVER_PROGRAM in commands and shutil.which(SERVER_PROGRAM, path=context.env.get("PATH", "")) is None:
        yield _finding("not-on-path", f"a project's entry starts {SERVER_PROGRAM}, which is not on PATH")


def _twice(context: Context, status: Status) -> Iterator[Remark]:
    """Name harnesses that read the same parts at user level and in the project we are in."""
    here = {str(folder) for folder in (context.cwd, *context.cwd.parents)}
    user = {one.owner.harness: _parts(one) for one in status.installations if one.owner.level == "user"}
    for one in status.installations:
        both = _parts(one) & user.get(one.owner.harness, set())
        if one.owner.project in here and both:
            parts = ", ".join(sorted(both))
            yield _note("twice", f"{one.owner.harness} reads {parts} at user level and in this project")


def _parts(installation: InstallationStatus) -> set[str]:
    return {found.artifact.part for found in installation.artifacts}


def _is_same(found: str, ours: Path) -> bool:
    try:
        return os.path.samefile(found, ours)
    except OSError:
        return False
