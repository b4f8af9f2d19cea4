"""The commands that end up in hooks: quoted, stable, quiet where the program is missing."""

import json
import shlex
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from ecc_memory.harness.reminders import hook_command, readiness
from ecc_memory.harness.types import InstallRequest, Surroundings
from ecc_memory.install.checks import ask

ECHO = '#!/bin/sh\nprintf "%s\\n" "$@"\n'


def request(tmp_path, program="/opt/bin/ecc-memory-hook", level="user", parts=("mcp", "reminders"), **env):
    return InstallRequest(
        level=level,
        where=Surroundings(tmp_path, {}),
        parts=frozenset(parts),
        server_command="ecc-memory-mcp",
        server_env={"ECC_MEMORY_HARNESS": "codex", **env},
        forward_env=(),
        hook_command=(str(program),),
        skill={},
        rules="Recall.\n",
        version="0.1.0",
    )


def script(folder, text=ECHO):
    """Make a program of the hook's name that shows what it was given."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "ecc-memory-hook"
    program.write_text(text)
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program


@pytest.mark.parametrize("name", ["Jane Doe", "it's", "$HOME (1)", "a;b&c", "Zoë 設計", '"quoted"'])
def test_hook_path_with_space(tmp_path, name):
    """Both as a shell runs it and as Hermes splits it."""
    program = script(tmp_path / name)
    root = str(tmp_path / name / "vault")
    command = hook_command(
        request(tmp_path, program, ECC_MEMORY_PROJECT_ROOT=root), "reminder", "SessionStart", "mcp__v__"
    )
    words = ["reminder", "--harness", "codex", "--tools", "mcp__v__", "--project-root", root,
             "--event", "SessionStart"]  # fmt: skip
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == words
    assert shlex.split(command) == [str(program), *words]


def test_it_says_what_the_server_was_given(tmp_path):
    asked = request(tmp_path, ECC_MEMORY_READ_ONLY="1", ECC_MEMORY_USER_ROOT="/u")
    command = hook_command(asked, "guard", "PreToolUse", "mcp__v__")
    assert command == (
        "/opt/bin/ecc-memory-hook guard --harness codex --tools mcp__v__ --read-only --user-root /u "
        "--event PreToolUse"
    )
    without = hook_command(request(tmp_path, parts=["reminders"]), "guard", "PreToolUse", "mcp__v__")
    assert without == "/opt/bin/ecc-memory-hook guard --harness codex --event PreToolUse"


def test_a_project_s_hook_is_silent_on_a_machine_without_the_program(tmp_path):
    asked = request(tmp_path, "ecc-memory-hook", level="project")
    command = hook_command(asked, "guard", "PreToolUse", "mcp__v__")
    env = {"PATH": "/usr/bin:/bin"}
    done = subprocess.run(["sh", "-c", command], env=env, capture_output=True, text=True, check=True)
    assert done.stdout + done.stderr == ""
    env["PATH"] += f":{script(tmp_path / 'bin').parent}"
    done = subprocess.run(["sh", "-c", command], env=env, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[0] == "guard"


def test_hook_file_the_host_never_reads(tmp_path):
    """Status runs the very command that is registered."""
    works = script(tmp_path / "works", "#!/bin/sh\necho ecc-memory-hook is ready\n")
    commands = [shlex.quote(str(works)), "/gone/ecc-memory-hook", "true"]
    answers = ask([readiness(command) for command in commands], {"PATH": "/usr/bin:/bin"}, tmp_path)
    assert [answer.answer for answer in answers] == ["seen", "not seen", "not seen"]


def test_the_installed_program_is_ready(tmp_path):
    asked = request(tmp_path, Path(sys.executable).parent / "ecc-memory-hook")
    command = hook_command(asked, "reminder", "SessionStart", "mcp__v__")
    (answer,) = ask([readiness(command)], {"PATH": "/usr/bin:/bin"}, tmp_path)
    assert answer.answer == "seen", json.dumps(answer.command)
