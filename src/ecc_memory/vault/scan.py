"""Looking at a whole vault, within bounds, without trusting anything in it.

A scan never fails because of one document: what cannot be vouched for becomes a
:class:`Problem`, and the callers decide what that means to them.

A scan may be given the views that an earlier one left (:class:`FolderView`). A file is then read
only if its state differs from the one it was read in, and the result is the same as without. That
holds because a state is kept only when both its times were older than the clock's grain when the
file was read: whatever changes the file afterwards leaves another state. (Git calls the other kind
"racily clean", and reads it again too.)
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ecc_memory.errors import VaultIO, VaultUnsafe
from ecc_memory.vault.document import MAX_DOCUMENT_BYTES
from ecc_memory.vault.judge import SUFFIX, Document, Problem, judge
from ecc_memory.vault.limits import MAX_FILES_VARIABLE, MAX_SCAN_BYTES_VARIABLE, Limits
from ecc_memory.vault.roots import Place
from ecc_memory.vault.tree import TEMPORARY_PREFIX, FileState, Folder, NotRegular, file_state

MAX_DEPTH = 8
_GRAIN_NS = 2_000_000_000  # FAT's, the coarsest clock a file system has


class Entry(NamedTuple):
    """What a file held when it was in a state; None for a state that proves nothing later on."""

    state: FileState | None
    outcome: Document | Problem
    size: int


@dataclass
class FolderView:
    """What was seen of one folder.

    Attributes:
        names: of everything in it, in the order in which the system lists it.
        states: theirs; None for what was gone before it could be looked at.
        settled: a listing with the same names and states has the same view.
        folders: the names of the folders to enter.
        symlinks: those that were not followed.
        leftovers: temporary files that an interrupted save left behind.
        entries: by file name, what was read.
        documents: the valid ones in the order of their names.
        problems: the others.
        size: bytes of both.
    """

    names: list[str] = field(default_factory=list)
    states: list[FileState | None] = field(default_factory=list)
    settled: bool = False
    folders: list[str] = field(default_factory=list)
    symlinks: list[Problem] = field(default_factory=list)
    leftovers: list[str] = field(default_factory=list)
    entries: dict[str, Entry] = field(default_factory=dict)
    documents: list[Document] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    size: int = 0

    def is_of(self, folder: Folder) -> bool:
        """Whether a folder would have this view now."""
        return self.settled and folder.lists(self.names, self.states)


Views = dict[str, FolderView]
"""A scope's folders by their path below its root."""

_NOTHING_KNOWN = FolderView()


@dataclass
class Scan:
    """What one pass over some scopes found; ``views`` is for the next pass, by scope."""

    documents: list[Document] = field(default_factory=list)
    invalid: list[Problem] = field(default_factory=list)
    symlinks: list[Problem] = field(default_factory=list)
    leftovers: list[str] = field(default_factory=list)
    entries: int = 0
    scanned_bytes: int = 0
    cut_by: str | None = None
    views: dict[str, Views] = field(default_factory=dict)

    @property
    def truncated(self) -> bool:
        """Whether a bound or an unreadable folder kept the scan from seeing everything."""
        return self.cut_by is not None

    @property
    def complete(self) -> bool:
        """Whether absence from this scan proves absence from the vault."""
        return not self.truncated and not self.invalid

    def visible_to(self, harness: str | None) -> list[Document]:
        """The documents that ``harness`` may see; all of them for None."""
        if harness is None:
            return self.documents
        return [document for document in self.documents if document.memory.targets(harness)]


def scan(
    places: Iterable[Place],
    limits: Limits,
    *,
    known: Mapping[str, Views] | None = None,
    advance: Callable[[int], object] | None = None,
) -> Scan:
    """Look at every document of the given scopes, within the bounds.

    A missing root is an empty scope. A folder's files are taken in the order of their names, then
    the folders in it.

    Args:
        places: the scopes.
        limits: the bounds over all of them.
        known: the views of an earlier scan, by scope.
        advance: called with 1 for each file that is read.
    """
    result = Scan()
    for place in places:
        views = (known or {}).get(place.scope, {})
        walk = _Walk(place.scope, limits, result, views, advance)
        try:
            root = open_root(place)
            if root is None:
                continue
            with root:
                walk.folder(root, ())
        except VaultUnsafe:
            message = "the way to the scope's folder holds a symbolic link or a file; put a real folder there"
            result.symlinks.append(Problem(f"{place.scope}:", "symlink", message))
            result.cut_by = result.cut_by or "a symbolic link or a file in place of a scope's folder"
        except VaultIO as error:
            result.invalid.append(Problem(f"{place.scope}:", "unreadable-folder", error.message))
            result.cut_by = result.cut_by or "an unreadable folder"
    return result


def open_root(place: Place) -> Folder | None:
    """Open a scope's root without following links below the anchor; None when it does not exist.

    Raises:
        VaultUnsafe: a link, or something that is no folder, is in the way.
        VaultIO: the operating system refused.
    """
    anchor = Folder.open(place.anchor)
    if anchor is None:
        return None
    with anchor:
        return anchor.descend(place.below)


class _Walk:
    """One scope's share of a scan."""

    def __init__(
        self,
        scope: str,
        limits: Limits,
        result: Scan,
        known: Views,
        advance: Callable[[int], object] | None,
    ) -> None:
        self.scope = scope
        self.limits = limits
        self.result = result
        self.known = known
        self.views = result.views.setdefault(scope, {})
        self.advance = advance

    def folder(self, folder: Folder, names: tuple[str, ...]) -> None:
        key = "/".join(names)
        old = self.known.get(key, _NOTHING_KNOWN)
        room = self.limits.files - self.result.entries
        more = False
        if self._room_for(old.size) and len(old.names) <= room and old.is_of(folder):
            view = old
        else:
            view, more = self._view(folder, names, old, room)
        self.views[key] = view
        self.result.entries += len(view.names)
        self.result.leftovers += view.leftovers
        self.result.symlinks += view.symlinks
        self.result.documents += view.documents
        self.result.invalid += view.problems
        self.result.scanned_bytes += view.size
        if more:
            self.result.cut_by = MAX_FILES_VARIABLE
        for name in view.folders:
            if self._is_full():
                return
            self._enter(folder, (*names, name))

    def _view(
        self, folder: Folder, names: tuple[str, ...], old: FolderView, room: int
    ) -> tuple[FolderView, bool]:
        """Look at a folder; True when it has more entries than there is room for."""
        began = time.time_ns()
        listing, more = folder.entries(room)
        view = FolderView([item.name for item in listing], _states(listing))
        view.settled = all(_is_settled(state, began) for state in view.states)
        self._look(folder, names, view, old.entries, self._sort_out(listing, names, view))
        return view, more

    def _sort_out(
        self, listing: list[os.DirEntry[str]], names: tuple[str, ...], view: FolderView
    ) -> list[str]:
        """Note what is no document; return the names of what should be one."""
        files = []
        for item in sorted(listing, key=lambda item: item.name):
            if item.name.startswith("."):
                if item.name.startswith(TEMPORARY_PREFIX):
                    view.leftovers.append(self._path((*names, item.name)))
            elif item.is_symlink():
                message = "symbolic links are not followed; replace it by the file itself, or remove it"
                view.symlinks.append(Problem(self._path((*names, item.name)), "symlink", message))
            elif item.is_dir(follow_symlinks=False):
                view.folders.append(item.name)
            elif item.name.endswith(SUFFIX):
                files.append(item.name)
        return files

    def _look(
        self,
        folder: Folder,
        names: tuple[str, ...],
        view: FolderView,
        known: Mapping[str, Entry],
        files: list[str],
    ) -> None:
        """Take a folder's files one by one, up to the bound; read those that are not as they were."""
        states = dict(zip(view.names, view.states, strict=True))
        for name in files:
            old = known.get(name)
            entry = old
            if old is None or old.state is None or old.state != states[name]:
                entry = self._read(folder, (*names, name), old)
            if entry is None:
                continue  # removed while we looked, so it is not there
            if not self._room_for(view.size + entry.size):
                self.result.cut_by = MAX_SCAN_BYTES_VARIABLE
                view.settled = False
                view.entries = {**known, **view.entries}
                return
            view.entries[name] = entry
            view.size += entry.size
            if entry.state is None:
                view.settled = False
            if isinstance(entry.outcome, Problem):
                view.problems.append(entry.outcome)
            else:
                view.documents.append(entry.outcome)

    def _enter(self, parent: Folder, names: tuple[str, ...]) -> None:
        if len(names) > MAX_DEPTH:
            self.result.cut_by = self.result.cut_by or f"folders deeper than {MAX_DEPTH}"
            return
        try:
            folder = parent.child(names[-1])
            if folder is not None:
                with folder:
                    self.folder(folder, names)
        except VaultUnsafe as error:
            self.result.symlinks.append(Problem(self._path(names), "symlink", error.message))
        except VaultIO as error:
            self.result.invalid.append(Problem(self._path(names), "unreadable-folder", error.message))
            self.result.cut_by = self.result.cut_by or "an unreadable folder"

    def _read(self, folder: Folder, names: tuple[str, ...], old: Entry | None) -> Entry | None:
        """Read and judge a file; None when there is none any more."""
        if self.advance is not None:
            self.advance(1)
        path = self._path(names)
        began = time.time_ns()
        try:
            data, status = folder.read(names[-1], MAX_DOCUMENT_BYTES)
        except FileNotFoundError:
            return None
        except (VaultIO, NotRegular) as error:
            return Entry(None, Problem(path, "unreadable", error.message), 0)
        memory = judge(data, self.scope, names, path)
        outcome = memory if isinstance(memory, Problem) else Document(memory, path, status.st_size)
        if old is not None and old.outcome == outcome:
            outcome = old.outcome  # the same object says that nothing has changed
        state = file_state(status)
        return Entry(state if _is_settled(state, began) else None, outcome, len(data))

    def _room_for(self, size: int) -> bool:
        return self.result.scanned_bytes + size <= self.limits.scan_bytes

    def _is_full(self) -> bool:
        return self.result.cut_by in (MAX_FILES_VARIABLE, MAX_SCAN_BYTES_VARIABLE)

    def _path(self, names: tuple[str, ...]) -> str:
        return shown_path(self.scope, os.fsencode("/".join(names)))


def _states(listing: list[os.DirEntry[str]]) -> list[FileState | None]:
    try:
        return [file_state(item.stat(follow_symlinks=False)) for item in listing]
    except OSError:
        return [_state_or_none(item) for item in listing]


def _state_or_none(item: os.DirEntry[str]) -> FileState | None:
    try:
        return file_state(item.stat(follow_symlinks=False))
    except OSError:
        return None


def _is_settled(state: FileState | None, now: int) -> bool:
    """Whether a change from now on would leave another state."""
    return state is not None and max(state[3], state[4]) + _GRAIN_NS < now


def shown_path(scope: str, below: bytes) -> str:
    """A document's path as the results show it: ``scope:folder/file``."""
    return f"{scope}:" + below.decode("utf-8", "replace")
