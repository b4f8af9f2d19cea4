"""What adapters say about a harness: frozen dataclasses, no behaviour.

An adapter *describes* (this module), the host *does* (:mod:`ecc_memory.install`). Nothing here
imports pluggy, so that an adapter's description can be built and tested without a host.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

Level = Literal["user", "project"]
"""``user``: once for all projects of this person. ``project``: files inside one repository."""

Part = Literal["rules", "mcp", "skill", "reminders"]
"""What an artifact is for; ``install`` can leave parts out (``--no-rules`` and so on)."""

ConfigFormat = Literal["json", "jsonc", "toml", "yaml"]
"""``json`` is strict (the harness rejects comments), ``jsonc`` has comments and trailing commas."""

SERVER_NAME = "ecc-memory-vault"
"""The key of our MCP server in every harness's configuration."""

SKILL_NAME = "unified-memory"
"""The name, and the folder, of our skill in every harness."""

_SLUG = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}\Z")


@dataclass(frozen=True)
class Harness:
    """Who a harness is and what it can carry.

    Args:
        slug: ``[a-z0-9][a-z0-9._-]{0,63}``; also the identity its server writes memories under.
        name: what people call it.
        levels: the levels it has, with the parts each can hold. A level that is absent is
            refused with ``level_notes[level]``.
        level_notes: why a level is missing, or what a person should know about it.
        whole_environment: whether it gives a server its whole environment, so that a variable set
            in the shell reaches the server without being written or forwarded.
    """

    slug: str
    name: str
    levels: Mapping[Level, frozenset[Part]]
    level_notes: Mapping[Level, str] = field(default_factory=dict)
    whole_environment: bool = False

    def __post_init__(self) -> None:
        if not _SLUG.match(self.slug):
            raise ValueError(f"harness slug {self.slug!r} is not of the form {_SLUG.pattern}")


@dataclass(frozen=True)
class Surroundings:
    """What an adapter may look at: where the person's files are and what is set.

    Args:
        home: the home folder, absolute.
        env: the environment; adapters read their harness's own overrides from it
            (``CODEX_HOME``, ``CLAUDE_CONFIG_DIR``, ...), never from ``os.environ``.
        project_root: the repository root for project level, else None.
    """

    home: Path
    env: Mapping[str, str]
    project_root: Path | None = None


@dataclass(frozen=True)
class Detection:
    """Whether a harness is on this machine.

    Args:
        found: True when its program or its config home exists.
        config_home: where its user-level configuration lives (it need not exist).
        executable: absolute path of its program, if it is on PATH.
    """

    found: bool
    config_home: Path
    executable: Path | None = None


@dataclass(frozen=True)
class InstallRequest:
    """Everything an adapter needs to describe the artifacts of one installation.

    Args:
        level: the level to install at.
        where: home, environment and project root.
        parts: the parts that were asked for.
        server_command: what starts the server: an absolute path at user level, the bare
            command name at project level (it travels through git).
        server_env: variables the server must be given, in order: always ``ECC_MEMORY_HARNESS``;
            ``ECC_MEMORY_READ_ONLY`` for a reader; at user level the user-root override,
            ``ECC_MEMORY_ALLOW_USER_SCOPE`` with ``--allow-user-scope`` and the project-root
            override with ``--pin-project-root``.
        forward_env: variables to forward by name where the harness can (Codex ``env_vars``).
        hook_command: what starts the reminder and guard runner, as an argument vector: absolute
            at user level, the bare command at project level.
        skill: the files of the skill, relative POSIX path -> bytes.
        rules: the rules snippet, ending in one newline, without markers.
        version: the version of ecc-memory that installs.
    """

    level: Level
    where: Surroundings
    parts: frozenset[Part]
    server_command: str
    server_env: Mapping[str, str]
    forward_env: tuple[str, ...]
    hook_command: tuple[str, ...]
    skill: Mapping[str, bytes]
    rules: str
    version: str


@dataclass(frozen=True)
class OwnedFile:
    """A file that is wholly ours. Uninstall deletes it if it still has our bytes."""

    part: Part
    path: Path
    content: bytes
    mode: int = 0o644


@dataclass(frozen=True)
class MarkedBlock:
    """A region between our two marker lines in a Markdown file that others write too.

    ``text`` is what stands between the markers and ends in one newline. Adapters that describe
    the same path and text share one block with several owners.
    """

    part: Part
    path: Path
    text: str


@dataclass(frozen=True)
class ConfigEntry:
    """One key and its value in a configuration file: ``key`` is the path from the root.

    ``absent_only`` marks a setting we supply only where the user has none (it is never a
    conflict and never replaces anything), such as the time a harness waits for servers.
    ``also_ours`` lists other values of the same key that count as our unedited entry, for
    harnesses that rewrite it in another spelling.
    """

    part: Part
    path: Path
    format: ConfigFormat
    key: tuple[str, ...]
    value: object
    absent_only: bool = False
    also_ours: tuple[object, ...] = ()


@dataclass(frozen=True)
class ListItem:
    """One element of a list in a configuration file, always appended last.

    ``key`` is the path of the list from the root; missing parents are created. The element is
    found again by structural equality, never by a substring. ``mark`` is a string that stands
    whole in the element and in no other, such as a hook's command: an element that differs but
    holds it is ours, edited.
    """

    part: Part
    path: Path
    format: ConfigFormat
    key: tuple[str, ...]
    item: object
    mark: str = ""


Artifact = OwnedFile | MarkedBlock | ConfigEntry | ListItem


@dataclass(frozen=True)
class Installation:
    """What one adapter wants at one level.

    Args:
        artifacts: in the order in which they are written.
        notes: short sentences the person should read (a trust prompt, a restart, a setting).
    """

    artifacts: tuple[Artifact, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class CommandCheck:
    """How the harness's own program can say whether it sees a part.

    The host runs ``argv`` (first element absolute) with a time limit, in ``cwd`` (default: the
    home folder) and with ``env`` over the current environment; the part is seen when ``expect``
    occurs in standard output. ``hint`` says what the person can do where it does not.
    """

    part: Part
    argv: tuple[str, ...]
    expect: str
    env: Mapping[str, str] = field(default_factory=dict)
    timeout: float = 15.0
    cwd: Path | None = None
    hint: str = ""
