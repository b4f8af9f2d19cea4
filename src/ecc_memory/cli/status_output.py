"""Status and the list of harnesses, put into words for a person."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ecc_memory.cli.install_output import owner_words
from ecc_memory.harness.plugins import BrokenPlugin
from ecc_memory.install import artifacts
from ecc_memory.install.catalogue import Entry
from ecc_memory.install.checks import Checked
from ecc_memory.install.diagnosis import Remark
from ecc_memory.install.request import READ_ONLY, USER_SCOPE
from ecc_memory.install.status import ArtifactStatus, InstallationStatus, Status


def status_lines(status: Status, remarks: Sequence[Remark]) -> Iterator[str]:
    """Say what is installed, how it is, and what to do about what is wrong."""
    if not status.installations:
        yield "nothing is installed; see ecc memory harnesses, then ecc memory install --harness NAME"
    for installation in status.installations:
        yield from _installation(installation)
    for remark in remarks:
        yield f"{remark.weight}: {remark.message}"
    findings = sum(remark.weight == "finding" for remark in remarks)
    if status.installations and not findings:
        yield "everything is as it was installed"


def harness_lines(entries: Sequence[Entry], broken: Iterable[BrokenPlugin]) -> Iterator[str]:
    """Say which adapters there are, what they can do and whether their harness is here."""
    if not entries:
        yield "no adapter is installed; install one, such as ecc-memory-codex"
    for entry in entries:
        harness = entry.adapter.harness
        yield f"{harness.slug}: {harness.name}, {_presence(entry)}"
        yield f"    adapter {entry.adapter.distribution} {entry.adapter.version}"
        for level, parts in harness.levels.items():
            note = harness.level_notes.get(level)
            yield f"    {level} level: {', '.join(sorted(parts))}{f' ({note})' if note else ''}"
        for level, note in harness.level_notes.items():
            if level not in harness.levels:
                yield f"    no {level} level: {note}"
        for owner in entry.installed:
            yield f"    installed at {owner.level} level{f' of {owner.project}' if owner.project else ''}"
    for plugin in broken:
        yield f"BROKEN {plugin.name} ({plugin.distribution} {plugin.version}): {plugin.reason}"


def _presence(entry: Entry) -> str:
    if entry.detection is None:
        return f"unknown whether it is here: {entry.fault}"
    if not entry.detection.found:
        return "not found on this machine"
    program = entry.detection.executable
    return f"found ({program or entry.detection.config_home})"


def _installation(one: InstallationStatus) -> Iterator[str]:
    version = (
        f"installed by ecc-memory {one.installed.version}" if one.installed else "not installed any more"
    )
    yield f"{owner_words(one.owner)}: {version}"
    answers: dict[str, Checked] = {}
    for checked in one.checks:  # of several about one part, the first that does not see it counts
        before = answers.get(checked.part)
        if before is None or before.answer == "seen":
            answers[checked.part] = checked
    for part in dict.fromkeys(found.artifact.part for found in one.artifacts):
        mine = [found for found in one.artifacts if found.artifact.part == part]
        yield f"    {part}: {_answer(one, answers.get(part))}"
        yield from (f"        {found.state:8} {_place(found)}" for found in mine)
    settings = one.installed.server_env if one.installed else {}
    if READ_ONLY in settings:
        yield "    installed as a reader, which cannot save"
    for scope, folder in one.vaults.items():
        opened = " (open to agents that ask for it)" if scope == "user" and USER_SCOPE in settings else ""
        yield f"    {scope} memories: {folder}{opened}"


def _answer(one: InstallationStatus, checked: Checked | None) -> str:
    if checked is None:
        return "not checked"
    if checked.answer == "not checked":
        return f"not checked ({checked.note})"
    return f"{checked.answer} by {one.owner.harness}"


def _place(found: ArtifactStatus) -> str:
    others = len(found.owners) - 1
    shared = f" (shared with {others} more)" if others else ""
    title = "" if artifacts.kind(found.artifact) == "file" else f": {artifacts.title(found.artifact)}"
    return f"{found.path}{title}{shared}{f' ({found.note})' if found.note else ''}"
