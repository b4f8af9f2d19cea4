"""Other people's configuration files: looked at once, replaced atomically, never harmed.

Links are followed here, unlike in the vault: a configuration that is a link into a dotfiles
repository stays one, and the file it leads to is edited. What cannot be replaced faithfully is
refused before anything is written.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import secrets
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ecc_memory.errors import InstallError

MAX_BYTES = 16 * 1024 * 1024
"""The largest file that is edited; real configuration is far below."""

_TEMPORARY = re.compile(r"\.ecc-memory-[0-9a-f]{16}\.tmp\Z")
_NO_WAIT = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_REASONS = {
    errno.ELOOP: "a link stands in its place",
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "the file would exceed the size limit of this process",
    errno.EROFS: "the file system is read-only",
    errno.EACCES: "permission is missing",
    errno.EPERM: "the operating system does not permit it",
}


@dataclass(frozen=True)
class View:
    """What stood at a path at one moment.

    Attributes:
        path: the path as an adapter names it.
        real: the same with every link followed; what is read and replaced.
        data: the bytes, None where there is no file.
        facts: mode, owner and number of names of the file, None where there is none.
    """

    path: Path
    real: Path
    data: bytes | None
    facts: os.stat_result | None

    @property
    def is_link(self) -> bool:
        """Whether the path's last component is a link."""
        return os.path.islink(self.path)


def digest(data: bytes | None) -> str | None:
    """Return the SHA-256 of a file's bytes, None for no file."""
    return None if data is None else hashlib.sha256(data).hexdigest()


def look(path: Path, *, links: bool = True) -> View:
    """Read what stands at a path.

    Args:
        path: the file.
        links: follow a link in its place; in its folders they are always followed.

    Raises:
        InstallError: it is a dangling link, a link loop, a folder, a special file, larger than
            16 MiB, or may not be read.
    """
    real = _resolve(path) if links else _resolve(path.parent) / path.name
    with explained("cannot be read", path):
        try:
            descriptor = os.open(real, os.O_RDONLY | _NO_WAIT | (0 if links else _NO_LINK))
        except FileNotFoundError:
            return View(path, real, None, None)
        except NotADirectoryError:
            raise InstallError("a folder on the way to the file is a file", detail=str(path)) from None
        try:
            facts = os.fstat(descriptor)
            require_regular(facts, path)
            with open(descriptor, "rb", closefd=False) as stream:
                return View(path, real, stream.read(MAX_BYTES + 1), facts)
        finally:
            os.close(descriptor)


def require_replaceable(view: View) -> None:
    """Refuse a file that could not be replaced with everything about it kept.

    Raises:
        InstallError: it is marked read-only, has several names (hard links), belongs to someone
            else, or its folder may not be written.
    """
    if view.facts is not None:
        with explained("cannot be read", view.path):
            facts = os.stat(
                view.real
            )  # again, for a temporary file of ours may have gone that was its second name
        if not facts.st_mode & 0o222 or not os.access(view.real, os.W_OK):
            raise InstallError(
                "the file is read-only; make it writable, or edit it by hand", detail=_where(view)
            )
        if facts.st_nlink > 1:
            raise InstallError(
                "the file has several names (hard links), and replacing it would separate them; "
                "edit it by hand",
                detail=_where(view),
            )
        if facts.st_uid != os.geteuid() and os.geteuid() != 0:
            raise InstallError("the file belongs to another user; edit it by hand", detail=_where(view))
    missing = missing_folders(view.real.parent)
    folder = missing[0].parent if missing else view.real.parent
    with explained("cannot be written", view.path):
        if not stat.S_ISDIR(os.stat(folder).st_mode):
            raise InstallError("a folder on the way to the file is a file", detail=str(folder))
        if not os.access(folder, os.W_OK | os.X_OK):
            raise InstallError("the folder may not be written to", detail=str(folder))


def missing_folders(folder: Path) -> list[Path]:
    """Return the folders that do not exist on the way to ``folder``, itself included, topmost first.

    Raises:
        InstallError: the system would not say.
    """
    missing: list[Path] = []
    with explained("cannot be looked up", folder):
        while True:
            try:
                os.lstat(folder)
            except (FileNotFoundError, NotADirectoryError):
                missing.insert(0, folder)
                folder = folder.parent
            else:
                return missing


def write(view: View, data: bytes, *, mode: int = 0o644) -> None:
    """Put ``data`` where ``view`` was taken, in one step that either happens or does not.

    A temporary file in the target's folder gets the bytes, the old file's mode, owner and
    extended attributes, and then its name. Folders on the way are created.

    Args:
        view: what stood there when the change was planned; a file that differs by now is refused.
        data: the new bytes.
        mode: the mode of a file that is new, lessened by the process's umask.

    Raises:
        InstallError: the file changed in the meantime, or the system refused, and nothing was changed;
            or it was written, and reading it again for comparison failed.
    """
    with explained("cannot be written", view.path):
        os.makedirs(view.real.parent, exist_ok=True)
        temporary = view.real.parent / f".ecc-memory-{secrets.token_hex(8)}.tmp"
        try:
            _fill(temporary, data, view, mode)
            require_unchanged(view)
            _name(temporary, view)
            _flush(view.real.parent)
        finally:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
    if look(view.path).data != data:
        raise InstallError("the file does not hold what was written to it", detail=_where(view))


def leftovers(folder: Path) -> list[Path]:
    """Return the temporary files that an installer left in a folder when it was killed, or is writing now."""
    try:
        names = sorted(filter(_TEMPORARY.match, os.listdir(folder)))
        facts = [(folder / name, os.lstat(folder / name)) for name in names]
    except OSError:
        return []
    return [path for path, one in facts if stat.S_ISREG(one.st_mode) and one.st_uid == os.geteuid()]


def sweep(folder: Path) -> None:
    """Delete the temporary files that a killed installer left; call it under the lock."""
    for path in leftovers(folder):
        with contextlib.suppress(OSError):
            os.unlink(path)


def delete(view: View) -> None:
    """Delete the file of ``view``.

    Raises:
        InstallError: the file changed in the meantime, or the system refused.
    """
    with explained("cannot be deleted", view.path):
        require_unchanged(view)
        os.unlink(view.real)


def put_back(before: View, ours: bytes | None) -> None:
    """Make a file what it was in ``before``, if it is still what we made of it.

    Args:
        before: what stood there.
        ours: the bytes that we wrote, or were about to write; None where we deleted it.

    Raises:
        InstallError: it changed since, or the system refused.
    """
    now = look(before.path)
    if now.data == before.data:
        return
    if now.data != ours:
        raise InstallError("another program changed the file since", detail=_where(before))
    if before.data is None:
        delete(now)
        return
    write(now, before.data, mode=0o600)
    if now.facts is None and before.facts is not None:
        with explained("cannot be restored", before.path):
            os.chown(before.real, before.facts.st_uid, before.facts.st_gid)
            os.chmod(before.real, stat.S_IMODE(before.facts.st_mode))


def require_unchanged(view: View) -> None:
    """Refuse to go on when the file is no longer what ``view`` saw.

    Raises:
        InstallError: its bytes differ, it came, or it went.
    """
    now = look(view.path)
    if now.real != view.real or now.data != view.data:
        raise InstallError(
            "another program changed the file at this moment; run the command again", detail=_where(view)
        )


@contextlib.contextmanager
def explained(what: str, path: Path) -> Iterator[None]:
    """Turn the operating system's refusal into an InstallError that names the file."""
    try:
        yield
    except OSError as error:
        reason = _REASONS.get(error.errno or 0, error.strerror or type(error).__name__)
        raise InstallError(f"a file {what}: {reason}", detail=str(path)) from error


def _where(view: View) -> str:
    return str(view.path) if view.path == view.real else f"{view.path}, which leads to {view.real}"


def _resolve(path: Path) -> Path:
    """Follow every link on the way; one that leads nowhere is refused, or we would create its target."""
    for place in (path, *path.parents):
        if os.path.islink(place):
            try:
                os.stat(place)
            except OSError as error:
                what = "goes round in a circle" if error.errno == errno.ELOOP else "leads nowhere"
                raise InstallError(
                    f"a link on the way to the file {what}; repair or remove the link", detail=str(place)
                ) from None
    with explained("cannot be looked up", path):  # a link may vanish while it is followed
        return Path(os.path.realpath(path))


def require_regular(facts: os.stat_result, path: Path) -> None:
    """Refuse what is no ordinary file of a sensible size.

    Raises:
        InstallError: it is a folder, a special file, or larger than 16 MiB.
    """
    if stat.S_ISDIR(facts.st_mode):
        raise InstallError("a folder stands where a file is expected; move it away", detail=str(path))
    if not stat.S_ISREG(facts.st_mode):
        raise InstallError("what stands there is no regular file; move it away", detail=str(path))
    if facts.st_size > MAX_BYTES:
        raise InstallError("the file is larger than 16 MiB, which no configuration is", detail=str(path))


def _fill(temporary: Path, data: bytes, view: View, mode: int) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK
    descriptor = os.open(temporary, flags, mode if view.facts is None else 0o600)
    with open(descriptor, "wb") as stream:
        stream.write(data)
        stream.flush()
        if view.facts is not None:
            _copy_facts(view, temporary, descriptor)
        os.fsync(descriptor)


def _copy_facts(view: View, temporary: Path, descriptor: int) -> None:
    facts = view.facts
    if facts is None:
        return
    ours = os.fstat(descriptor)
    if (ours.st_uid, ours.st_gid) != (facts.st_uid, facts.st_gid):
        os.fchown(descriptor, facts.st_uid, facts.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(facts.st_mode))
    if hasattr(os, "listxattr"):
        for name in os.listxattr(view.real):
            with contextlib.suppress(OSError):  # some belong to the system alone
                os.setxattr(temporary, name, os.getxattr(view.real, name))


def _flush(folder: Path) -> None:
    """Make sure that what has a name in the folder keeps it when the power fails."""
    descriptor = os.open(folder, os.O_RDONLY | _NO_WAIT)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _name(temporary: Path, view: View) -> None:
    """Give the temporary file its name; a file that appears where there was none wins."""
    if view.data is None:
        try:
            os.link(temporary, view.real)
        except FileExistsError:
            raise InstallError(
                "another program created the file at this moment; run the command again", detail=_where(view)
            ) from None
        except OSError as error:
            if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP):
                raise
        else:
            return
    os.replace(temporary, view.real)
