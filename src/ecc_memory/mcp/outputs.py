"""JSON Schemas of the results: object roots, no unions, no references."""

from __future__ import annotations

from collections.abc import Mapping

_TEXT: Mapping[str, object] = {"type": "string"}
_COUNT: Mapping[str, object] = {"type": "integer"}
_FLAG: Mapping[str, object] = {"type": "boolean"}
_TEXTS: Mapping[str, object] = {"type": "array", "items": _TEXT}


def _object(required: Mapping[str, object], **optional: object) -> dict[str, object]:
    return {"type": "object", "properties": {**required, **optional}, "required": list(required)}


def _list_of(items: object) -> dict[str, object]:
    return {"type": "array", "items": items}


_SUMMARY: Mapping[str, object] = {
    **dict.fromkeys(("schema", "id", "title", "kind", "scope", "trust", "status", "sourceHarness"), _TEXT),
    **dict.fromkeys(("targetHarnesses", "tags", "links"), _TEXTS),
    **dict.fromkeys(("createdAt", "updatedAt"), _TEXT),
}
_PLACE = _object({"scope": _TEXT, "name": _TEXT, "source": _TEXT}, refusal=_TEXT)
_ENVELOPE: Mapping[str, object] = {"schemaVersion": _TEXT, "notice": _TEXT}

SAVE = _object({"schemaVersion": _TEXT, "memory": _object(_SUMMARY), "path": _TEXT, "vault": _PLACE})

SEARCH = _object(
    {
        **_ENVELOPE,
        "results": _list_of(
            _object(
                {"memory": _object(_SUMMARY), "score": _COUNT, "excerpt": _TEXT},
                relaxed=_FLAG,
                linkedBy=_TEXTS,
            )
        ),
        "total": _COUNT,
        "truncated": _FLAG,
        "diagnostics": _object(
            {"invalidFileCount": _COUNT, "skippedSymlinkCount": _COUNT, "truncated": _FLAG, "total": _COUNT},
            note=_TEXT,
        ),
        "end": _TEXT,
    },
    more=_TEXT,
)

READ = _object(
    {
        **_ENVELOPE,
        "memory": _object({**_SUMMARY, "body": _TEXT}),
        "path": _TEXT,
        "backlinks": _list_of(_object({"id": _TEXT, "title": _TEXT})),
        "backlinksTruncated": _FLAG,
        "end": _TEXT,
    },
    linkedBy=_TEXTS,
)

DOCTOR = _object(
    {
        "schemaVersion": _TEXT,
        "ok": _FLAG,
        **dict.fromkeys(
            (
                "memoryCount",
                "invalidFileCount",
                "duplicateIdCount",
                "brokenLinkCount",
                "skippedSymlinkCount",
                "warningCount",
                "scannedBytes",
            ),
            _COUNT,
        ),
        "truncated": _FLAG,
        "vaults": _list_of(_PLACE),
    }
)
