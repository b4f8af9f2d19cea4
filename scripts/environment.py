"""Make a virtual environment for this checkout, or leave the one that is up to date alone.

    python scripts/environment.py run|test

``run`` holds ecc-memory and every adapter, ``test`` the same editable plus the tools of
requirements-dev.txt. Each lies in ``.venv-run`` or ``.venv-test`` of the checkout, or of the
folder that ECC_MEMORY_ENVIRONMENTS names. Prints the environment's ``bin`` folder on stdout
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
    """Make or update the environment named on the command line."""
    purpose = sys.argv[1]
    folder = Path(os.environ.get("ECC_MEMORY_ENVIRONMENTS") or ROOT) / f".venv-{purpose}"
    try:
        prepare(folder, purpose)
    except SetupError as error:
        sys.exit(f"Error: {error}")
    print(bin_folder(folder))


def prepare(folder: Path, purpose: str) -> None:
    """Bring the environment up to date; quick when it is already."""
    stamp, wanted = folder / STAMP, fingerprint(purpose)
    if is_alive(folder) and stamp.is_file() and stamp.read_text(encoding="ascii") == wanted:
        return
    if not is_alive(folder):
        say(f"making the virtual environment {folder}")
        create(folder)
    if purpose == "run":
        adapters = sorted(
            f"./{path.parent.relative_to(ROOT).as_posix()}" for path in ROOT.glob("adapters/*/pyproject.toml")
        )
        what = [".", *adapters]
    else:
        what = ["-r", "requirements-dev.txt"]
    say("installing into it (the first time takes a minute)")
    if not run([*pip_for(folder), *PIP_INSTALL, *what]):
        raise SetupError("pip could not install ecc-memory; its own message stands above")
    stamp.write_text(wanted, encoding="ascii")


def fingerprint(purpose: str) -> str:
    """Hash what decides whether the environment is still right: for ``run`` the sources too."""
    digest = hashlib.sha256(f"{sys.version_info[:2]} {ROOT}".encode())
    for path in inputs(purpose):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(ROOT)} {len(content)}\n".encode() + content)
    return digest.hexdigest()


def inputs(purpose: str) -> Iterator[Path]:
    """Yield the files that go into an environment, in a fixed order."""
    yield from sorted(
        [ROOT / "pyproject.toml", ROOT / "requirements-dev.txt", *ROOT.glob("adapters/*/pyproject.toml")]
    )
    if purpose == "run":
        for top in sorted([ROOT / "src", ROOT / "skills", *ROOT.glob("adapters/*/src")]):
            yield from sorted(p for p in top.rglob("*") if p.is_file() and p.suffix != ".pyc")


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
