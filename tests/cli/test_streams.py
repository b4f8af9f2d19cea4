"""Locale, pipes, signals: what the surroundings of a command line do to it."""

from __future__ import annotations

import os
import pty
import signal
import subprocess

import pytest

HOSTILE_LOCALES = [
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"},
    {"LC_ALL": "C"},
    {"LC_ALL": "POSIX", "PYTHONIOENCODING": "latin-1:strict"},
]


@pytest.mark.parametrize("env", HOSTILE_LOCALES)
def test_locale_encoding_on_stdio(ecc, env):
    text = "✓ 設計 🧠 Müller"
    saved = ecc("save", "--title", text, "--stdin", "--json", env=env, stdin=text)
    assert saved.json["memory"]["title"] == text
    found = ecc("search", "設計", env=env)
    assert found.out.count(text) == 2
    assert ecc("read", saved.json["memory"]["id"], "--json", env=env).json["memory"]["body"] == text


@pytest.mark.parametrize("env", [{}, *HOSTILE_LOCALES])
def test_argument_that_is_no_utf8(ecc, env):
    assert ecc("search", b"M\xfcller", "--json", env=env).refused(2) == "ECC_MEMORY_USAGE"


def test_reader_that_left_is_no_error(ecc):
    ecc.save("Title", "word " * 5000)
    for args in (["search"], ["search", "--json"], ["read", "mem_absent", "--json"], ["--help"]):
        reading, writing = os.pipe()
        os.close(reading)
        with ecc.popen(*args, stdout=writing) as process:
            os.close(writing)
            err = process.communicate(timeout=60)[1]
        assert b"Traceback" not in err
        assert b"BrokenPipe" not in err
        assert b"Exception ignored" not in err


def test_reader_that_left_shows_in_the_status(ecc):
    reading, writing = os.pipe()
    os.close(reading)
    with ecc.popen("search", stdout=writing) as process:
        os.close(writing)
        assert process.communicate(timeout=60)[1] == b""
    assert process.returncode == 141


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_output_that_cannot_be_written(ecc):
    with open("/dev/full", "wb") as full, ecc.popen("search", stdout=full) as process:
        err = process.communicate(timeout=60)[1].decode()
    assert process.returncode == 1
    assert err.startswith("Error: cannot write the output: ")
    assert err.count("\n") == 1


def test_closed_standard_output_spoils_no_file(ecc):
    done = subprocess.run(
        ["sh", "-c", 'echo Body. | ecc memory save --title T --stdin >&- 2>&-'],
        cwd=ecc.cwd, env=ecc.env, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0
    [path] = ecc.vault.glob("notes/*.md")
    assert path.read_text(encoding="utf-8").endswith("---\n\nBody.\n")
    assert ecc("doctor").status == 0


def test_interrupt(ecc):
    keyboard, terminal = pty.openpty()
    heard = signal.signal(signal.SIGINT, signal.default_int_handler)  # a run in the background ignores it
    with ecc.popen("save", "--title", "T", "--stdin", stdin=terminal) as process:
        signal.signal(signal.SIGINT, heard)
        assert process.stderr is not None
        assert b"Ctrl-D" in process.stderr.readline()  # now it waits for the body
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    os.close(keyboard)
    os.close(terminal)
    assert (process.returncode, out, err) == (130, b"", b"Error: interrupted\n")
    assert not list(ecc.vault.glob("notes/*"))
