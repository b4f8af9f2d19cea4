"""What git makes of the project and team scopes. Asked by the doctor only, and of git itself.

A repository is not trusted: its configuration can name programs. The two commands used here read
the index and the ignore rules; what git could start on the way is switched off, and so are its
optional locks and the variables that point it elsewhere (git(1), git-config(1)).
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ecc_memory.vault.document import KINDS
from ecc_memory.vault.judge import SUFFIX, kind_folder
from ecc_memory.vault.publish import GITIGNORE_NAME
from ecc_memory.vault.results import Finding
from ecc_memory.vault.roots import PROJECT_ROOT_VARIABLE, Place

_SECONDS = 2.5  # for each of two questions
_OPTIONS = ("--no-pager", "--no-optional-locks")
_SETTINGS = ("core.fsmonitor=false", f"core.hooksPath={os.devnull}", "safe.bareRepository=explicit")
_ENVIRONMENT = {"GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0"}
_LONGEST_RULE = 80


class Rule(NamedTuple):
    """An ignore rule: the file it stands in, as git names it, the line, and what it says."""

    file: str
    line: str
    pattern: str


def findings_and_warnings(
    places: Iterable[Place], env: Mapping[str, str]
) -> tuple[list[Finding], list[Finding]]:
    """Say what git makes of those of the scopes that it has to do with.

    Args:
        places: the scopes.
        env: where to find git, and the user's settings of it. Any failure is silence.
    """
    scopes = {place.scope: place for place in places}
    return (
        _tracked_private_memory(scopes["project"], env) if "project" in scopes else [],
        _ignored_team_memory(scopes["team"], env) if "team" in scopes else [],
    )


def _tracked_private_memory(project: Place, env: Mapping[str, str]) -> list[Finding]:
    """Find files of the project scope that git has in its index, in spite of the ``.gitignore``."""
    listed = _ask(project, env, "--literal-pathspecs", "ls-files", "-z", "--", project.path)
    names = [name for name in _fields(listed) if os.path.basename(name) != GITIGNORE_NAME]
    if not names:
        return []
    count = "a file" if len(names) == 1 else f"{len(names)} files"
    message = f"git tracks {count} of the project scope, which is private: a push would publish it"
    where = "the repository's root"
    if project.origin == PROJECT_ROOT_VARIABLE:
        where = f"the folder that {PROJECT_ROOT_VARIABLE} names"
    repair = (
        f"Run git rm --cached -r {'/'.join(project.below)} in {where} and commit that; "
        "earlier commits still hold what they held."
    )
    return [Finding("tracked-private-memory", f"{project.scope}:", message, repair)]


def _ignored_team_memory(team: Place, env: Mapping[str, str]) -> list[Finding]:
    """Warn where a rule of the user's keeps what the team scope would hold out of version control."""
    if not os.path.isdir(team.path):
        return []
    rules = _ignoring(team, [f"{kind_folder(kind)}/mem_new{SUFFIX}" for kind in KINDS], env)
    if not rules:
        return []
    rule = rules[0]
    what = "the team scope" if len(rules) == len(KINDS) else "a part of the team scope"
    message = (
        f"git ignores {what}, so nobody else gets it: "
        f"{_shown(rule.file, env)}, line {rule.line} ({rule.pattern[:_LONGEST_RULE]})"
    )
    repair = "Narrow that rule to what it is meant for, or save to the project scope what is only yours."
    return [Finding("ignored-team-memory", f"{team.scope}:", message, repair)]


def _ignoring(place: Place, names: Iterable[str], env: Mapping[str, str]) -> list[Rule]:
    """Return the rules that ignore files of a scope, which need not exist."""
    paths = "\0".join(os.path.join(place.path, name) for name in names)
    fields = _fields(_ask(place, env, "check-ignore", "--no-index", "-v", "-z", "--stdin", said=paths))
    rules = [Rule(*fields[start : start + 3]) for start in range(0, len(fields) - 3, 4)]
    return [rule for rule in rules if not rule.pattern.startswith("!")]  # those take a file out again


def _ask(place: Place, env: Mapping[str, str], *arguments: str, said: str = "") -> bytes:
    """Run git where a scope is; nothing where that is no working tree, or git cannot tell."""
    program = _program(env)
    if program is None or place.refusal is not None or not _may_be_in_working_tree(place.anchor):
        return b""
    settings = [word for setting in _SETTINGS for word in ("-c", setting)]
    own = {name: value for name, value in env.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(
            [program, *_OPTIONS, *settings, "-C", place.anchor, *arguments],
            env={**own, **_ENVIRONMENT},
            input=os.fsencode(said),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_SECONDS,
            check=True,
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return b""  # check-ignore ends with 1 where no rule applies
    return done.stdout


def _program(env: Mapping[str, str]) -> str | None:
    """Find git in the absolute folders of the search path: a relative one may be the repository's."""
    folders = filter(os.path.isabs, env.get("PATH", os.defpath).split(os.pathsep))
    return shutil.which("git", path=os.pathsep.join(folders) or os.devnull)


def _may_be_in_working_tree(folder: str) -> bool:
    while not os.path.lexists(os.path.join(folder, ".git")):
        folder, below = os.path.dirname(folder), folder
        if folder == below:
            return False
    return True


def _fields(output: bytes) -> list[str]:
    return output.decode("utf-8", "replace").split("\0")[:-1]


def _shown(file: str, env: Mapping[str, str]) -> str:
    home = env.get("HOME", "")
    return f"~{file[len(home) :]}" if home and file.startswith(f"{home}/") else file
