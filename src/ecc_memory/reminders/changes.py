"""What a file tool is about to do to which files.

Seen in the programs themselves: Claude Code 2.1 has ``Write``, ``Edit`` and ``NotebookEdit`` (older ones
``MultiEdit``) and gives hooks absolute paths; Codex 0.171 has ``apply_patch`` and gives the patch as
``command``; Hermes 0.19 has ``write_file`` and ``patch``, which replaces text or takes a patch of the
same form as Codex's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Literal, NamedTuple

How = Literal["whole", "part", "arrival", "gone"]


class Change(NamedTuple):
    """What happens to one file.

    Attributes:
        path: as the agent gave it: absolute, from the working directory, or from ``~``.
        how: ``whole``: it will hold ``text`` and nothing else; ``part``: ``text`` goes into it;
            ``arrival``: another file is moved here, with ``text`` put into it; ``gone``.
        text: what the agent wrote.
    """

    path: str
    how: How
    text: str = ""


_HEADERS: Mapping[str, How | None] = {
    "*** Add File": "whole",
    "*** Update File": "part",
    "*** Delete File": "gone",
    "*** End Patch": None,
}


def changes(tool: str, arguments: Mapping[str, object]) -> Iterator[Change]:
    """Give the changes that a tool is asked to make, none for a tool that is no file tool."""
    reader = _READERS.get(tool)
    if reader is not None:
        yield from reader(arguments)


def patch_changes(patch: str) -> Iterator[Change]:
    """Read a patch in the form ``*** Begin Patch ... *** End Patch``."""
    path, added = "", list[str]()
    how: How | None = None
    for line in [*patch.split("\n"), "*** End Patch"]:
        header, _, name = line.strip().partition(": ")
        if line.startswith("+"):
            added.append(line[1:].rstrip("\r"))
        elif line.startswith("-"):
            continue
        elif header == "*** Move to":
            yield Change(path, "gone")
            path, how = name, "arrival"
        elif header in _HEADERS:
            if how is not None:
                yield Change(path, how, "".join(f"{each}\n" for each in added))
            path, how, added = name, _HEADERS[header], []


def _write(path: str, content: str) -> Callable[[Mapping[str, object]], Iterator[Change]]:
    def read(arguments: Mapping[str, object]) -> Iterator[Change]:
        yield Change(_text(arguments, path), "whole", _text(arguments, content))

    return read


def _edit(path: str, added: str) -> Callable[[Mapping[str, object]], Iterator[Change]]:
    def read(arguments: Mapping[str, object]) -> Iterator[Change]:
        yield Change(_text(arguments, path), "part", _text(arguments, added))

    return read


def _multi_edit(arguments: Mapping[str, object]) -> Iterator[Change]:
    edits = arguments.get("edits")
    for edit in edits if isinstance(edits, list) else []:
        if isinstance(edit, dict):
            yield Change(_text(arguments, "file_path"), "part", _text(edit, "new_string"))


def _codex_patch(arguments: Mapping[str, object]) -> Iterator[Change]:
    return patch_changes(_text(arguments, "command"))


def _hermes_patch(arguments: Mapping[str, object]) -> Iterator[Change]:
    if arguments.get("mode") == "patch":
        return patch_changes(_text(arguments, "patch"))
    return _edit("path", "new_string")(arguments)


_READERS: Mapping[str, Callable[[Mapping[str, object]], Iterator[Change]]] = {
    "Write": _write("file_path", "content"),
    "Edit": _edit("file_path", "new_string"),
    "MultiEdit": _multi_edit,
    "NotebookEdit": _edit("notebook_path", "new_source"),
    "apply_patch": _codex_patch,
    "write_file": _write("path", "content"),
    "patch": _hermes_patch,
}


def _text(values: Mapping[str, object], key: str) -> str:
    value = values.get(key)
    return value if isinstance(value, str) else ""
