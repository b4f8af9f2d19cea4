"""Finding things, as people write them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from datetime import datetime, timedelta, timezone

import pytest

from ecc_memory.errors import UsageError
from ecc_memory.vault import Vault

from .conftest import World

NOON = datetime(2026, 7, 1, 12, tzinfo=timezone.utc)


@pytest.fixture
def vault(world: World) -> Vault:
    return world.open()


def save_all(vault: Vault, bodies: Iterable[str]) -> None:
    for minute, body in enumerate(bodies):
        vault.save(title=f"Note {minute:02}", body=body, now=NOON + timedelta(minutes=minute))


def found(vault: Vault, query: str) -> list[tuple[str, bool]]:
    return [(hit.memory.body, hit.relaxed) for hit in vault.search(query).results]


@pytest.mark.parametrize(
    ("body", "query"),
    [
        ("设备清单(devices) 与 NAS", "设备"),
        ("设备清单(devices) 与 NAS", "设备清单"),
        ("设备清单(devices) 与 NAS", "备"),
        ("トークン認証の移行", "認証"),
        ("배포방식을 바꾼다", "배포"),
        ("การตั้งค่าระบบ", "ตั้งค่า"),
    ],
)
def test_cjk_phrase_returns_nothing(vault: Vault, body: str, query: str) -> None:
    save_all(vault, ["nothing of the kind", body])
    assert found(vault, query) == [(body, False)]


def test_cjk_question_matches_by_pairs(vault: Vault) -> None:
    save_all(vault, ["令牌轮换的步骤", "数据库迁移"])
    assert found(vault, "如何轮换令牌") == [("令牌轮换的步骤", True)]


def test_mixed_query_and_of_all_terms(vault: Vault) -> None:
    save_all(vault, ["codex 已经开始执行探索任务了", "unrelated"])
    assert found(vault, "codex 执行 任务") == [("codex 已经开始执行探索任务了", False)]
    save_all(vault, ["the token rotation fails on staging"])
    question = "why does it happen that our nightly token rotation job fails sometimes"
    assert found(vault, question)[0][0] == "the token rotation fails on staging"


@pytest.mark.parametrize(
    ("body", "query", "relaxed"),
    [
        ("Met Müller in München", "München", False),
        ("Met Muller in Munchen", "München", True),
        ("Met Müller", "muller", True),
        ("Сергей said so", "сергей", False),
        ("Ελένη said so", "Ελενη", True),
        ("a big 🧠 here", "🧠", False),
        ("wow!!! great", "!!!", False),
    ],
)
def test_ascii_only_query_builder(vault: Vault, body: str, query: str, relaxed: bool) -> None:
    save_all(vault, ["something newer and unrelated", body, "the most recent"])
    assert found(vault, query) == [(body, relaxed)]


@pytest.mark.parametrize("query", ["🧠", "!!!", "…"])
def test_query_without_a_term_never_lists_recents(vault: Vault, query: str) -> None:
    save_all(vault, ["first", "second"])
    result = vault.search(query)
    assert result.results == ()
    assert "no searchable term" in str(result.diagnostics.note)
    assert len(vault.search("  ").results) == 2


METACHARACTERS = [
    *(
        "pre-edit",
        "Downloads/transcripts",
        "don't use agents",
        "ubuntu 20.04",
        "GB/s",
        "BENCH-100821",
        "foo(bar)",
    ),
    *('"', "*", "NOT", "a AND", "-x", ".*", "%", "_", "[", "\\", "'); DROP TABLE", "^$", "{1,}"),
]


@pytest.mark.parametrize("query", METACHARACTERS)
def test_metacharacters_crash(vault: Vault, query: str) -> None:
    """Nothing in a query is an operator."""
    save_all(vault, [f"before {query} after", "zzz"])
    assert (f"before {query} after", False) in found(vault, query)


def test_snake_kebab_camel_mismatch(vault: Vault) -> None:
    bodies = [
        "mcp_wiring_test",
        "the MultiAgentV2 switch",
        "see src/auth/token_store.py",
        "class TokenStore:",
    ]
    save_all(vault, [*bodies, "token-store config", "multi agent v2 rollout", "signals of a restaurant"])
    assert found(vault, "mcp wiring")[0] == ("mcp_wiring_test", False)
    assert found(vault, "multi agent v2")[0] == ("multi agent v2 rollout", False)
    assert {body for body, _ in found(vault, "MultiAgentV2")} == {
        "the MultiAgentV2 switch",
        "multi agent v2 rollout",
    }
    for query, first in (
        ("TokenStore", bodies[3]),
        ("token-store", "token-store config"),
        ("token_store", bodies[2]),
    ):
        results = found(vault, query)
        assert results[0] == (first, False), "the verbatim identifier comes first"
        assert {body for body, _ in results} == {bodies[2], bodies[3], "token-store config"}
    assert found(vault, "src/auth/token_store.py")[0] == (bodies[2], False)
    assert found(vault, "RESTAURANT_SIGNALS") == [], "split words do not match anywhere"


def nfd(text: str) -> str:
    return unicodedata.normalize("NFD", text)


@pytest.mark.parametrize(
    ("body", "query"),
    [
        (nfd("café menu"), "café"),
        ("café menu", nfd("café")),
        (nfd("캘린더 일정"), "캘린더"),
        ("캘린더 일정", nfd("캘린더")),
        ("ＡＰＩ gateway", "api"),
        ("api gateway", "ＡＰＩ"),
        ("İstanbul office", "istanbul"),
        ("Hauptstraße 5", "hauptstrasse"),
    ],
)
def test_nfc_nfd_mismatch(vault: Vault, body: str, query: str) -> None:
    save_all(vault, ["unrelated", body])
    assert [each for each, _ in found(vault, query)] == [body]


def test_superseded_still_returned(vault: Vault) -> None:
    """The old memory stays until a person marks it, and names the newer one that links to it."""
    old = vault.save(title="SSH port", body="The ssh port is 22, the ssh port is 22.", now=NOON).memory
    new = vault.save(
        title="Port moved", body="ssh port 49222", links=[old.id], now=NOON + timedelta(days=1)
    ).memory
    first, second = vault.search("ssh port").results
    assert (first.memory.id, first.linked_by) == (old.id, (new.id,))
    assert (second.memory.id, second.linked_by) == (new.id, ())
    assert first.to_json()["linkedBy"] == [new.id]
    read = vault.read(old.id)
    assert read.linked_by == (new.id,)
    assert [memory.id for memory in read.backlinks] == [new.id]


def test_linked_by_names_only_newer_active_visible_memories(vault: Vault) -> None:
    target = vault.save(title="Target", body="findme", now=NOON).memory
    later = NOON + timedelta(days=1)
    vault.save(title="Older", body="x", links=[target.id], now=NOON - timedelta(days=1))
    vault.save(title="For claude", body="x", links=[target.id], target_harnesses=["claude"], now=later)
    assert vault.search("findme", target_harness="codex").results[0].linked_by == ()
    assert len(vault.search("findme", target_harness="claude").results[0].linked_by) == 1


def test_excerpt_of_a_relaxed_result_shows_the_match(vault: Vault) -> None:
    save_all(vault, ["é" * 300 + " the TokenStore " + "x" * 300])
    (hit,) = vault.search("token-store").results
    assert hit.relaxed
    assert "TokenStore" in hit.excerpt
    assert hit.excerpt.startswith("…")
    assert hit.excerpt.endswith("…")
    assert len(hit.excerpt) == 242


def test_relaxed_results_never_precede_and_fill_only_the_room(vault: Vault) -> None:
    save_all(vault, ["TokenStore here"] * 3 + ["token-store here"] * 3)
    flags = [hit.relaxed for hit in vault.search("token-store", limit=5).results]
    assert flags == [False, False, False, True, True]
    assert [hit.relaxed for hit in vault.search("token-store", limit=3).results] == [False] * 3


def test_relaxed_result_as_json(vault: Vault) -> None:
    save_all(vault, ["TokenStore", "token-store"])
    exact, relaxed = vault.search("token-store").to_json()["results"]  # type: ignore[misc]
    assert "relaxed" not in exact
    assert (relaxed["relaxed"], relaxed["score"]) == (True, 0)
    assert "body" not in relaxed["memory"]


@pytest.mark.parametrize("limit", [0, 101, -1, True])
def test_limit_bounds(vault: Vault, limit: int) -> None:
    with pytest.raises(UsageError, match="1 to 100"):
        vault.search("x", limit=limit)


def test_query_bound(vault: Vault) -> None:
    assert vault.search("本" * 500).results == ()
    with pytest.raises(UsageError, match="at most 500"):
        vault.search("x" * 501)


def test_cross_project_rules_leak(vault: Vault) -> None:
    """What follows the person is recalled only when asked for."""
    vault.save(title="Rule of mine", body="findme", scope="user")
    assert vault.search("findme").results == ()
    (hit,) = vault.search("findme", scopes=["user"]).results
    assert hit.memory.scope == "user"


def test_memories_of_another_harness_do_not_exist(vault: Vault) -> None:
    secret = vault.save(title="For claude only", body="findme", target_harnesses=["claude"]).memory
    vault.save(title="For all", body="findme")
    assert [hit.memory.title for hit in vault.search("findme", target_harness="codex").results] == ["For all"]
    assert vault.search("findme", target_harness="codex").diagnostics.total == 1
    assert vault.doctor(target_harness="codex").memory_count == 1
    assert vault.read(secret.id, target_harness="claude").memory == secret
    errors = []
    for identity in (secret.id, "mem_never_was"):
        with pytest.raises(Exception, match="no memory") as refused:
            vault.read(identity, target_harness="codex")
        errors.append(str(refused.value).replace(identity, "ID"))
    assert errors[0] == errors[1]
