"""What a session reminder says: how many, never what."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from ecc_memory.vault import Counts

from .conftest import World

NOON = datetime(2026, 7, 1, 12, tzinfo=timezone.utc)


def test_counts_of_what_a_harness_may_see(world: World) -> None:
    vault = world.open()
    assert vault.counts() == Counts(0, 0, None)
    vault.save(title="A", body="B", now=NOON)
    vault.save(title="A", body="B", scope="team", now=NOON + timedelta(days=1))
    vault.save(title="A", body="B", scope="user", now=NOON + timedelta(days=3))
    vault.save(title="A", body="B", kind="handoff", target_harnesses=["claude"], now=NOON + timedelta(days=2))
    assert vault.counts(target_harness="claude") == Counts(3, 1, "2026-07-03T12:00:00.000Z")
    assert vault.counts(target_harness="codex") == Counts(2, 0, "2026-07-02T12:00:00.000Z")


def test_counts_give_up_when_the_time_is_over(world: World) -> None:
    world.open().save(title="A", body="B")
    assert world.open().counts(deadline_s=0) is None
