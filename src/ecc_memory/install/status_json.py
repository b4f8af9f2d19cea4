"""Status and the list of harnesses as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ecc_memory import __version__
from ecc_memory.harness.plugins import BrokenPlugin
from ecc_memory.install import artifacts
from ecc_memory.install.catalogue import Entry
from ecc_memory.install.checks import Checked
from ecc_memory.install.diagnosis import Remark
from ecc_memory.install.report import owner_json
from ecc_memory.install.status import ArtifactStatus, InstallationStatus, Status

STATUS_SCHEMA = "ecc.memory.status.v1"
HARNESSES_SCHEMA = "ecc.memory.harnesses.v1"


def status_json(status: Status, remarks: Sequence[Remark]) -> dict[str, object]:
    """Return the payload of ``ecc memory status``."""
    return {
        "schemaVersion": STATUS_SCHEMA,
        "ok": not any(remark.weight == "finding" for remark in remarks),
        "version": __version__,
        "installations": [_installation(one) for one in status.installations],
        "strangers": [_artifact(found) for found in status.strangers],
        "findings": [_remark(remark) for remark in remarks if remark.weight == "finding"],
        "notes": [_remark(remark) for remark in remarks if remark.weight == "note"],
    }


def harnesses_json(entries: Iterable[Entry], broken: Iterable[BrokenPlugin]) -> dict[str, object]:
    """Return the payload of ``ecc memory harnesses``."""
    return {
        "schemaVersion": HARNESSES_SCHEMA,
        "harnesses": [_entry(entry) for entry in entries],
        "broken": [
            {
                "name": plugin.name,
                "distribution": plugin.distribution,
                "version": plugin.version,
                "reason": plugin.reason,
            }
            for plugin in broken
        ],
    }


def _entry(entry: Entry) -> dict[str, object]:
    harness, detection = entry.adapter.harness, entry.detection
    return {
        "slug": harness.slug,
        "name": harness.name,
        "distribution": entry.adapter.distribution,
        "version": entry.adapter.version,
        "levels": {level: sorted(parts) for level, parts in harness.levels.items()},
        "levelNotes": dict(harness.level_notes),
        "detected": detection is not None and detection.found,
        "configHome": None if detection is None else str(detection.config_home),
        "executable": None
        if detection is None or detection.executable is None
        else str(detection.executable),
        "installed": [owner_json(owner) for owner in entry.installed],
        "fault": entry.fault,
    }


def _installation(one: InstallationStatus) -> dict[str, object]:
    return {
        **owner_json(one.owner),
        "version": None if one.installed is None else one.installed.version,
        "serverEnv": {} if one.installed is None else dict(one.installed.server_env),
        "artifacts": [_artifact(found) for found in one.artifacts],
        "vaults": dict(one.vaults),
        "checks": [_check(checked) for checked in one.checks],
    }


def _artifact(found: ArtifactStatus) -> dict[str, object]:
    key = getattr(found.artifact, "key", None)
    return {
        "part": found.artifact.part,
        "kind": artifacts.kind(found.artifact),
        "path": found.path,
        **({"key": list(key)} if key else {}),
        "state": found.state,
        "owners": [owner_json(owner) for owner in found.owners],
        **({"note": found.note} if found.note else {}),
    }


def _check(checked: Checked) -> dict[str, object]:
    return {
        "part": checked.part,
        "answer": checked.answer,
        "command": list(checked.command),
        **({"note": checked.note} if checked.note else {}),
    }


def _remark(remark: Remark) -> dict[str, object]:
    return {"code": remark.code, "message": remark.message}
