"""Checks of what callers pass to the facade."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timezone

from ecc_memory.errors import UsageError
from ecc_memory.vault.document import check_slug


def as_list(values: Iterable[str], what: str) -> list[str]:
    """Return the values as a list; UsageError for a text, whose characters nobody means, and for no list."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        given = "a single text" if isinstance(values, str) else repr(values)
        raise UsageError(f'{what}: a list is needed, like ["{what.split()[0]}"], not {given}')
    return list(values)


def choices(values: Iterable[str], allowed: tuple[str, ...], what: str) -> tuple[str, ...]:
    """Return the values, each once; UsageError when one is not allowed or there is none."""
    chosen = tuple(dict.fromkeys(as_list(values, what)))
    wrong = [value for value in chosen if value not in allowed]
    if wrong or not chosen:
        given = f"{wrong[0]!r} is not" if chosen else "an empty list is not"
        raise UsageError(f"{what}: {given} one of {', '.join(allowed)}")
    return chosen


def harness(value: str | None) -> str | None:
    """Return a harness's slug, None for none; InvalidMemory when it is no slug."""
    return None if value is None else check_slug(value, "target harness")


def timestamp(now: datetime | None) -> str:
    """Return a time, by default the clock's, as the format writes it.

    Raises:
        UsageError: it is not aware, or in UTC it is not in the years 1 to 9999.
    """
    moment = datetime.now(timezone.utc) if now is None else now
    if moment.utcoffset() is None:
        raise UsageError("now must be an aware time, such as datetime.now(timezone.utc)")
    try:
        utc = moment.astimezone(timezone.utc)
    except OverflowError:
        raise UsageError("now must be a time in the years 1 to 9999 of UTC") from None
    return utc.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"  # %Y pads no early year
