"""The vectors of the document format and of search, produced by another implementation of the format."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from ecc_memory.errors import EccMemoryError, InvalidMemory
from ecc_memory.vault import Memory, Vault, parse_document, serialize_document

VECTORS = Path(__file__).parents[1] / "conformance"
PARSE = json.loads((VECTORS / "parse.json").read_text("utf-8"))
SERIALIZE = json.loads((VECTORS / "serialize.json").read_text("utf-8"))
VAULT = json.loads((VECTORS / "vault.json").read_text("utf-8"))


@pytest.mark.parametrize("case", PARSE, ids=lambda case: case["name"])
def test_parse(case: dict[str, Any]) -> None:
    try:
        outcome = {"ok": True, "memory": parse_document(case["document"]).to_json()}
    except InvalidMemory:
        outcome = {"ok": False}
    assert outcome == {key: case["expect"][key] for key in outcome}
    assert outcome["ok"] == case["expect"]["ok"]


@pytest.mark.parametrize("case", SERIALIZE, ids=lambda case: case["memory"]["id"])
def test_serialize(case: dict[str, Any]) -> None:
    memory = Memory.from_json(case["memory"])
    assert serialize_document(memory) == case["document"]
    assert parse_document(case["document"]) == memory
    assert memory.to_json() == case["memory"]


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Vault:
    """The documents that the other implementation worked on, written where it writes them."""
    home, repository = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("repository")
    (repository / ".git").mkdir()
    roots = {
        "project": repository / ".ecc/memory/project",
        "team": repository / ".ecc/memory/team",
        "user": home / ".ecc/memory",
    }
    for document in VAULT["documents"]:
        scope, _, name = document["path"].partition(":")
        path = roots[scope] / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(document["document"].encode("utf-8"))
    return Vault.open(cwd=repository, env={}, home=home)


def options(case: dict[str, Any]) -> dict[str, Any]:
    """The vector's options under the names that Python code uses."""
    return {
        re.sub("[A-Z]", lambda m: "_" + m[0].lower(), key): value for key, value in case["options"].items()
    }


@pytest.mark.parametrize(
    "case", VAULT["search"], ids=lambda case: f"{case['query'] or 'newest'}-{json.dumps(case['options'])}"
)
def test_search(vault: Vault, case: dict[str, Any]) -> None:
    found = vault.search(case["query"], **options(case)).results
    exact = [
        {"id": hit.memory.id, "score": hit.score, "excerpt": hit.excerpt} for hit in found if not hit.relaxed
    ]
    assert exact == case["results"]
    assert [hit.relaxed for hit in found] == sorted(hit.relaxed for hit in found)
    assert all(hit.score == 0 for hit in found if hit.relaxed)


@pytest.mark.parametrize(
    "case", VAULT["read"], ids=lambda case: f"{case['id']}-{json.dumps(case['options'])}"
)
def test_read(vault: Vault, case: dict[str, Any]) -> None:
    if not case["expect"]["ok"]:
        with pytest.raises(EccMemoryError) as refused:
            vault.read(case["id"], **options(case))
        assert refused.value.code == "ECC_MEMORY_NOT_FOUND"
        return
    result = vault.read(case["id"], **options(case))
    assert result.path == case["expect"]["path"]
    assert [memory.id for memory in result.backlinks] == case["expect"]["backlinks"]


@pytest.mark.parametrize(("key", "scopes"), [("doctor", None), ("doctorAll", ("project", "team", "user"))])
def test_doctor(vault: Vault, key: str, scopes: tuple[str, ...] | None) -> None:
    report = vault.doctor(scopes=scopes).to_json()
    assert {name: report[name] for name in VAULT[key]} == VAULT[key]
