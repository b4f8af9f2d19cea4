"""From an event to the answer that the harness gets."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from ecc_memory.errors import UsageError
from ecc_memory.reminders.counts import Counts, OutOfTime, count
from ecc_memory.reminders.envelopes import context, denial
from ecc_memory.reminders.event import Event, parse_event, project_folder
from ecc_memory.reminders.options import Options, parse_options
from ecc_memory.reminders.text import before_compaction, reminder
from ecc_memory.vault.cache import cache_folder, is_wanted
from ecc_memory.vault.roots import (
    PROJECT_ROOT_VARIABLE,
    USER_ROOT_VARIABLE,
    Place,
    home_folder,
    resolve_places,
)

_SECONDS_TO_SPARE = 0.06
"""What must be left of the time when the count is given up."""


def answer(arguments: Sequence[str], data: bytes, env: Mapping[str, str], deadline: float) -> bytes:
    """Give what the hook prints, empty for nothing.

    Args:
        arguments: the command line after the program's name.
        data: the event, JSON.
        env: the environment.
        deadline: the ``time.monotonic()`` after which nobody waits any more.

    Raises:
        EccMemoryError: the command line, the event or the vault is not as it should be.
    """
    options = parse_options(arguments)
    if options.check:
        return b"ecc-memory-hook is ready\n"
    event = parse_event(data)
    if event.name not in ("", options.event):
        raise UsageError(f"the event is {event.name!r}, not {options.event!r}")
    places = _places(options, event, env)
    if options.task == "guard":
        return _guard(options, event, places, env)
    cache = cache_folder(env, home_folder(env)) if is_wanted(env) else None
    return _remind(options, event, places, deadline - _SECONDS_TO_SPARE, cache)


def _remind(
    options: Options, event: Event, places: Mapping[str, Place], deadline: float, cache: str | None
) -> bytes:
    if not event.first_turn:
        return b""
    counts: Counts | None
    try:
        counts = count((places["project"], places["team"]), options.harness, deadline, cache)
    except OutOfTime:
        counts = None
    if options.event == "PreCompact":
        text = before_compaction(options, counts)
    else:
        text = reminder(options, counts, event.source)
    return context(options.event, text) if text else b""


def _guard(options: Options, event: Event, places: Mapping[str, Place], env: Mapping[str, str]) -> bytes:
    from ecc_memory.reminders.guard import objection

    reason = objection(options, event, places, event.cwd or os.getcwd(), home_folder(env))
    return denial(options.event, reason) if reason is not None else b""


def _places(options: Options, event: Event, env: Mapping[str, str]) -> Mapping[str, Place]:
    """Give the scopes' folders as the harness's server sees them."""
    pinned = {PROJECT_ROOT_VARIABLE: options.project_root, USER_ROOT_VARIABLE: options.user_root}
    env = {**env, **{name: value for name, value in pinned.items() if value}}
    folder = project_folder(options.harness, event, env)
    return resolve_places(folder, env, home_folder(env), cwd_origin="the session's folder")
