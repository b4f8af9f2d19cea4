"""Make a virtual environment for this checkout, or leave the one that is up to date alone.

    python scripts/environment.py NAME WHAT...

The environment is ``.venv-NAME`` in the checkout, or in the folder that ECC_MEMORY_ENVIRONMENTS
names; WHAT is given to ``pip install`` there. Prints the environment's ``bin`` folder on stdout
and every command it runs on stderr. Needs the standard library and either venv or pip.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STAMP = ".ecc-memory-stamp"
PIP_INSTALL = ["install", "-qq", "--disable-pip-version-check", "--no-input"]
NO_ENVIRONMENT = (
    "this Python can make no virtual environment (no venv, virtualenv or pip); install one of them, "
    "on Debian and Ubuntu with: apt install python3-venv"
)


class SetupError(Exception):
    """A step failed; the message is one line that says what to do."""


def main() -> None:
    """Make or update the environment that the command line describes."""
    name, *what = sys.argv[1:]
    folder = Path(os.environ.get("ECC_MEMORY_ENVIRONMENTS") or ROOT) / f".venv-{name}"
    try:
        prepare(folder, what)
    except SetupError as error:
        sys.exit(f"Error: {error}")
    print(bin_folder(folder))


def prepare(folder: Path, what: list[str]) -> None:
    """Bring the environment up to date; quick when it is already."""
    stamp, wanted = folder / STAMP, fingerprint(what)
    alive = is_alive(folder)
    if alive and stamp.is_file() and stamp.read_text(encoding="ascii") == wanted:
        return
    if not alive:
        say(f"making the virtual environment {folder}")
        create(folder)
    say("installing into it (the first time takes a minute)")
    if not run([*pip_for(folder), *PIP_INSTALL, *what]):
        raise SetupError("pip could not install what is needed; its own message stands above")
    stamp.write_text(wanted, encoding="ascii")


def fingerprint(what: list[str]) -> str:
    """Hash what decides whether an environment is still right."""
    digest = hashlib.sha256(repr((sys.version_info[:2], str(ROOT), what)).encode())
    for path in inputs(what):
        content = path.read_bytes()
        digest.update(f"{path} {len(content)}\n".encode() + content)
    return digest.hexdigest()


def inputs(what: list[str]) -> Iterator[Path]:
    """Yield what is installed: declarations always, and the sources of what is copied from here."""
    yield from sorted(
        [*ROOT.glob("*.toml"), *ROOT.glob("requirements*.txt"), *ROOT.glob("adapters/*/*.toml")]
    )
    for folder in (ROOT / each for each in what if (ROOT / each).is_dir()):
        for top in (folder / "src", folder / "skills"):
            yield from sorted(path for path in top.rglob("*") if path.is_file() and path.suffix != ".pyc")


def create(folder: Path) -> None:
    """Make an empty environment by the first way that works on this machine."""
    shutil.rmtree(folder, ignore_errors=True)
    if has("venv"):
        if has("ensurepip") and run([sys.executable, "-m", "venv", str(folder)]) and is_alive(folder):
            return
        # Debian leaves ensurepip out; the pip outside can then install into the environment.
        if outer_pip_reaches_in() and run(
            [sys.executable, "-m", "venv", "--clear", "--without-pip", str(folder)]
        ):
            return
    if has("virtualenv") and run([sys.executable, "-m", "virtualenv", "--quiet", str(folder)]):
        return
    if has("pip"):
        with tempfile.TemporaryDirectory() as borrowed:
            if run([sys.executable, "-m", "pip", *PIP_INSTALL, "--target", borrowed, "virtualenv"]) and run(
                [sys.executable, "-m", "virtualenv", "--quiet", str(folder)], PYTHONPATH=borrowed
            ):
                return
    shutil.rmtree(folder, ignore_errors=True)
    raise SetupError(NO_ENVIRONMENT)


def pip_for(folder: Path) -> list[str]:
    """Return the pip command that installs into the environment."""
    inside = str(bin_folder(folder) / "python")
    if run([inside, "-c", "import pip"], quiet=True):
        return [inside, "-m", "pip"]
    return [sys.executable, "-m", "pip", "--python", inside]


def outer_pip_reaches_in() -> bool:
    """Whether this Python's pip knows ``--python`` (since 22.3)."""
    return has("pip") and run(
        [sys.executable, "-m", "pip", "--python", sys.executable, "--version"], quiet=True
    )


def is_alive(folder: Path) -> bool:
    """Whether the environment's interpreter runs (its Python may be gone, the folder moved)."""
    inside = bin_folder(folder) / "python"
    version = f"import sys; sys.exit(sys.version_info[:2] != {sys.version_info[:2]})"
    return inside.exists() and run([str(inside), "-c", version], quiet=True)


def bin_folder(folder: Path) -> Path:
    """Return where the environment keeps its programs."""
    return folder / "bin"


def has(module: str) -> bool:
    """Whether this Python can import the module; distributors ship some of them in pieces."""
    return run([sys.executable, "-c", f"import {module}"], quiet=True)


def run(command: list[str], *, quiet: bool = False, **extra: str) -> bool:
    """Run a command in the checkout, showing it first, and say whether it succeeded."""
    if not quiet:
        say("$ " + shlex.join(command))
    # A user's pip setting "user = true" would make every install in an environment fail.
    env = {**os.environ, "PIP_USER": "0", "PIP_REQUIRE_VIRTUALENV": "0", **extra}
    output = subprocess.DEVNULL if quiet else 2  # stdout carries the result of this script alone
    try:
        return (
            subprocess.run(
                command,
                cwd=ROOT,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                check=False,
            ).returncode
            == 0
        )
    except OSError:
        return False


def say(text: str) -> None:
    """Tell the person at the terminal."""
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
