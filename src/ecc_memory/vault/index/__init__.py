"""The derived index: what was parsed, kept between the calls of a process and between processes.

What holds, whatever happens:

- The files are the truth. Every call looks at every folder and at the state of every file (device,
  inode, size and both times). Only a file that is in the very state in which it was read, and that had
  been in it for longer than the clock's grain, is not read again (:mod:`ecc_memory.vault.scan`).
- Answers do not depend on the index, only their speed does. It may be missing, damaged, locked,
  read-only, from another version or in the way of a full disk (:mod:`ecc_memory.vault.index.store`).
- It is in the user's cache folder, private to the user, and may be deleted at any time.
- Nothing is done between calls, and saving does not touch it.
- A count for a reminder reads the short rows beside the long ones (:mod:`ecc_memory.vault.tally`).

Three things are kept. A process keeps the *views* that its last scan left. The *store* keeps them for
the next process. A process that searches again builds a *lexicon* from them, so that it need not look at
every text (:mod:`ecc_memory.vault.index.lexicon`).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ecc_memory.vault.judge import Document
from ecc_memory.vault.limits import Limits
from ecc_memory.vault.roots import Place
from ecc_memory.vault.scan import FolderView, Scan, Views, scan
from ecc_memory.vault.search import Corpus, Documents

if TYPE_CHECKING:
    from ecc_memory.vault.index.lexicon import Lexicon
    from ecc_memory.vault.index.store import Row, Store

LEAST_DOCUMENTS = 200
"""A scope with fewer gets no store: it is read before SQLite is loaded."""

_PAUSE = 60.0  # seconds before a store that could not be written is tried again
_NO_VIEW = FolderView()


@dataclass
class _Scope:
    """What is known of a scope, what the store holds of that, and when to write there at the earliest."""

    views: Views
    stored: Views
    not_before: float = 0.0
    lexicon: Lexicon | None = None


class Index:
    """The index of one vault in one process, for one thread at a time.

    Args:
        folder: where the stores are, or would be; None when that is not known.
        wanted: False to look at every file in every call and to keep nothing.
    """

    def __init__(self, folder: str | None, *, wanted: bool) -> None:
        self._folder = folder
        self._wanted = wanted
        self._scopes: dict[str, _Scope] = {}
        self._searched = False

    def scan(self, places: Sequence[Place], limits: Limits) -> Scan:
        """Scan as :func:`ecc_memory.vault.scan.scan` does, but read only what has changed."""
        if not self._wanted:
            return scan(places, limits)
        for place in places:
            if place.scope not in self._scopes:
                views = self._load(place)
                self._scopes[place.scope] = _Scope(views, views)
        known = {place.scope: self._scopes[place.scope].views for place in places}
        found = scan(places, limits, known=known)
        for place in places:
            scope, seen = self._scopes[place.scope], found.views[place.scope]
            scope.views = {**scope.views, **seen} if found.truncated else seen
            self._keep(place, scope, least=LEAST_DOCUMENTS)
        return found

    def corpora(self, found: Scan) -> Sequence[Corpus]:
        """What there is to search after a scan.

        One search costs less without a lexicon than with a new one, so the first has none.
        """
        if found.truncated or not self._searched:
            self._searched = self._wanted
            return [Documents(found.documents)]
        return [self._lexicon(scope) for scope in found.views]

    def rebuild(
        self, place: Place, limits: Limits, advance: Callable[[int], object] = lambda _: None
    ) -> bool:
        """Forget a scope, read it anew and store it whatever its size.

        Args:
            place: the scope.
            limits: the bounds.
            advance: told how many files were read, or rows written, since it was last told.

        Returns:
            Whether it could be stored.
        """
        self.drop(place)
        found = scan([place], limits, advance=advance)
        scope = self._scopes[place.scope] = _Scope(found.views[place.scope], {})
        return self._keep(place, scope, least=0, advance=advance)

    def drop(self, place: Place) -> bool:
        """Delete a scope's store and forget the scope; True when there was a store.

        Raises:
            OSError: it cannot be deleted.
        """
        self._scopes.pop(place.scope, None)
        store = self.store(place)
        return store is not None and store.drop()

    def store(self, place: Place) -> Store | None:
        """The store of a scope, whether it exists or not; None when there is no place for it."""
        if self._folder is None:
            return None
        from ecc_memory.vault.index.store import Store

        return Store(self._folder, place.path, place.scope)

    def _load(self, place: Place) -> Views:
        if self._folder is None or not os.path.isdir(self._folder):
            return {}  # before anything is imported
        store = self.store(place)
        return store.load() if store is not None else {}

    def _keep(
        self,
        place: Place,
        scope: _Scope,
        *,
        least: int,
        advance: Callable[[int], object] = lambda _: None,
    ) -> bool:
        """Bring the store up to date, if that is worth it; whether it is now."""
        gone, new = list(_rows(scope.stored, scope.views)), list(_rows(scope.views, scope.stored))
        if not gone and not new:
            scope.stored = scope.views
            return True
        now = time.monotonic()
        if now < scope.not_before or (not scope.stored and len(new) < least):
            return False
        store = self.store(place)
        paths = [path for path, _ in gone]
        if store is not None and store.write(paths, new, whole=not scope.stored, advance=advance):
            scope.stored = scope.views
            return True
        scope.not_before = now + _PAUSE
        return False

    def _lexicon(self, name: str) -> Lexicon:
        from ecc_memory.vault.index.lexicon import Lexicon

        scope = self._scopes[name]
        if scope.lexicon is None:
            scope.lexicon = Lexicon()
        scope.lexicon.follow(scope.views)
        return scope.lexicon


def _rows(views: Views, others: Views) -> Iterator[Row]:
    """The documents of ``views`` that ``others`` does not know in the same state."""
    for folder, view in views.items():
        other = others.get(folder, _NO_VIEW)
        if other is view:
            continue
        for name, entry in view.entries.items():
            storable = entry.state is not None and isinstance(entry.outcome, Document)
            if storable and other.entries.get(name) is not entry:
                yield os.fsencode(f"{folder}/{name}"), entry
