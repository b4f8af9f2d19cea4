"""What a record of the suite supports, as the page ``docs/compatibility.md``."""

from __future__ import annotations

from typing import Any

from .claims import CLAIMS, LIMITS, NAMES, NOT_THERE, PROVED, Claim

Record = dict[str, Any]

SECONDS = {
    "alone": "test_slow.py::test_the_first_turn_has_the_tools[{slug}]",
    "beside busy loops": "test_slow.py::test_the_first_turn_beside_busy_loops_has_the_tools[{slug}]",
}

PAGE = """\
# What was proved in the real harnesses

Written by `python -m tests.harnesses.compatibility` from the result of its run, and not by hand: *proved*
stands where every test of the claim passed, *not run* where one did not run. The tests start the programs
themselves, with homes of their own, and a scripted model on this machine stands in the place of a real one
([harnesses.md](harnesses.md#checked-with-the-real-programs)).

Tried on {date} with ecc-memory {product} (commit {commit}) on {machine}: {passed} of {all} tests passed.

{claims}

## Saved in one, found in another

{matrix}

## Until the first turn

Seconds from the start of a program, in a home where it never ran before, to its first request, which offers
our tools; once alone and once beside as many busy loops as there are processors. *Load* is the machine's
own figure just before.

{seconds}

## Known limits

{limits}

**All.** Tried on Linux, in sessions without a terminal (`codex exec`, `claude -p`, `opencode run`,
`hermes -z`). A scripted model shows what reaches a model and what its calls do, not what a real one makes
of it.
"""


def unproved(record: Record) -> list[str]:
    """Give what the record does not prove and every test that failed, one line each."""
    tests = record["tests"]
    claims = ((claim, slug, claim.verdict(slug, tests)) for claim in CLAIMS for slug in NAMES)
    missing = [
        f"{NAMES[slug]}: {claim.says}: {verdict}"
        for claim, slug, verdict in claims
        if verdict not in (PROVED, NOT_THERE)
    ]
    return missing + [f"{name}: {outcome}" for name, outcome in tests.items() if outcome == "failed"]


def page(record: Record) -> str:
    """Write the page that a record supports."""
    slugs = list(NAMES)
    tests = record["tests"]
    claims = [[claim.says, *(claim.verdict(slug, tests) for slug in slugs)] for claim in CLAIMS]
    matrix = [[NAMES[first], *(_pair(first, second, tests) for second in slugs)] for first in slugs]
    seconds = [
        [when, *(_seconds(pattern, slug, record) for slug in slugs)] for when, pattern in SECONDS.items()
    ]
    versions = [["version", *(record["versions"][slug] or "not there" for slug in slugs)]]
    names = [NAMES[slug] for slug in slugs]
    limits = "\n\n".join(
        f"**{NAMES[slug]}**\n\n" + "\n".join(f"- {limit}" for limit in LIMITS[slug]) for slug in slugs
    )
    return PAGE.format(
        **{key: record[key] for key in ("date", "product", "commit", "machine")},
        passed=sum(outcome == "passed" for outcome in tests.values()),
        all=len(tests),
        claims=_table(["", *names], versions + claims),
        matrix=_table(["saved by, for", *names], matrix),
        seconds=_table(["", *names], seconds),
        limits=limits,
    )


def _pair(first: str, second: str, tests: dict[str, str]) -> str:
    if first == second:
        return NOT_THERE
    return Claim("", (f"test_matrix.py::test_a_handoff[{first}-{second}]",)).verdict(second, tests)


def _seconds(pattern: str, slug: str, record: Record) -> str:
    figures = record["figures"].get(pattern.format(slug=slug), {})
    return f"{figures['seconds']} s (load {figures['load']})" if "seconds" in figures else "not run"


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
