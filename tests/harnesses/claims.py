"""What the suite proves about each harness, in words for a user, and the tests that prove it."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase

NAMES = {"codex": "Codex", "claude": "Claude Code", "opencode": "OpenCode", "hermes": "Hermes"}
WITH_HOOKS = ("codex", "claude", "hermes")
WITH_PROJECTS = ("codex", "claude", "opencode")

PROVED, FAILED, NOT_RUN, NOT_THERE = "proved", "**failed**", "not run", "–"


@dataclass(frozen=True)
class Claim:
    """One row of the table.

    Attributes:
        says: what is claimed.
        tests: patterns of test names; ``{slug}`` is the harness, ``*`` anything. Each must match.
        slugs: the harnesses that have what the claim speaks of.
    """

    says: str
    tests: tuple[str, ...]
    slugs: tuple[str, ...] = tuple(NAMES)

    def verdict(self, slug: str, outcomes: dict[str, str]) -> str:
        """Say what a record's outcomes, test name -> outcome, make of it for one harness."""
        if slug not in self.slugs:
            return NOT_THERE
        matched = [_outcomes(pattern.format(slug=slug), outcomes) for pattern in self.tests]
        every = [outcome for each in matched for outcome in each]
        if "failed" in every:
            return FAILED
        return PROVED if all(matched) and set(every) == {"passed"} else NOT_RUN


def _outcomes(pattern: str, outcomes: dict[str, str]) -> list[str]:
    literal = pattern.replace("[", "[[]")
    return [outcome for name, outcome in outcomes.items() if fnmatchcase(name, literal)]


CLAIMS = (
    Claim(
        "Skill, rules and server are loaded, user level; the rules stand once in the model's prompt",
        ("test_{slug}.py::test_user_level", "test_checks.py::*[{slug}-user]"),
    ),
    Claim(
        "The same at project level",
        ("test_{slug}.py::test_project_level*", "test_checks.py::*[{slug}-project]"),
        WITH_PROJECTS,
    ),
    Claim(
        "All four on one machine, in any order of coming and going: nobody reads the rules twice",
        ("test_shared.py::*",),
    ),
    Claim("A session saves and finds", ("test_{slug}.py::test_a_session_saves_and_finds",)),
    Claim("Hands over to each of the other three", ("test_matrix.py::test_a_handoff[{slug}-*]",)),
    Claim(
        "Finds and reads what each of the others left for it, marked as untrusted, and nothing for a third",
        ("test_matrix.py::test_a_handoff[*-{slug}]",),
    ),
    Claim(
        "The user scope is closed until its person opens it",
        ("test_matrix.py::test_the_user_scope_is_closed_until_it_is_opened[{slug}]",),
    ),
    Claim("Its own permissions hold for our tools", ("test_permissions.py::test_{slug}_*",)),
    Claim(
        "A hostile memory arrives inside its envelope and nowhere else; edited-in escapes do not arrive",
        ("test_hostile.py::test_it_stays_in_its_envelope[{slug}]", "test_hostile.py::test_escapes_*[{slug}]"),
    ),
    Claim("Reminds the model", ("test_reminders_{slug}.py::test_the_model_is_reminded*",), WITH_HOOKS),
    Claim(
        "The guard denies and says what to do",
        ("test_reminders_{slug}.py::test_the_guard_denies_and_says_what_to_do",),
        WITH_HOOKS,
    ),
    Claim(
        "A broken hook never holds up a session",
        ("test_reminders_{slug}.py::test_a_session_goes_on_as_if_there_were_no_hooks*",),
        WITH_HOOKS,
    ),
    Claim(
        "Its own rewriting of its configuration in between does no harm",
        ("test_{slug}.py::test_{slug}_rewrites_its_configuration_in_between",),
    ),
    Claim("A relocated home is found", ("test_{slug}.py::test_relocated_home",)),
    Claim(
        "After uninstalling it starts clean, every file has its bytes and nothing of ours is left",
        (
            "test_leaving.py::test_it_starts_clean[{slug}]",
            "test_leaving.py::test_every_byte_is_back",
            "test_leaving.py::test_nothing_of_ours_is_left",
        ),
    ),
    Claim(
        "The tools are there in the first turn, beside busy loops too",
        (
            "test_slow.py::test_the_first_turn_has_the_tools[{slug}]",
            "test_slow.py::test_the_first_turn_beside_busy_loops_has_the_tools[{slug}]",
        ),
    ),
    Claim(
        "Breaking the adapter on purpose fails the suite",
        ("test_broken_adapter.py::test_a_broken_adapter_fails_the_matrix[{slug}-*]",),
    ),
)

LIMITS = {
    "codex": (
        "The reminder and the guard run after you have trusted them; `codex exec` skips them silently.",
        "A project's server starts once the project is trusted; the first turn may come before it.",
        "The user scope is opened by `install --allow-user-scope`: Codex keeps the shell's variables back.",
    ),
    "claude": (
        "Each tool asks until it is on the allow list.",
        "With `-p` Claude Code runs a project's server and hooks unasked; in a terminal it asks.",
    ),
    "opencode": (
        "No reminder and no guard: it has hooks only for plugins, and those can hold up its start.",
    ),
    "hermes": (
        "No project level.",
        "It speaks MCP only when it was installed with its extra, `hermes-agent[mcp]`.",
        "The user scope is opened by `install --allow-user-scope`: Hermes keeps the shell's variables back.",
        "It shows its model each answer twice, as text and as structured content.",
    ),
}
"""What the suite met and nothing of ours can change."""
