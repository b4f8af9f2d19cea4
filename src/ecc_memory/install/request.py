"""From what a person asked for to what an adapter is told."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from ecc_memory import __version__
from ecc_memory.errors import InstallError, UsageError
from ecc_memory.guidance import rules_snippet, skill_files
from ecc_memory.harness.plugins import Adapter, Plugins
from ecc_memory.harness.types import InstallRequest, Level, Part, Surroundings
from ecc_memory.install.environment import HOOK_PROGRAM, SERVER_PROGRAM, server_program
from ecc_memory.install.receipt import Owner
from ecc_memory.install.store import Store, state_folder
from ecc_memory.vault import Vault
from ecc_memory.vault.roots import home_folder

USER_ROOT = "ECC_MEMORY_USER_ROOT"
PROJECT_ROOT = "ECC_MEMORY_PROJECT_ROOT"
READ_ONLY = "ECC_MEMORY_READ_ONLY"
USER_SCOPE = "ECC_MEMORY_ALLOW_USER_SCOPE"
DRY_RUN = "ECC_DRY_RUN"
DEFAULT_PARTS: frozenset[Part] = frozenset({"rules", "mcp", "skill"})
ALL_PARTS: frozenset[Part] = frozenset(get_args(Part))


@dataclass(frozen=True)
class Options:
    """What a person asked for.

    Attributes:
        level: user or project.
        parts: what to install.
        read_only: install a reader, whose server cannot save.
        pin_project_root: write the project override into a user-level entry.
        adopt: take over foreign things under our name.
        force: write over our own things that someone edited.
        allow_user_scope: write into a user-level entry that its server opens the user scope.
    """

    level: Level = "user"
    parts: frozenset[Part] = DEFAULT_PARTS
    read_only: bool = False
    pin_project_root: bool = False
    adopt: bool = False
    force: bool = False
    allow_user_scope: bool = False


@dataclass(frozen=True)
class Context:
    """Where an installer works.

    Attributes:
        home: the person's home folder.
        env: the environment.
        cwd: where a project is looked for.
        plugins: the adapters.
        server: the server program written into user-level entries; None means the running
            installation's.
    """

    home: Path
    env: Mapping[str, str]
    cwd: Path
    plugins: Plugins
    server: Path | None = None

    @classmethod
    def current(cls) -> Context:
        """Return the context of this process.

        Raises:
            UsageError: ``HOME`` is no absolute path.
        """
        home = home_folder(os.environ)
        try:
            cwd = os.getcwd()
        except FileNotFoundError:
            cwd = os.path.join(os.sep, "nonexistent")
        return cls(Path(home), os.environ, Path(cwd), Plugins.load(os.environ))

    @property
    def store(self) -> Store:
        """The person's receipts."""
        return Store(state_folder(self.env, self.home))

    @property
    def dry_run(self) -> bool:
        """Whether ``ECC_DRY_RUN`` forbids every write."""
        return self.env.get(DRY_RUN, "").strip().lower() not in ("", "0", "false", "no")

    @property
    def vault(self) -> Vault:
        """The vault as this shell sees it."""
        return Vault.open(self.cwd, self.env, self.home)

    def surroundings(self, level: Level) -> Surroundings:
        """Return what an adapter may look at.

        Raises:
            InstallError: at project level, when there is no project here.
        """
        return Surroundings(self.home, self.env, self.project_root() if level == "project" else None)

    def project_root(self) -> Path:
        """Return the real path of the repository (or plain folder) that we are in.

        Raises:
            InstallError: that would be the home folder, the root of the file system, or is gone.
        """
        place = Vault.open(self.cwd, {}, self.home).place("team")
        if place.refusal is not None:
            raise InstallError(
                "there is no project here; change to a project folder, or use the user level",
                detail=place.anchor,
            )
        return Path(place.anchor)


def require_level(adapter: Adapter, level: Level) -> None:
    """Refuse a level that a harness does not have.

    Raises:
        InstallError: it does not; the message gives the adapter's reason.
    """
    harness = adapter.harness
    if level not in harness.levels:
        reason = harness.level_notes.get(level, "its adapter describes none")
        raise InstallError(f"{harness.name} has no {level} level: {reason}")


def owner_of(slug: str, level: Level, where: Surroundings) -> Owner:
    """Return who the artifacts of a harness at one level belong to."""
    return Owner(slug, level, str(where.project_root) if level == "project" else "")


def build_request(
    context: Context, adapter: Adapter, where: Surroundings, options: Options
) -> InstallRequest:
    """Return what the adapter is told.

    Raises:
        UsageError: an override is unusable, or an option makes no sense at this level.
        InstallError: the running installation has no usable server program.
    """
    supported = adapter.harness.levels[options.level]
    user = options.level == "user"
    folder = (context.server or server_program()).parent if user else None
    server = str(context.server or folder / SERVER_PROGRAM) if folder else SERVER_PROGRAM
    hook = str(folder / HOOK_PROGRAM) if folder else HOOK_PROGRAM
    env, forward = _server_env(context, adapter.harness.slug, options)
    return InstallRequest(
        level=options.level,
        where=where,
        parts=options.parts & supported,
        server_command=server,
        server_env=env,
        forward_env=forward,
        hook_command=(hook,),
        skill=skill_files(),
        rules=rules_snippet(read_only=options.read_only),
        version=__version__,
    )


def _server_env(context: Context, slug: str, options: Options) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the variables that the server is given, and those forwarded by name.

    A harness may pass a server only a few variables of its own, so the overrides that decide
    which vault it sees are written or forwarded. A project's entry travels through git and
    holds neither.
    """
    env = {"ECC_MEMORY_HARNESS": slug}
    if options.read_only:
        env[READ_ONLY] = "1"
    if options.level == "project":
        for option, wanted in (
            ("--pin-project-root", options.pin_project_root),
            ("--allow-user-scope", options.allow_user_scope),
        ):
            if wanted:
                raise UsageError(f"{option} is for --user; a project's entry travels through git")
        return env, ()
    if options.allow_user_scope:
        env[USER_SCOPE] = "1"
    user, project = context.vault.place("user"), context.vault.place("project")
    forward = []
    if user.origin == USER_ROOT:
        env[USER_ROOT] = user.path
    else:
        forward.append(USER_ROOT)
    if not options.pin_project_root:
        forward.append(PROJECT_ROOT)
    elif project.origin == PROJECT_ROOT:
        env[PROJECT_ROOT] = project.anchor
    else:
        raise UsageError(f"--pin-project-root needs {PROJECT_ROOT} to be set to the folder that is meant")
    return env, tuple(forward)
