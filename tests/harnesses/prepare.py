"""Install the four real harnesses for the tests marked ``harness``.

    python tests/harnesses/prepare.py --into DIR
    ECC_MEMORY_HARNESS_PROGRAMS=DIR python -m pytest -m harness

Needs node with npm for Codex, Claude Code and OpenCode, and Python 3.11 or newer for Hermes. Takes
about 1.5 GB; nothing is written outside DIR but the caches of npm and pip.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

PROGRAMS = Path(__file__).parent / "programs"

INSTALL_SCRIPTS = (("@anthropic-ai/claude-code", "install.cjs"), ("opencode-ai", "postinstall.mjs"))
"""npm runs no package's own scripts here but these two, which put the native program in place."""


def main() -> None:
    """Read the command line and install."""
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("--into", type=Path, required=True, metavar="DIR")
    folder: Path = parser.parse_args().into.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    install_npm_programs(folder)
    install_hermes(folder)
    print(f"ECC_MEMORY_HARNESS_PROGRAMS={folder}")


def install_npm_programs(folder: Path) -> None:
    """Install just what ``programs/package-lock.json`` names into ``folder/node_modules``.

    The lock names no index to fetch from. Of OpenCode's programs for other systems than Linux on x86-64 it
    has no checksum: the index from which it was made did not have them.
    """
    for name in ("package.json", "package-lock.json"):
        shutil.copyfile(PROGRAMS / name, folder / name)
    subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=folder, check=True)
    env = {**os.environ, "HOME": str(folder)}  # OpenCode's script starts it, which makes folders at home
    for package, script in INSTALL_SCRIPTS:
        subprocess.run(["node", script], cwd=folder / "node_modules" / package, env=env, check=True)


def install_hermes(folder: Path) -> None:
    """Install Hermes into a virtual environment of its own, ``folder/hermes``."""
    subprocess.run([sys.executable, "-m", "venv", folder / "hermes"], check=True)
    pip = [folder / "hermes" / "bin" / "python", "-m", "pip"]
    subprocess.run([*pip, "install", "-q", "-r", PROGRAMS / "requirements-hermes.txt"], check=True)


if __name__ == "__main__":
    main()
