"""Receipts as JSON text, ``ecc.memory.receipts.v1``, and back.

Reading is strict about what is needed to take an installation back and forgiving about the rest:
unknown fields are passed over, so that an older version reads what a newer one of the same schema
wrote.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from pathlib import Path
from typing import Any, cast

from ecc_memory.harness.types import ConfigEntry, ListItem, MarkedBlock
from ecc_memory.install.artifacts import Held, KeptFile, kind
from ecc_memory.install.receipt import FileReceipt, Holding, Installed, Owner, Receipts
from ecc_memory.install.splice import Splice
from ecc_memory.install.values import plain

SCHEMA = "ecc.memory.receipts.v1"

_MOMENTS: dict[str, Callable[[str], object]] = {
    "datetime": datetime.fromisoformat,
    "date": date.fromisoformat,
    "time": time.fromisoformat,
}


def dump(receipts: Receipts) -> bytes:
    """Return the receipts as JSON, made to be looked at."""
    owners = sorted(receipts.installations)
    payload = {
        "schemaVersion": SCHEMA,
        "installations": [{**_owner(owner), **_installed(receipts.installations[owner])} for owner in owners],
        "files": [_file(receipt) for _, receipt in sorted(receipts.files.items())],
        "folders": list(receipts.folders),
    }
    return json.dumps(payload, indent=1, ensure_ascii=False, default=_moment).encode() + b"\n"


def parse(data: bytes) -> Receipts:
    """Read receipts.

    Raises:
        ValueError: the text is not what :func:`dump` writes.
    """
    try:
        payload = json.loads(data.decode(), object_hook=_restored)
        if payload["schemaVersion"] != SCHEMA:
            raise ValueError(f"schema {payload['schemaVersion']!r}")
        files = [_read_file(entry) for entry in payload["files"]]
        installations = {_read_owner(entry): _read_installed(entry) for entry in payload["installations"]}
        return Receipts(installations, {file.path: file for file in files}, tuple(payload["folders"]))
    except (KeyError, TypeError, AttributeError, IndexError, RecursionError) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from error


def _owner(owner: Owner) -> dict[str, object]:
    return {
        "harness": owner.harness,
        "level": owner.level,
        **({"project": owner.project} if owner.project else {}),
    }


def _read_owner(entry: Mapping[str, Any]) -> Owner:
    return Owner(entry["harness"], entry["level"], entry.get("project", ""))


def _installed(installed: Installed) -> dict[str, object]:
    return {
        "version": installed.version,
        "parts": sorted(installed.parts),
        "serverEnv": dict(installed.server_env),
        "serverCommand": installed.server_command,
    }


def _read_installed(entry: Mapping[str, Any]) -> Installed:
    env, command = dict(entry["serverEnv"]), entry["serverCommand"]
    return Installed(entry["version"], frozenset(entry["parts"]), env, command)


def _file(receipt: FileReceipt) -> dict[str, object]:
    splices = receipt.splices
    return {
        "path": receipt.path,
        "existed": receipt.existed,
        "sha256Before": receipt.before,
        "sha256After": receipt.after,
        "mode": receipt.mode,
        "splices": None if splices is None else [_splice(splice) for splice in splices],
        "made": sorted(list(key) for key in receipt.made),
        "artifacts": [_holding(holding) for holding in receipt.holdings],
    }


def _read_file(entry: Mapping[str, Any]) -> FileReceipt:
    splices = entry["splices"]
    path = Path(entry["path"])
    return FileReceipt(
        entry["path"],
        bool(entry["existed"]),
        entry["sha256Before"],
        entry["sha256After"],
        entry["mode"],
        None if splices is None else tuple(_read_splice(splice) for splice in splices),
        frozenset(tuple(key) for key in entry["made"]),
        tuple(_read_holding(holding, path) for holding in entry["artifacts"]),
    )


def _splice(splice: Splice) -> dict[str, object]:
    return {"at": splice.at, "removed": _bytes(splice.removed), "inserted": _bytes(splice.inserted)}


def _read_splice(entry: Mapping[str, Any]) -> Splice:
    return Splice(int(entry["at"]), _read_bytes(entry["removed"]), _read_bytes(entry["inserted"]))


def _holding(holding: Holding) -> dict[str, object]:
    original = holding.original
    entry: dict[str, object] = {
        **_artifact(holding.artifact),
        "owners": [_owner(owner) for owner in holding.owners],
    }
    if isinstance(original, bytes):
        entry["originalBytes"] = _bytes(original)
    elif original is not None:
        entry["original"] = original
    return entry


def _read_holding(entry: Mapping[str, Any], path: Path) -> Holding:
    original = _read_bytes(entry["originalBytes"]) if "originalBytes" in entry else entry.get("original")
    owners = tuple(_read_owner(owner) for owner in entry["owners"])
    return Holding(_read_artifact(entry, path), owners, original)


def _artifact(artifact: Held) -> dict[str, object]:
    entry: dict[str, object] = {"kind": kind(artifact), "part": artifact.part, "path": str(artifact.path)}
    if isinstance(artifact, KeptFile):
        return {**entry, "sha256": artifact.sha256}
    if isinstance(artifact, MarkedBlock):
        return {**entry, "text": artifact.text}
    entry |= {"format": artifact.format, "key": list(artifact.key)}
    if isinstance(artifact, ListItem):
        return {**entry, "item": plain(artifact.item), "mark": artifact.mark}
    return {
        **entry,
        "value": plain(artifact.value),
        "absentOnly": artifact.absent_only,
        "alsoOurs": plain(artifact.also_ours),
    }


def _read_artifact(entry: Mapping[str, Any], path: Path) -> Held:
    part, path = entry["part"], Path(entry.get("path", path))
    match entry["kind"]:
        case "file":
            return KeptFile(part, path, entry["sha256"])
        case "block":
            return MarkedBlock(part, path, entry["text"])
        case "entry":
            key, also = tuple(entry["key"]), tuple(entry.get("alsoOurs", ()))
            absent_only = bool(entry.get("absentOnly"))
            return ConfigEntry(part, path, entry["format"], key, entry["value"], absent_only, also)
        case "item":
            key, mark = tuple(entry["key"]), entry.get("mark", "")
            return ListItem(part, path, entry["format"], key, entry["item"], mark)
        case other:
            raise ValueError(f"unknown kind of artifact {other!r}")


def _bytes(data: bytes) -> object:
    """Write bytes as text where they are text, so that a person can read a receipt."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}


def _read_bytes(value: object) -> bytes:
    if isinstance(value, str):
        return value.encode()
    return base64.b64decode(cast("Mapping[str, str]", value)["base64"], validate=True)


def _moment(value: object) -> object:
    """Write what TOML and YAML know and JSON does not: it can stand in an entry that was taken over."""
    if isinstance(value, (datetime, date, time)):
        return {"$moment": type(value).__name__, "iso": value.isoformat()}
    raise TypeError(f"{type(value).__name__} in a configuration entry")


def _restored(value: dict[str, Any]) -> object:
    if value.keys() == {"$moment", "iso"} and value["$moment"] in _MOMENTS:
        return _MOMENTS[value["$moment"]](value["iso"])
    return value
