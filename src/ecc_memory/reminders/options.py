"""The command line of a hook, which a harness's configuration holds.

Read by hand, because ``argparse`` would take a third of the time that the whole program has.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ecc_memory.errors import UsageError


class Options(NamedTuple):
    """What the configuration says about the session.

    Attributes:
        task: ``reminder`` or ``guard``.
        harness: the slug that memories are addressed to.
        event: the harness's own name of the event.
        tools: what its model sees before the names of our tools; None where it has no tools of ours.
        read_only: whether the server that it has cannot save.
        check: whether only to say that the program can be run.
        project_root: what the server was given as ``ECC_MEMORY_PROJECT_ROOT``, if it was.
        user_root: the same for ``ECC_MEMORY_USER_ROOT``.
    """

    task: str
    harness: str
    event: str
    tools: str | None = None
    read_only: bool = False
    check: bool = False
    project_root: str | None = None
    user_root: str | None = None


_FLAGS = {"--read-only": "read_only", "--check": "check"}
_WITH_VALUE = {
    "--harness": "harness",
    "--event": "event",
    "--tools": "tools",
    "--project-root": "project_root",
    "--user-root": "user_root",
}


def parse_options(arguments: Sequence[str]) -> Options:
    """Read the arguments after the program's name.

    Raises:
        UsageError: one is unknown, missing or incomplete.
    """
    values = dict(_pairs(iter(arguments)))
    missing = {"task", "harness", "event"} - set(values)
    if missing:
        raise UsageError(f"{sorted(missing)[0]} is missing; see the documentation of ecc-memory-hook")
    flags = {name: values.pop(name, None) is not None for name in _FLAGS.values()}
    return Options(read_only=flags["read_only"], check=flags["check"], **values)


def _pairs(arguments: Iterator[str]) -> Iterator[tuple[str, str]]:
    for argument in arguments:
        if argument in _FLAGS:
            yield _FLAGS[argument], ""
        elif argument in _WITH_VALUE:
            value = next(arguments, None)
            if value is None:
                raise UsageError(f"{argument} needs a value")
            yield _WITH_VALUE[argument], value
        elif argument in ("reminder", "guard"):
            yield "task", argument
        else:
            raise UsageError(f"{argument!r} is no argument of ecc-memory-hook")
