"""Real programs, each run with a home of its own; a program that is not there is a skipped test."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from .person import Person
from .sessions import QUIET

PREPARE = "python tests/harnesses/prepare.py --into DIR, then set ECC_MEMORY_HARNESS_PROGRAMS=DIR"


def program_folder(name: str) -> Path:
    """Find the folder of a harness's program, or skip the test with what to do about it."""
    prepared = os.environ.get("ECC_MEMORY_HARNESS_PROGRAMS", "").strip()
    if prepared:
        folders = [str(Path(prepared) / inner) for inner in ("node_modules/.bin", "hermes/bin")]
        found = shutil.which(name, path=os.pathsep.join(folders))
    else:
        found = shutil.which(name)
    if found is None:
        pytest.skip(f"the program {name} is not here: {PREPARE}")
    return Path(found).parent


def new_person(folder: Path, names: tuple[str, ...]) -> Person:
    """Give a person with a fresh home and a repository in it, and the programs of these names."""
    programs = tuple(dict.fromkeys(program_folder(name) for name in names))
    home = folder / "home"
    project = home / "src" / "repo"
    project.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    return Person(home, project, programs, {**QUIET["claude"], **QUIET["opencode"]})


@pytest.fixture
def person(tmp_path: Path, request: pytest.FixtureRequest) -> Person:
    """A person with the programs that the test names: ``@pytest.mark.harness("codex", ...)``."""
    return new_person(tmp_path, request.node.get_closest_marker("harness").args)


@pytest.fixture(scope="session")
def people(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Person]:
    """Give new people with the programs that are named, for what several tests build on."""
    return lambda *names: new_person(tmp_path_factory.mktemp("person"), names)
