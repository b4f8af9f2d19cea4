"""A home folder of a test's own, with a project in it, and the installer pointed at both."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path

from ecc_memory.harness.plugins import Adapter, Plugins
from ecc_memory.harness.types import Level
from ecc_memory.install import engine
from ecc_memory.install.engine import Outcome
from ecc_memory.install.request import Context, Options

SERVER = Path("/opt/ecc-memory/bin/ecc-memory-mcp")
"""The server program that entries written in tests name; it need not exist."""

Tree = dict[str, tuple[object, ...]]


class Home:
    """A person's files in a temporary folder.

    Args:
        path: the home folder, made if absent.
        adapters: the harnesses that can be installed.

    Attributes:
        path: the home folder.
        project: a repository below it.
        env: the environment the installer sees: ``HOME``, ``PATH`` and what a test adds.
        server: the server program that user-level entries name.
    """

    def __init__(self, path: Path, adapters: Iterable[Adapter]) -> None:
        self.path = Path(os.path.realpath(path))
        self.project = self.path / "work" / "project"
        (self.project / ".git").mkdir(parents=True, exist_ok=True)
        self.env: dict[str, str] = {"HOME": str(self.path), "PATH": os.defpath}
        self.server = SERVER
        self._plugins = Plugins(adapters)

    @property
    def context(self) -> Context:
        """Where the installer works: this home, inside the project."""
        return Context(self.path, self.env, self.project, self._plugins, self.server)

    def install(self, *slugs: str, dry_run: bool = False, **options: object) -> Outcome:
        """Install harnesses; ``options`` are those of :class:`~ecc_memory.install.request.Options`."""
        return engine.install(self.context, slugs, Options(**options), dry_run=dry_run)  # type: ignore[arg-type]

    def uninstall(
        self, *slugs: str, level: Level | None = None, force: bool = False, dry_run: bool = False
    ) -> Outcome:
        """Uninstall harnesses; none means all."""
        return engine.uninstall(self.context, slugs or None, level, force=force, dry_run=dry_run)

    def write(self, path: Path, data: bytes) -> Path:
        """Write a file, its folders included."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def tree(self, *, times: bool = False) -> Tree:
        """Return everything below home: kind and mode, a file's bytes, a link's target.

        Args:
            times: with a file's time of modification and inode, to tell whether it was written.
        """
        found: Tree = {}
        for folder, folders, files in os.walk(self.path):
            for name in folders + files:
                path = Path(folder, name)
                facts = path.lstat()
                key = str(path.relative_to(self.path))
                mode = stat.S_IMODE(facts.st_mode)
                if path.is_symlink():
                    found[key] = ("link", os.readlink(path))
                elif path.is_dir():
                    found[key] = ("folder", mode)
                elif not path.is_file():
                    found[key] = ("special", facts.st_mode)
                elif times:
                    found[key] = ("file", mode, path.read_bytes(), facts.st_mtime_ns, facts.st_ino)
                else:
                    found[key] = ("file", mode, path.read_bytes())
        return found
