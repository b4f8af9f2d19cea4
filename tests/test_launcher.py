"""The set-up behind ``quickstart`` and ``run-tests``, without the part that needs a network."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
BLOCKER = """
import os, sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name in os.environ["BLOCKED"].split(","):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Blocker())
"""


@pytest.fixture
def checkout(tmp_path):
    """A small checkout, whose path has a space in it."""
    folder = tmp_path / "a checkout"
    shutil.copytree(ROOT / "scripts", folder / "scripts")
    shutil.copy(ROOT / "pyproject.toml", folder)
    (folder / "src").mkdir()
    (folder / "src" / "module.py").write_text("x = 1\n", encoding="utf-8")
    return folder


def shell(script: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/sh", "-euc", script],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def python(checkout: Path, code: str, **env: str) -> subprocess.CompletedProcess[str]:
    code = f"import sys; sys.path.insert(0, 'scripts'); from pathlib import Path; import environment; {code}"
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=checkout,
        env={"PATH": os.defpath, "HOME": str(checkout), **env},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def put_python(folder: Path, name: str, *, suitable: bool) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f'#!/bin/sh\n[ "$1" = -V ] && echo Python 3.8.1\nexit {int(not suitable)}\n')
    (folder / name).chmod(0o755)


def test_the_first_suitable_python_is_taken(tmp_path):
    put_python(tmp_path, "python3", suitable=False)
    put_python(tmp_path, "python3.11", suitable=True)
    put_python(tmp_path, "python3.12", suitable=True)
    assert shell('. scripts/find-python.sh; echo "$PYTHON"', PATH=str(tmp_path)).stdout == "python3.12\n"


def test_no_suitable_python_is_one_clear_line(tmp_path):
    put_python(tmp_path, "python3", suitable=False)
    done = shell(". scripts/find-python.sh", PATH=str(tmp_path))
    assert done.returncode == 1
    assert done.stderr.startswith("Error: ecc-memory needs Python 3.10 or newer")
    assert "Python 3.8.1" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_named_python_is_only_checked(tmp_path):
    put_python(tmp_path, "old", suitable=False)
    done = shell(". scripts/find-python.sh", PATH=os.defpath, PYTHON=str(tmp_path / "old"))
    assert done.returncode == 1
    assert f"PYTHON={tmp_path / 'old'}" in done.stderr


@pytest.mark.parametrize("script", ["quickstart", "run-tests", "scripts/find-python.sh"])
def test_scripts_are_plain_shell(script):
    content = (ROOT / script).read_bytes()
    assert b"\r" not in content
    assert subprocess.run(["/bin/sh", "-n", str(ROOT / script)], check=False).returncode == 0


@pytest.mark.parametrize("blocked", ["nothing", "ensurepip"])
def test_an_environment_is_made(checkout, tmp_path, blocked):
    (tmp_path / "sitecustomize.py").write_text(BLOCKER, encoding="utf-8")
    code = "folder = Path('.venv-x'); environment.create(folder); print(environment.is_alive(folder))"
    done = python(checkout, code, BLOCKED=blocked, PYTHONPATH=str(tmp_path))
    assert done.stdout == "True\n", done.stderr
    assert f"$ {sys.executable} -m venv" in done.stderr


def test_no_way_to_an_environment_says_what_to_install(checkout, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(BLOCKER, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "scripts/environment.py", "x", "."],
        cwd=checkout,
        env={"PATH": os.defpath, "BLOCKED": "venv,virtualenv,pip", "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("Error: ")
    assert "apt install python3-venv" in done.stderr
    assert not (checkout / ".venv-x").exists()


def test_a_second_run_does_nothing(checkout):
    made = "folder = Path('.venv-x'); environment.create(folder)"
    stamped = "(folder / environment.STAMP).write_text(environment.fingerprint(['.']))"
    assert python(checkout, f"{made}; {stamped}").returncode == 0
    done = subprocess.run(
        [sys.executable, "scripts/environment.py", "x", "."],
        cwd=checkout, env={"PATH": os.defpath}, capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    assert done.stdout == f"{checkout}/.venv-x/bin\n"
    assert done.stderr == ""


@pytest.mark.parametrize("changed", ["pyproject.toml", "src/module.py", "requirements-dev.txt"])
def test_a_change_asks_for_a_new_installation(checkout, changed):
    code = "print(environment.fingerprint(['.']))"
    before = python(checkout, code).stdout
    (checkout / changed).write_text("changed = 1\n", encoding="utf-8")
    assert python(checkout, code).stdout != before


def test_an_editable_installation_follows_its_sources(checkout):
    code = "print(environment.fingerprint(['-r', 'requirements-dev.txt']))"
    before = python(checkout, code).stdout
    (checkout / "src" / "module.py").write_text("x = 2\n", encoding="utf-8")
    assert python(checkout, code).stdout == before
