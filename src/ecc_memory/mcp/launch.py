"""What a server is started with: who it serves, which scopes, whether it may write."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ecc_memory.errors import UsageError

HARNESS_VARIABLE = "ECC_MEMORY_HARNESS"
PROJECT_ROOT_VARIABLE = "ECC_MEMORY_PROJECT_ROOT"
USER_SCOPE_VARIABLE = "ECC_MEMORY_ALLOW_USER_SCOPE"
READ_ONLY_VARIABLE = "ECC_MEMORY_READ_ONLY"

EVERY_HARNESS = "all"
"""The target of a memory for everybody, so that it can be nobody's name."""

_NO = ("", "0", "false", "no")
"""What leaves writing open; any other word closes it, since a reader is what was meant."""

_SLUG = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}\Z")

USAGE = f"""\
usage: ecc-memory-mcp [--harness SLUG] [--project-root DIR]

Serves the memory vault over MCP on standard input and output. A harness starts it.

  --harness SLUG      whom it serves; the same as {HARNESS_VARIABLE}
  --project-root DIR  holds project/ and team/; the same as {PROJECT_ROOT_VARIABLE}
  --help, --version

{USER_SCOPE_VARIABLE}=1 opens the user scope, {READ_ONLY_VARIABLE}=1 leaves out memory_save.
"""


@dataclass(frozen=True)
class Launch:
    """How this server was started; fixed for its life.

    Attributes:
        harness: slug of the harness: source of every write, filter of every answer.
        env: the environment, with what arguments said in it.
        user_scope: whether calls may ask for the user scope.
        read_only: whether ``memory_save`` is left out.
    """

    harness: str
    env: Mapping[str, str]
    user_scope: bool = False
    read_only: bool = False

    @property
    def scopes(self) -> tuple[str, ...]:
        """The scopes that a call may name."""
        return ("project", "team", "user") if self.user_scope else ("project", "team")

    @classmethod
    def parse(cls, arguments: Sequence[str], env: Mapping[str, str]) -> Launch:
        """Read the command line and the environment.

        A harness that drops the environment entry of its configuration can pass the identity
        as an argument instead. Saying it in both places is fine, contradicting oneself is not.

        Args:
            arguments: the command line without the program's name.
            env: the environment.

        Raises:
            UsageError: an unknown argument, no identity, an identity that is no slug or is
                everybody's, or an argument that contradicts its variable. The message is one line.
        """
        given = dict(_options(arguments))
        env = dict(env)
        for option, variable in (("--harness", HARNESS_VARIABLE), ("--project-root", PROJECT_ROOT_VARIABLE)):
            if option in given:
                env[variable] = _agreed(option, given[option], variable, env.get(variable, "").strip())
        harness = env.get(HARNESS_VARIABLE, "").strip()
        if not harness:
            raise UsageError(
                f"{HARNESS_VARIABLE} is not set: say which harness this server is for, for example "
                f"{HARNESS_VARIABLE}=codex or --harness codex"
            )
        if not _SLUG.match(harness):
            raise UsageError(
                f"{HARNESS_VARIABLE} is {harness!r}: it must be made of a-z, 0-9, '.', '_' and '-', "
                "such as codex"
            )
        if harness == EVERY_HARNESS:
            raise UsageError(
                f"{HARNESS_VARIABLE} is {harness!r}, which addresses every harness: say which one this "
                "server is for, such as codex"
            )
        return cls(
            harness=harness,
            env=env,
            user_scope=env.get(USER_SCOPE_VARIABLE) == "1",
            read_only=env.get(READ_ONLY_VARIABLE, "").strip().lower() not in _NO,
        )


def _options(arguments: Sequence[str]) -> list[tuple[str, str]]:
    """Split ``--name value`` and ``--name=value``; each name once."""
    found: list[tuple[str, str]] = []
    rest = list(arguments)
    while rest:
        name, equals, value = rest.pop(0).partition("=")
        if name not in ("--harness", "--project-root"):
            raise UsageError(f"unknown argument {name!r}: see ecc-memory-mcp --help")
        if not equals:
            value = rest.pop(0) if rest else ""
        if not value.strip():
            raise UsageError(f"{name} needs a value")
        if any(name == other for other, _ in found):
            raise UsageError(f"{name} was given twice")
        found.append((name, value.strip()))
    return found


def _agreed(option: str, given: str, variable: str, set_to: str) -> str:
    if set_to and set_to != given:
        raise UsageError(f"{option} says {given!r} but {variable} says {set_to!r}: leave one of them out")
    return given
