"""Whether an agent's own file tools may do to a vault's files what they are about to do.

The vault's own tools validate, never overwrite and look for credentials; a file tool does none of that.
So a file tool may not change or remove a memory, write a document that is none, touch the file that
keeps the project's memories out of version control, or store a suspected credential. It may write a
valid new document, and repair one that is broken.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping

from ecc_memory.reminders.changes import Change, changes
from ecc_memory.reminders.event import Event
from ecc_memory.reminders.location import Location, locate
from ecc_memory.reminders.options import Options
from ecc_memory.vault.roots import Place

_GITIGNORE = (".gitignore",)
_SUFFIX = ".md"
_MAX_BYTES = 128 * 1024
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC


def objection(options: Options, event: Event, places: Mapping[str, Place], cwd: str, home: str) -> str | None:
    """Give the reason why a tool may not run, None when it may.

    Args:
        options: the session.
        event: the tool and its arguments.
        places: the session's scopes.
        cwd: what a relative path starts from.
        home: what ``~`` stands for.
    """
    order = [places[scope] for scope in ("project", "team", "user")]
    for change in changes(event.tool, event.tool_input):
        location = locate(change.path, cwd, home, order) if change.path else None
        reason = None if location is None else _judge(change, location, options)
        if reason is not None:
            return reason
    return None


def _judge(change: Change, location: Location, options: Options) -> str | None:
    if location.scope == "project" and location.names == _GITIGNORE:
        return "This .gitignore keeps the project's memories private; it stays as ecc-memory made it."
    is_document = location.names[-1].endswith(_SUFFIX) and not any(
        name.startswith(".") for name in location.names
    )
    existing = _read(location.path)
    if is_document and existing is not None and _fault(existing, location) is None:
        return f"This file is a memory, and memories are not edited or removed. {_supersede(options)}"
    if change.how == "gone":
        return None
    if is_document and change.how == "arrival":
        return f"A file that is moved into the vault cannot be checked. {_save(options)}"
    from ecc_memory.vault.secrets import find_secret

    secret = find_secret(change.text)
    if secret is not None:
        return (
            f"Line {secret.line} looks like a credential ({secret.rule}), and the vault holds none; "
            "leave the value out and say where it is kept."
        )
    if is_document and (change.how == "whole" or existing is None):
        fault = _fault(change.text.encode("utf-8", "surrogatepass"), location)
        if fault is not None:
            return f"This would be no valid memory: {fault}. {_save(options)}"
    return None


def _fault(data: bytes, location: Location) -> str | None:
    """Say what keeps bytes from being a memory at this place, None when they are one."""
    from ecc_memory.vault.judge import Problem, judge

    verdict = judge(data, location.scope, location.names, location.names[-1])
    return verdict.message if isinstance(verdict, Problem) else None


def _read(path: str) -> bytes | None:
    """Read a regular file, a little more of it than a document may hold; None where there is none."""
    try:
        fd = os.open(path, _READ)
    except OSError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return None
        return os.read(fd, _MAX_BYTES + 1)
    finally:
        os.close(fd)


def _save(options: Options) -> str:
    if options.read_only:
        return "This session only reads memories; leave writing them to the person."
    if options.tools is None:
        return f"Use `ecc memory save --source-harness {options.harness} --stdin`, which writes it correctly."
    return f"Use `{options.tools}memory_save`, which writes it correctly."


def _supersede(options: Options) -> str:
    if options.read_only:
        return "Tell the person what is wrong with it."
    if options.tools is None:
        way = f"`ecc memory save --link ID --source-harness {options.harness} --stdin`"
    else:
        way = f"`{options.tools}memory_save`, with this one's id in `links`"
    return f"Save what is right now as a new one with {way}; only the person changes or removes this file."
