"""Folders and files below a scope's anchor, reached through directory descriptors only.

A path that was checked and is then opened by name can be exchanged in between. So every
folder is opened relative to its parent's descriptor with ``O_NOFOLLOW | O_DIRECTORY``, and
every file relative to its folder's: swapping a parent for a symbolic link while we work
changes nothing about where we read and write.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from types import TracebackType

from ecc_memory.errors import MemoryExists, VaultIO, VaultUnsafe

TEMPORARY_PREFIX = ".ecc-tmp-"
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# O_NONBLOCK so that a FIFO named like a document cannot hold us up.
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_TEMPORARY = re.compile(rf"{re.escape(TEMPORARY_PREFIX)}[0-9a-f]{{32}}\Z")
_ABANDONED = 3600.0  # seconds
_MOST_SWEPT = 1000
_NO_HARD_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS}


FileState = tuple[int, ...]
"""What tells whether a file is still the one that was read."""

file_state: Callable[[os.stat_result], FileState] = attrgetter(
    "st_dev", "st_ino", "st_size", "st_mtime_ns", "st_ctime_ns"
)
"""Return device, inode, size, time of the last change of the content and of the inode, in ns."""


class NotRegular(VaultUnsafe):
    """A name leads to a link, folder, FIFO or device where a regular file is needed."""


class Folder:
    """An open folder. Use as a context manager; ``path`` is for messages only."""

    def __init__(self, fd: int, path: str) -> None:
        self.fd = fd
        self.path = path

    @classmethod
    def open(cls, path: str) -> Folder | None:
        """Open an anchor, whose own path was made absolute and resolved before.

        Returns:
            None when it does not exist.

        Raises:
            VaultUnsafe: something that is no folder is in the way.
            VaultIO: the operating system refused.
        """
        try:
            return cls(os.open(path, _FOLDER), path)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _folder_error(error, path) from error

    @classmethod
    def make(cls, path: str) -> Folder:
        """Open an anchor, made with mode 0700 where it is missing, and so are folders above it."""
        folder = cls.open(path)
        if folder is not None:
            return folder
        with cls.make(os.path.dirname(path)) as parent:
            return parent.make_child(os.path.basename(path))

    def child(self, name: str) -> Folder | None:
        """Open a folder in this folder without following a link; as :meth:`open` otherwise."""
        path = os.path.join(self.path, name)
        try:
            return Folder(os.open(name, _FOLDER, dir_fd=self.fd), path)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _folder_error(error, path) from error

    def make_child(self, name: str) -> Folder:
        """Open a folder in this folder, made with mode 0700 where it is missing."""
        folder = self.child(name)
        if folder is not None:
            return folder
        path = os.path.join(self.path, name)
        try:
            os.mkdir(name, 0o700, dir_fd=self.fd)
            os.fsync(self.fd)
        except FileExistsError:
            pass  # somebody else was quicker, which is as good
        except OSError as error:
            raise _io_error("a folder of the vault cannot be created", error, path) from error
        folder = self.child(name)
        if folder is None:
            raise VaultIO("a folder of the vault vanished as soon as it was made; try again", detail=path)
        return folder

    def descend(self, names: tuple[str, ...]) -> Folder | None:
        """Open the folder at the end of ``names``, None where one is missing; this one stays open."""
        folder: Folder | None = self._again()
        for name in names:
            if folder is None:
                return None
            with folder:
                folder = folder.child(name)
        return folder

    def make_path(self, names: tuple[str, ...]) -> Folder:
        """Open the folder at the end of ``names``, made where missing; this one stays open."""
        folder = self._again()
        for name in names:
            with folder:
                folder = folder.make_child(name)
        return folder

    def _again(self) -> Folder:
        try:
            return Folder(os.dup(self.fd), self.path)
        except OSError as error:
            raise _io_error("a folder of the vault cannot be opened", error, self.path) from error

    def entries(self, most: int) -> tuple[list[os.DirEntry[str]], bool]:
        """List the folder in no particular order, at most ``most`` entries; True when there are more."""
        found: list[os.DirEntry[str]] = []
        try:
            with os.scandir(self.fd) as listing:
                for entry in listing:
                    if len(found) == most:
                        return found, True
                    found.append(entry)
        except OSError as error:
            raise _io_error("a folder cannot be listed", error, self.path) from error
        return found, False

    def lists(self, names: Sequence[str], states: Sequence[FileState | None]) -> bool:
        """Whether the folder lists just these names, in this order, in these states.

        Nothing of the listing is kept, which for a hundred thousand files is much of the time.
        """
        count = 0
        try:
            with os.scandir(self.fd) as listing:
                for name, state, entry in zip(names, states, listing, strict=False):
                    if entry.name != name or file_state(entry.stat(follow_symlinks=False)) != state:
                        return False
                    count += 1
                return count == len(names) and next(listing, None) is None
        except OSError:
            return False  # whoever looks closer will see what it is

    def holds(self, name: str) -> bool:
        """Whether the folder has an entry of that name, of whatever type."""
        try:
            os.stat(name, dir_fd=self.fd, follow_symlinks=False)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise _io_error("a name cannot be looked up", error, os.path.join(self.path, name)) from error
        return True

    def read(self, name: str, most: int) -> tuple[bytes, os.stat_result]:
        """Read a regular file whole.

        Args:
            name: the file's name in this folder.
            most: bound in bytes; one byte more than this is returned when the file is larger.

        Raises:
            FileNotFoundError: there is no such file.
            NotRegular: it is a link, folder, FIFO or device.
            VaultIO: it cannot be read, or it kept changing while it was read.
        """
        path = os.path.join(self.path, name)
        for _ in range(3):
            try:
                fd = os.open(name, _READ, dir_fd=self.fd)
            except FileNotFoundError:
                raise
            except OSError as error:
                if error.errno in (errno.ELOOP, errno.ENXIO, errno.EMLINK):
                    raise NotRegular("it is not a regular file", detail=path) from error
                raise _io_error("it cannot be opened", error, path) from error
            try:
                before = os.fstat(fd)
                if not stat.S_ISREG(before.st_mode):
                    raise NotRegular("it is not a regular file", detail=path)
                data = _read_at_most(fd, most + 1)
                after = os.fstat(fd)
            except OSError as error:
                raise _io_error("it cannot be read", error, path) from error
            finally:
                os.close(fd)
            if file_state(before) == file_state(after):
                return data, after
        raise VaultIO("it keeps changing while it is read; try again", detail=path)

    def publish(self, name: str, data: bytes) -> None:
        """Create a file with its whole content or not at all; never replace one.

        Write to a hidden temporary file, flush it, link it to ``name``, flush the folder, read the
        result back, remove the temporary.

        Raises:
            MemoryExists: ``name`` exists, whatever it is.
            VaultIO: the operating system refused; nothing of ours is left under ``name``.
        """
        path = os.path.join(self.path, name)
        temporary = f"{TEMPORARY_PREFIX}{os.urandom(16).hex()}"
        try:
            self._write_new(temporary, data)
            self._link(temporary, name)
            try:
                os.fsync(self.fd)
                self._verify(name, data)
            except BaseException:
                self._remove(name)
                raise
        except FileExistsError as error:
            raise MemoryExists("a file of that name exists; nothing was overwritten", detail=path) from error
        except OSError as error:
            raise _io_error("nothing was saved", error, path) from error
        finally:
            self._remove(temporary)

    def sweep(self) -> None:
        """Remove temporary files that nobody can be writing any more.

        Ours are regular files of this user with a name that we draw, and a save that is at work
        for an hour has lost. Of a large folder only a part is looked at.
        """
        try:
            for entry in self.entries(_MOST_SWEPT)[0]:
                if _TEMPORARY.match(entry.name) and _is_abandoned(entry.stat(follow_symlinks=False)):
                    self._remove(entry.name)
        except (OSError, VaultIO):
            pass  # somebody else was quicker, or the folder cannot be listed, which is for the doctor to say

    def _link(self, temporary: str, name: str) -> None:
        try:
            os.link(temporary, name, src_dir_fd=self.fd, dst_dir_fd=self.fd, follow_symlinks=False)
        except OSError as error:
            if error.errno not in _NO_HARD_LINKS:
                raise
            problem = "nothing was saved: this file system has no hard links"
            raise _io_error(problem, error, os.path.join(self.path, name)) from error

    def _verify(self, name: str, data: bytes) -> None:
        path = os.path.join(self.path, name)
        try:
            found = self.read(name, len(data))[0]
        except (FileNotFoundError, NotRegular) as error:
            raise VaultIO(
                "nothing was saved: somebody exchanged the file at this moment", detail=path
            ) from error
        if found != data:
            raise VaultIO(
                "nothing was saved: the file reads back differently from what was written", detail=path
            )

    def _write_new(self, name: str, data: bytes) -> None:
        fd = os.open(name, _CREATE, 0o600, dir_fd=self.fd)
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(fd, view) :]
            os.fsync(fd)
        finally:
            os.close(fd)

    def _remove(self, name: str) -> None:
        try:
            os.unlink(name, dir_fd=self.fd)
        except OSError:
            pass  # a leftover is hidden, harmless, and named by the doctor

    def close(self) -> None:
        """Close the descriptor."""
        os.close(self.fd)

    def __enter__(self) -> Folder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _is_abandoned(facts: os.stat_result) -> bool:
    age = time.time() - max(facts.st_mtime, facts.st_ctime)
    return stat.S_ISREG(facts.st_mode) and facts.st_uid == os.geteuid() and age > _ABANDONED


def _read_at_most(fd: int, most: int) -> bytes:
    parts = list(_chunks(fd, most))
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _chunks(fd: int, most: int) -> Iterator[bytes]:
    while most > 0:
        chunk = os.read(fd, min(most, 1 << 17))
        if not chunk:
            return
        most -= len(chunk)
        yield chunk


def _folder_error(error: OSError, path: str) -> VaultUnsafe | VaultIO:
    # Linux answers ENOTDIR for O_DIRECTORY | O_NOFOLLOW on a link, other systems ELOOP or EMLINK.
    if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.EMLINK):
        return VaultUnsafe(
            "a folder of the vault is a symbolic link or not a folder; replace it by a real folder",
            detail=path,
        )
    return _io_error("a folder of the vault cannot be opened", error, path)


def _io_error(what: str, error: OSError, path: str) -> VaultIO:
    return VaultIO(f"{what}: {error.strerror or type(error).__name__}", detail=path)
