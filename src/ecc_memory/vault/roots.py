"""Which folders hold the scopes: overrides, repositories, linked worktrees, the home folder.

The anchor of a scope (repository root, override or home) is resolved once, links included.
Everything below it is reached without following links (:mod:`ecc_memory.vault.tree`).
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from typing import NamedTuple

from ecc_memory.errors import UsageError

PROJECT_ROOT_VARIABLE = "ECC_MEMORY_PROJECT_ROOT"
USER_ROOT_VARIABLE = "ECC_MEMORY_USER_ROOT"
WORKING_DIRECTORY = "working directory"

_BELOW_ANCHOR = (".ecc", "memory")
_GONE = "/nonexistent"
_MOST_BYTES = 64 * 1024
_CORE_WORKTREE = re.compile(r"^\s*worktree\s*=\s*\"?(.*?)\"?\s*$", re.MULTILINE)


class Place(NamedTuple):
    """Where one scope lives and how that was decided.

    Attributes:
        scope: project, team or user.
        anchor: absolute, resolved folder; links above and at it were followed.
        below: folder names from the anchor to the scope's root; none of them may be a link.
        origin: what decided: a variable's name, "working directory" or "home".
        refusal: why nothing may be written here, None when writing is fine.
    """

    scope: str
    anchor: str
    below: tuple[str, ...]
    origin: str
    refusal: str | None = None

    @property
    def path(self) -> str:
        """The scope's root folder, absolute; for people, not for a model."""
        return os.path.join(self.anchor, *self.below)

    @property
    def name(self) -> str:
        """The last component of the anchor: says which vault without saying where."""
        return os.path.basename(self.anchor) or "/"


def home_folder(env: Mapping[str, str]) -> str:
    """Return the person's home folder: ``HOME``, or the user database's where that is unset or empty.

    A relative one would move the user scope and what is installed along with the working directory.

    Raises:
        UsageError: ``HOME`` is relative, or nothing says where the home folder is.
    """
    home = env.get("HOME") or _home_in_user_database()
    if not os.path.isabs(home):
        raise UsageError(
            "HOME must be an absolute path; set it to your home folder, or unset it", detail=f"HOME={home}"
        )
    return home


def _home_in_user_database() -> str:
    import pwd  # rarely needed

    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return ""


def resolve_places(
    cwd: str | os.PathLike[str] | None, env: Mapping[str, str], home: str, *, cwd_origin: str
) -> dict[str, Place]:
    """Decide where the three scopes live.

    Args:
        cwd: where the search for the repository starts; None means the process's folder.
        env: the environment with the two override variables.
        home: absolute home folder.
        cwd_origin: what ``cwd`` came from, for messages.

    Raises:
        UsageError: an override is neither absolute nor ``~/...``, or it puts the user scope and
            another into one another.
    """
    home = os.path.realpath(home)
    places: dict[str, Place] = {}
    override = _override(PROJECT_ROOT_VARIABLE, env, home)
    if override is not None:
        for scope in ("project", "team"):
            places[scope] = Place(scope, override, (scope,), PROJECT_ROOT_VARIABLE)
    else:
        checkout = _checkout(cwd)
        for scope, anchor in (("project", _main_checkout(checkout) or checkout), ("team", checkout)):
            refusal = _refusal(anchor, home, cwd_origin)
            places[scope] = Place(scope, anchor, (*_BELOW_ANCHOR, scope), cwd_origin, refusal)
    override = _override(USER_ROOT_VARIABLE, env, home)
    if override is not None:
        places["user"] = Place("user", override, (), USER_ROOT_VARIABLE)
    else:
        places["user"] = Place("user", home, _BELOW_ANCHOR, "home")
    for scope in ("project", "team"):
        _keep_apart(places[scope], places["user"])
    return places


def _override(variable: str, env: Mapping[str, str], home: str) -> str | None:
    value = env.get(variable, "").strip()
    if not value:
        return None
    if value == "~" or value.startswith("~/"):
        value = home + value[1:]
    if not os.path.isabs(value) or "\0" in value:
        raise UsageError(
            f"{variable} must be an absolute path or start with ~/; set it so, or unset it",
            detail=f"{variable}={value}",
        )
    return os.path.realpath(value)


def _keep_apart(place: Place, user: Place) -> None:
    """Raise UsageError where a scan of one scope would meet the other's documents.

    Where nothing may be written, and without an override, only the home folder can be meant.
    """
    variables = {PROJECT_ROOT_VARIABLE, USER_ROOT_VARIABLE} & {place.origin, user.origin}
    if not variables or place.refusal is not None:
        return
    if _is_seen_from(place.path, user.path) or _is_seen_from(user.path, place.path):
        raise UsageError(
            f"the folders of the {place.scope} scope and of the user scope lie in one another; "
            f"set {' or '.join(sorted(variables))} to another folder",
            detail=f"{place.path}, {user.path}",
        )


def _is_seen_from(below: str, above: str) -> bool:
    """Whether a scan of the folder ``above`` enters ``below``: hidden folders it does not."""
    return below == above or (below.startswith(f"{above}/") and "/." not in below[len(above) :])


def _checkout(cwd: str | os.PathLike[str] | None) -> str:
    """Return the nearest folder upward that holds ``.git``, else the folder itself."""
    try:
        start = os.path.realpath(os.getcwd() if cwd is None else cwd)
    except (OSError, ValueError):
        return _GONE
    folder = start
    while not os.path.lexists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return start
        folder = parent
    return folder


def _refusal(anchor: str, home: str, origin: str) -> str | None:
    what = f"the folder in {origin}" if origin.isupper() else f"the {origin}"  # a variable, or words
    if anchor == _GONE or not os.path.isdir(anchor):
        what += " does not exist"
    elif anchor == os.path.realpath("/"):
        what += " leads to the file system's root, which is not a project"
    elif anchor == home:
        what += " leads to the home folder, which is not a project"
    else:
        return None
    return (
        f"{what}, so project and team memories have no place; start in a project folder, "
        f"or set {PROJECT_ROOT_VARIABLE} to an absolute folder"
    )


def _main_checkout(checkout: str) -> str | None:
    """Return what a linked worktree shares with its siblings, None where there is nothing to share.

    A ``.git`` file alone proves nothing, since anyone can write one: git keeps a back-link in
    ``<common>/worktrees/<name>/gitdir`` (gitrepository-layout(5)), and both must agree. The
    shared folder is the main checkout, or for a bare repository the repository itself.
    """
    git_file = os.path.join(checkout, ".git")
    git_dir = _git_dir(checkout)
    if git_dir is None:
        return None
    back, common = (
        _read_pointer(os.path.join(git_dir, "gitdir")),
        _read_pointer(os.path.join(git_dir, "commondir")),
    )
    if back is None or common is None:
        return None
    if os.path.realpath(os.path.join(git_dir, back)) != os.path.realpath(git_file):
        return None
    common_dir = os.path.realpath(os.path.join(git_dir, common))
    if os.path.dirname(git_dir) != os.path.join(common_dir, "worktrees"):
        return None
    if os.path.basename(common_dir) == ".git":
        return os.path.dirname(common_dir)
    configured = _CORE_WORKTREE.search(_read_small(os.path.join(common_dir, "config")) or "")
    if configured is None:
        return common_dir
    submodule = os.path.realpath(os.path.join(common_dir, configured[1]))
    return submodule if _git_dir(submodule) == common_dir else None


def _git_dir(checkout: str) -> str | None:
    """Return the folder that a ``.git`` file names, None where ``.git`` is no such file."""
    pointer = _read_pointer(os.path.join(checkout, ".git"))
    if pointer is None or not pointer.startswith("gitdir:"):
        return None
    return os.path.realpath(os.path.join(checkout, pointer[len("gitdir:") :].strip()))


def _read_pointer(path: str) -> str | None:
    text = _read_small(path)
    return text.strip() if text and "\0" not in text else None


def _read_small(path: str) -> str | None:
    """Read a small regular file of git's; None when it is missing, special or too large."""
    try:
        fd = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    except (OSError, ValueError):
        return None
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return None
        data = os.read(fd, _MOST_BYTES)
    except OSError:
        return None
    finally:
        os.close(fd)
    return os.fsdecode(data)
