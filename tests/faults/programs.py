"""Runs the programs of this folder, which print figures and end with 0 when every promise held."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def figures(module: str, *words: object) -> str:
    """Run ``python -m MODULE WORDS...`` in a process of its own; return, and print, what it found."""
    command = [sys.executable, "-m", module, *map(str, words)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    print(done.stdout)
    return done.stdout
