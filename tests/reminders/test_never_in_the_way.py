"""Whatever goes wrong, the hook ends with status 0 and says nothing."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

START = ("reminder", "--harness", "claude", "--event", "SessionStart", "--tools", "mcp__v__")
FORBIDDEN = {
    *("typer", "pluggy", "mcp", "ruamel", "dataclasses", "inspect", "argparse", "asyncio", "subprocess"),
    *("logging", "datetime", "pathlib", "shutil", "tempfile"),
}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"not JSON",
        b"[]",
        b"null",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"hook_event_name": "Stop"}',
        b'{"hook_event_name": "SessionStart", "cwd": 7, "source": {}',
        b'{"cwd": "' + b"x" * 5_000_000 + b'"}',
    ],
    ids=["nothing", "text", "a list", "null", "bytes", "deep", "another event", "cut short", "too long"],
)
def test_bad_input(session, data):
    session.save()
    assert session.hook(*START, event=data) == b""


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("reminder",),
        ("--help",),
        ("reminder", "--harness"),
        (*START, "--unknown"),
        ("reminder", "--harness", "claude", "--event", "Stop"),
        ("reminder", "--harness", "claude", "--event", "PreToolUse"),
        (*START, "--project-root", "relative"),
    ],
)
def test_bad_arguments(session, arguments):
    session.save()
    event = {"cwd": str(session.project)}
    assert session.hook(*arguments, event=event) == b""


def test_no_vault(session, tmp_path):
    assert session.hook(*START, event=session.event("SessionStart", source="startup")) == b""
    event = {**session.event("SessionStart"), "cwd": str(tmp_path / "gone")}
    assert session.hook(*START, event=event) == b""


def test_a_relative_home(session):
    session.save()
    session.env["HOME"] = "rel"
    assert session.hook(*START, event=session.event("SessionStart", source="startup")) == b""


@pytest.mark.parametrize("break_it", ["link", "file", "fifo", "git fifo"])
def test_broken_vault(session, tmp_path, break_it):
    vault = session.save().parents[2]
    vault.rename(tmp_path / "moved")
    if break_it == "link":
        vault.symlink_to(tmp_path / "moved")
    elif break_it == "file":
        vault.write_text("not a folder")
    elif break_it == "fifo":
        os.mkfifo(vault)
    else:
        (session.project / ".git").rename(tmp_path / "git")
        os.mkfifo(session.project / ".git")
    assert session.hook(*START, event=session.event("SessionStart", source="startup")) == b""


def test_a_harness_that_never_ends_its_input(session):
    session.save()
    with session.start(*START) as process:
        process.stdin.write(b'{"hook_event_name"')
        process.stdin.flush()
        assert process.wait(timeout=30) == 0
        assert process.stdout.read() == b""


def test_a_harness_that_does_not_listen(session):
    session.save()
    with session.start(*START) as process:
        process.stdout.close()
        process.communicate(b'{"hook_event_name": "SessionStart"}', timeout=30)
        assert process.returncode == 0


@pytest.mark.parametrize(
    "trouble",
    [
        "time.sleep(60)",  # a disk that does not answer
        "signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals()), time.sleep(60)",
        "re.match('(a*)*b', 'a' * 64)",  # a computation that holds the interpreter
        "os.kill(os.getpid(), 11)",
        "[0] * 10 ** 18",
        "print('said'), 1 / 0",
        "b'x' * 100_000",
    ],
)
@pytest.mark.parametrize("task", ["reminder", "guard"])
def test_a_child_in_trouble_holds_up_nobody(session, task, trouble):
    code = (
        "import os, re, signal, time; import ecc_memory.reminders.run as run; "
        f"run.answer = lambda *_: ({trouble}); "
        "from ecc_memory.reminders.hook import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, task], cwd=session.project, input=b"{}", capture_output=True, timeout=30
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_it_imports_only_what_it_needs(session):
    code = (
        "import sys; before = set(sys.modules); from ecc_memory.reminders import hook, run; "
        "print(*sorted({name.split('.')[0] for name in set(sys.modules) - before}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert FORBIDDEN.isdisjoint(done.stdout.split())
