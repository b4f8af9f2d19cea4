"""Usage errors, help and completion."""

from __future__ import annotations

import subprocess

import pytest

from ecc_memory.cli.app import COMMANDS


@pytest.mark.parametrize(
    "args",
    [
        ("search", "--no-such-option"),
        ("search", "--limit", "0"),
        ("search", "--limit", "101"),
        ("search", "--limit", "ten"),
        ("search", "--kind", "wish"),
        ("search", "--scope", "world"),
        ("search", "x" * 501),
        ("read",),
        ("read", "one", "two"),
        ("save", "--stdin"),
        ("save", "--title"),
        ("save", "--title", "T", "--stdin", "--kind", "wish"),
        ("no-such-command",),
        (),
    ],
)
def test_usage_error_has_the_form_of_every_error(ecc, args):
    assert ecc(*args, "--json").refused(2) == "ECC_MEMORY_USAGE"
    plain = ecc(*args)
    assert plain.status == 2
    assert plain.err.startswith("Error: ")
    assert plain.err.count("\n") == 1


def test_usage_error_says_where_help_is(ecc):
    assert "ecc memory search --help" in ecc("search", "--no-such-option").err


def test_misspelt_command(ecc):
    assert "Did you mean 'search'? See ecc memory --help" in ecc("serch").err


def test_json_after_the_double_dash_is_a_word(ecc):
    done = ecc("search", "--", "--json")
    assert "No memory matches '--json'" in done.out


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example(ecc, command):
    done = ecc(command, "--help")
    assert done.status == 0
    assert f"  ecc memory {command}" in done.out
    assert "--json" in done.out


@pytest.mark.parametrize("command", ["status", "rebuild", "drop"])
def test_help_of_an_index_command_has_an_example(ecc, command):
    assert f"  ecc memory index {command}" in ecc("index", command, "--help").out


def test_help_lists_every_command(ecc):
    done = ecc("--help")
    listed = [line.split()[0] for line in done.out.partition("Commands:\n")[2].splitlines()]
    assert listed == list(COMMANDS)


def test_no_command_shows_the_help(ecc):
    done = ecc()
    assert done.status == 2
    assert done.out == ecc("--help").out


@pytest.mark.parametrize(
    ("words", "expected"),
    [("ecc memory se", ["search"]), ("ecc memory search --target-h", ["--target-harness"])],
)
def test_completion(ecc, words, expected):
    env = {
        **ecc.env,
        "_ECC_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(words.count(" ")),
    }
    done = subprocess.run(
        ["ecc"], env=env, cwd=ecc.cwd, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stdout.split() == expected


def test_completion_of_values(ecc):
    env = {
        **ecc.env,
        "_ECC_COMPLETE": "complete_bash",
        "COMP_WORDS": "ecc memory search --scope t",
        "COMP_CWORD": "4",
    }
    done = subprocess.run(
        ["ecc"], env=env, cwd=ecc.cwd, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stdout.split() == ["team"]
