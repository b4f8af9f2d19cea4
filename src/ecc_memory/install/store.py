"""Where receipts are kept, and the lock that lets one installer work at a time.

The folder is ``$XDG_STATE_HOME/ecc-memory``, by default ``~/.local/state/ecc-memory``, on macOS
too. It exists only while something is installed.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from ecc_memory.errors import InstallError
from ecc_memory.install.files import explained, look, missing_folders, require_regular, write
from ecc_memory.install.receipt import Receipts
from ecc_memory.install.receipt_json import dump, parse

try:
    import fcntl
except ImportError:  # not a POSIX system
    fcntl = None  # type: ignore[assignment]

_PATIENCE = 30.0
_PAUSE = 0.05
_LOCK = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
_LOCK |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


def state_folder(env: Mapping[str, str], home: Path) -> Path:
    """Return the folder of the receipts; a relative ``XDG_STATE_HOME`` counts as unset, as XDG says."""
    base = env.get("XDG_STATE_HOME", "")
    return (Path(base) if os.path.isabs(base) else home / ".local" / "state") / "ecc-memory"


class Store:
    """The receipts of one person.

    Args:
        folder: see :func:`state_folder`.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._file = folder / "receipts.json"
        self._lock = folder / "lock"
        self._made: list[Path] = []

    def load(self) -> Receipts:
        """Read the receipts; none is an empty set.

        Raises:
            InstallError: the file cannot be read, or is damaged.
        """
        view = look(self._file, links=False)
        if view.data is None:
            return Receipts()
        try:
            return parse(view.data).relocated()
        except ValueError as error:
            raise InstallError(
                "the record of what is installed is damaged or comes from a newer ecc-memory, so nothing is "
                "touched; restore it from a backup, upgrade, or move it away and uninstall what is then "
                "still recognised",
                detail=f"{self._file}: {error}",
            ) from error

    def save(self, receipts: Receipts) -> None:
        """Replace the receipts; an empty set removes the file.

        Folders that were once created for this store are among ``receipts.folders``; they go
        with the lock.

        Raises:
            InstallError: the system refused.
        """
        view = look(self._file, links=False)
        if not receipts.empty:
            data = dump(receipts)
            if data != view.data:
                write(view, data, mode=0o600)
            return
        above = set(map(str, self.folder.parents))
        self._made = sorted({*self._made, *(Path(made) for made in receipts.folders if made in above)})
        if view.data is not None:
            with explained("cannot be deleted", self._file):
                os.unlink(view.real)

    @contextlib.contextmanager
    def locked(self) -> Iterator[tuple[str, ...]]:
        """Keep other installers out; wait up to 30 seconds for one that is at work.

        Yields:
            The folders above the store that had to be created for it, topmost first.

        Raises:
            InstallError: another installer is still at work, or the system has no such lock.
        """
        with explained("cannot be written", self._lock):
            descriptor = self._acquire()
        try:
            yield tuple(str(folder) for folder in self._made)
        finally:
            unused = self._is_unused()
            try:
                if unused:
                    self._vanish()
            finally:
                os.close(descriptor)
            if unused and self._made and os.path.lexists(self.folder):
                self._hand_on()

    def _acquire(self) -> int:
        if fcntl is None:
            raise InstallError("installing needs file locks, which this system does not have")
        deadline = time.monotonic() + _PATIENCE
        while True:
            made = missing_folders(self.folder.parent)
            ours = not os.path.lexists(self.folder)
            os.makedirs(self.folder, mode=0o700, exist_ok=True)
            self._made = sorted({*self._made, *made})
            try:
                descriptor = os.open(self._lock, _LOCK, 0o600)
            except FileNotFoundError:  # another installer removed the folder just now
                continue
            except OSError:
                if ours:
                    self._remove_folders()
                raise
            if self._hold(descriptor):
                return descriptor
            if time.monotonic() > deadline:
                raise InstallError(
                    "another ecc memory install or uninstall is still running; wait for it, then try again",
                    detail=str(self._lock),
                )
            time.sleep(_PAUSE)

    def _hold(self, descriptor: int) -> bool:
        """Take the lock, or close it when another installer has it."""
        held = False
        try:
            require_regular(os.fstat(descriptor), self._lock)
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            held = self._is_current(descriptor)
        except BlockingIOError:
            pass
        finally:
            if not held:
                os.close(descriptor)
        return held

    def _is_current(self, descriptor: int) -> bool:
        """Whether the lock we hold is the file of that name, not one its last holder deleted."""
        try:
            return os.path.samestat(os.stat(self._lock), os.fstat(descriptor))
        except FileNotFoundError:
            return False

    def _is_unused(self) -> bool:
        try:
            os.lstat(self._file)
        except FileNotFoundError:
            return True
        except OSError:
            pass  # it may be there
        return False

    def _vanish(self) -> None:
        """Remove the lock, the folder and those made for it, now that nothing is installed."""
        with contextlib.suppress(OSError):
            os.unlink(self._lock)
        self._remove_folders()

    def _remove_folders(self) -> None:
        for folder in (self.folder, *reversed(self._made)):
            with contextlib.suppress(OSError):
                os.rmdir(folder)

    def _hand_on(self) -> None:
        """Let whoever works here now remember the folders that we made and could not remove."""
        with self.locked() as made:
            receipts = self.load()
            if not receipts.empty:
                self.save(replace(receipts, folders=tuple(dict.fromkeys((*made, *receipts.folders)))))
                self._made = []
