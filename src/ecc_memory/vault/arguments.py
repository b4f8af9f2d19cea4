"""Checks of what callers pass to the facade."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timezone

from ecc_memory.errors import UsageError
from ecc_memory.vault.document import check_slug


def as_list(values: Iterable[str], what: str) -> list[str]:
    """Return the values as a list; UsageError for a text, whose characters nobody means."""
    if isinstance(values, str):
        raise UsageError(f'{what}: a list is needed, like ["{what.split()[0]}"], not a single text')
    return list(values)


def choices(values: Iterable[str], allowed: tuple[str, ...], what: str) -> tuple[str, ...]:
    """Return the values, each once; UsageError when one is not allowed or there is none."""
    chosen = tuple(dict.fromkeys(as_list(values, what)))
    wrong = next((value for value in chosen if value not in allowed), None)
    if wrong is not None or not chosen:
        given = f"{wrong!r} is not" if chosen else "an empty list is not"
        raise UsageError(f"{what}: {given} one of {', '.join(allowed)}")
    return chosen


def harness(value: str | None) -> str | None:
    """Return a harness's slug, None for none; InvalidMemory when it is no slug."""
    return None if value is None else check_slug(value, "target harness")


def timestamp(now: datetime | None) -> str:
    """Return a time, by default the clock's, as the format writes it; UsageError when it is not aware."""
    moment = datetime.now(timezone.utc) if now is None else now
    if moment.utcoffset() is None:
        raise UsageError("now must be an aware time, such as datetime.now(timezone.utc)")
    utc = moment.astimezone(timezone.utc)
    return f"{utc:%Y-%m-%dT%H:%M:%S}.{utc.microsecond // 1000:03d}Z"
