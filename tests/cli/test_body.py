"""Where a body may come from, and what is refused."""

from __future__ import annotations

import os

import pytest


def save(ecc, *args, stdin=""):
    return ecc("save", "--title", "T", "--json", *args, stdin=stdin)


def test_body_from_a_file(ecc, tmp_path):
    path = tmp_path / "a note.md"
    path.write_bytes("Zeile 1\r\nZeile 2 ✓\r\n".encode())
    saved = save(ecc, "--body-file", str(path))
    read = ecc("read", saved.json["memory"]["id"], "--json")
    assert read.json["memory"]["body"] == "Zeile 1\r\nZeile 2 ✓"


def test_exactly_one_source(ecc, tmp_path):
    path = tmp_path / "note.md"
    path.write_text("B", encoding="utf-8")
    assert save(ecc).refused(2) == "ECC_MEMORY_USAGE"
    assert save(ecc, "--stdin", "--body-file", str(path)).refused(2) == "ECC_MEMORY_USAGE"


def test_a_dash_is_sent_to_stdin(ecc):
    done = save(ecc, "--body-file", "-", stdin="B")
    assert done.refused(2) == "ECC_MEMORY_USAGE"
    assert "--stdin" in done.err


def test_never_from_an_argument(ecc):
    assert save(ecc, "--body", "text").refused(2) == "ECC_MEMORY_USAGE"
    assert save(ecc, "--stdin", "text", stdin="B").refused(2) == "ECC_MEMORY_USAGE"


@pytest.mark.parametrize("kind", ["symlink", "dangling", "folder", "fifo", "device"])
def test_only_a_regular_file(ecc, tmp_path, kind):
    path, target = tmp_path / "note.md", tmp_path / "target.md"
    target.write_text("B", encoding="utf-8")
    if kind == "symlink":
        path.symlink_to(target)
    elif kind == "dangling":
        path.symlink_to(tmp_path / "absent")
    elif kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    else:
        path = os.devnull
    done = save(ecc, "--body-file", str(path))
    assert done.refused(2) == "ECC_MEMORY_USAGE"
    assert str(path) in done.err


def test_missing_file(ecc, tmp_path):
    done = save(ecc, "--body-file", str(tmp_path / "absent.md"))
    assert done.refused(1) == "ECC_MEMORY_IO"
    assert "No such file" in done.err


def test_not_utf8_names_line_and_byte(ecc):
    done = save(ecc, "--stdin", stdin=b"fine\ncaf\xe9\n")
    assert done.refused(1) == "ECC_MEMORY_INVALID"
    assert "line 2 holds the byte 0xe9" in done.err


def test_read_is_bounded(ecc):
    with (
        open("/dev/zero", "rb") as endless,
        ecc.popen("save", "--title", "T", "--stdin", "--json", stdin=endless) as process,
    ):
        out = process.communicate(timeout=60)[0]
    assert b"larger than 1 MiB" in out
    assert process.returncode == 1


@pytest.mark.parametrize(("body", "reason"), [("", "empty"), (" \n\t\n", "empty"), ("x" * 65537, "65536")])
def test_body_bounds(ecc, body, reason):
    done = save(ecc, "--stdin", stdin=body)
    assert done.refused(1) == "ECC_MEMORY_INVALID"
    assert reason in done.err


def test_largest_body(ecc):
    body = "é" * 32768
    saved = save(ecc, "--stdin", stdin=body)
    assert ecc("read", saved.json["memory"]["id"], "--json").json["memory"]["body"] == body
