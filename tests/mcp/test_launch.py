"""What a server is started with."""

from __future__ import annotations

import pytest

from ecc_memory import __version__
from ecc_memory.errors import UsageError
from ecc_memory.mcp.launch import Launch

from .conftest import Machine
from .process import INITIALIZE


def test_identity_comes_from_the_variable_or_the_argument() -> None:
    assert Launch.parse([], {"ECC_MEMORY_HARNESS": " codex "}).harness == "codex"
    assert Launch.parse(["--harness", "claude"], {}).harness == "claude"
    assert Launch.parse(["--harness=claude"], {"ECC_MEMORY_HARNESS": ""}).harness == "claude"
    assert Launch.parse(["--harness", "codex"], {"ECC_MEMORY_HARNESS": "codex"}).harness == "codex"


@pytest.mark.parametrize(
    ("arguments", "variable", "wrong"),
    [
        ([], None, "ECC_MEMORY_HARNESS is not set"),
        ([], "  ", "ECC_MEMORY_HARNESS is not set"),
        ([], "Codex", "'Codex'"),
        ([], "a b", "'a b'"),
        ([], "all", "addresses every harness"),
        (["--harness", "all"], None, "addresses every harness"),
        ([], "x" * 65, "must be made of"),
        (["--harness", "claude"], "codex", "leave one of them out"),
        (["--harness"], None, "needs a value"),
        (["--harness="], None, "needs a value"),
        (["--harness", "a", "--harness", "a"], None, "given twice"),
        (["--verbose"], "codex", "unknown argument '--verbose'"),
        (["codex"], None, "unknown argument 'codex'"),
    ],
)
def test_a_wrong_start_is_refused_in_one_line(arguments: list[str], variable: str | None, wrong: str) -> None:
    env = {} if variable is None else {"ECC_MEMORY_HARNESS": variable}
    with pytest.raises(UsageError, match=wrong) as caught:
        Launch.parse(arguments, env)
    assert "\n" not in caught.value.message


def test_only_a_one_opens_the_user_scope_and_only_a_no_leaves_writing_open() -> None:
    def launch(**env: str) -> Launch:
        return Launch.parse(["--harness", "codex"], env)

    assert launch().scopes == ("project", "team")
    assert not launch().read_only
    for value in ("", "0", "true", "yes", " 1"):
        assert not launch(ECC_MEMORY_ALLOW_USER_SCOPE=value).user_scope
    assert launch(ECC_MEMORY_ALLOW_USER_SCOPE="1").scopes == ("project", "team", "user")
    for value in ("", " ", "0", "false", "No"):
        assert not launch(ECC_MEMORY_READ_ONLY=value).read_only
    for value in ("1", " 1", "true", "yes", "on"):
        assert launch(ECC_MEMORY_READ_ONLY=value).read_only


def test_opencode_env_vs_environment(machine: Machine) -> None:
    """A harness dropped the server's environment: one line says which variable is missing."""
    server = machine.start(harness=None)
    assert server.wait() == 2
    assert server.raw == []
    assert server.errors().count("\n") == 1
    assert "ECC_MEMORY_HARNESS is not set" in server.errors()


def test_identity_as_an_argument_needs_no_environment(machine: Machine) -> None:
    server = machine.start("--harness", "opencode", harness=None)
    assert server.ask(INITIALIZE)["result"]["serverInfo"]["name"] == "ecc-memory-vault"
    assert server.succeed("memory_save", title="t", body="b")["memory"]["sourceHarness"] == "opencode"


def test_help_and_version(machine: Machine) -> None:
    shown = machine.start("--help", harness=None)
    assert shown.wait() == 0
    assert b"ECC_MEMORY_HARNESS" in b"".join([*shown.raw, shown.errors().encode()])
    version = machine.start("--version", harness=None)
    assert version.wait() == 0
    version._threads[0].join()
    assert version.raw == [f"ecc-memory-mcp {__version__}\n".encode()]
