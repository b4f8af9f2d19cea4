"""What calls may say, and what they are told when they say it wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecc_memory.errors import UsageError
from ecc_memory.mcp.arguments import Argument, check_arguments, form
from ecc_memory.mcp.launch import Launch
from ecc_memory.mcp.server import build_server
from ecc_memory.mcp.tools import specify
from ecc_memory.vault import Vault

from .clients import ERAS, content, converse, protocol_error, refusal
from .process import ServerProcess, call, request

READER, WRITER = Launch("codex", {}, read_only=True), Launch("codex", {})
eras = pytest.mark.parametrize("era", ERAS)


@pytest.fixture
def vault(tmp_path: Path) -> Callable[[], Vault]:
    project = tmp_path / "home" / "shop"
    project.mkdir(parents=True)
    return lambda: Vault.open(cwd=project, env={}, home=tmp_path / "home")


WRONG = [
    (
        "memory_save",
        {"title": "t", "body": "b", "tags": '["auth","mcp"]'},
        "tags must be a list of strings, such as",
    ),
    ("memory_save", {"title": "t", "body": "b", "tags": "auth, mcp"}, "send the list itself, not its text"),
    ("memory_save", {"title": "t", "body": "b", "tags": None}, "leave it out rather than sending null"),
    ("memory_save", {"title": "t", "body": "b", "tags": ["a", 1]}, "tags must be a list of strings"),
    ("memory_save", {"title": "t", "body": "b", "tags": {"a": 1}}, "tags must be a list of strings"),
    ("memory_save", {"title": "t", "body": ["b"]}, "body must be a string"),
    ("memory_save", {"title": "t"}, "body is missing"),
    ("memory_save", {}, "title is missing"),
    ("memory_save", {"title": "t", "body": "b", "kind": "Handoff"}, "kind may be context, decision"),
    ("memory_save", {"title": "t", "body": "b", "scope": "global"}, "scope may be project or team"),
    ("memory_save", {"title": "t", "body": "b", "scope": ["team"]}, "scope must be a string"),
    (
        "memory_save",
        {"title": "t", "body": "b", "targetHarnesses": "claude"},
        "targetHarnesses must be a list",
    ),
    ("memory_search", {"query": "x", "limit": "5"}, "send the number without quotes"),
    ("memory_search", {"query": "x", "limit": True}, "limit must be an integer"),
    ("memory_search", {"query": "x", "limit": 2.5}, "limit must be an integer"),
    ("memory_search", {"query": "x", "limit": float("1e300")}, "limit must be from 1 to 100"),
    ("memory_search", {"query": "x", "limit": 0}, "limit must be from 1 to 100"),
    ("memory_search", {"query": "x", "limit": 101}, "limit must be from 1 to 100"),
    ("memory_search", {"query": 5}, "query must be a string"),
    ("memory_search", {"query": "x", "kinds": "handoff"}, "kinds must be a list of strings"),
    ("memory_search", {"query": "x", "kinds": ["todo"]}, "kinds may be context"),
    ("memory_search", {"query": "x", "scopes": "project"}, "scopes must be a list of strings"),
    ("memory_search", {"q": "x"}, "q is not an argument of it"),
    ("memory_search", {"query": "x", "\u202e" * 9: 1}, "an argument is not an argument of it"),
    ("memory_read", {"id": ["mem_abc"]}, "id must be a string"),
    ("memory_read", {}, "id is missing"),
    ("memory_doctor", {"scopes": [["project"]]}, "scopes must be a list of strings"),
]


@eras
@pytest.mark.parametrize(("tool", "arguments", "said"), WRONG)
def test_array_argument_arrives_as_string(
    vault: Callable[[], Vault], era: str, tool: str, arguments: dict[str, Any], said: str
) -> None:
    message = converse(
        build_server(WRITER, vault), era, lambda client: protocol_error(client, tool, arguments)
    )
    assert said in message
    shown, _ = json.JSONDecoder().raw_decode(message, message.index("Form: ") + len("Form: "))
    check_arguments(tool, specify(WRITER)[tool].takes, shown)  # the form that is shown is right
    assert not (vault().place("project").path and Path(vault().place("project").path).exists())


def test_the_form_of_a_save_can_be_copied_without_storing_what_nobody_meant() -> None:
    takes = specify(WRITER)["memory_save"].takes
    assert form(takes) == (
        'Form: {"title":"<one line>","body":"<Markdown>"}; '
        "optional: kind, scope, targetHarnesses (list), tags (list), links (list)"
    )
    for wrong in ({"links": "x"}, {"targetHarnesses": "x"}, {"kind": 1}, {}):
        with pytest.raises(UsageError) as refused:
            check_arguments("memory_save", takes, wrong)
        assert not any(word in str(refused.value) for word in ("mem_", '"handoff"', "claude"))


@eras
@pytest.mark.parametrize(
    "claim", ["sourceHarness", "source_harness", "harness", "targetHarness", "trust", "status"]
)
@pytest.mark.parametrize("tool", ["memory_save", "memory_search", "memory_read", "memory_doctor"])
def test_an_identity_cannot_be_claimed(vault: Callable[[], Vault], era: str, tool: str, claim: str) -> None:
    arguments = {"title": "t", "body": "b", claim: "claude"} if tool == "memory_save" else {claim: "claude"}
    message = converse(
        build_server(WRITER, vault), era, lambda client: protocol_error(client, tool, arguments)
    )
    assert "is fixed where this server is configured" in message


@eras
def test_an_empty_list_is_a_list(vault: Callable[[], Vault], era: str) -> None:
    async def talk(client: Any) -> None:
        saved = await content(client, "memory_save", title="t", body="b", tags=[], links=[])
        assert saved["memory"]["tags"] == []
        found = await content(client, "memory_search", scopes=[], kinds=[], limit=5.0)
        assert found["total"] == 1

    # 5.0 is an integer to JSON Schema.
    converse(build_server(WRITER, vault), era, talk)


@eras
@pytest.mark.parametrize("arguments", [{"scopes": ["user"]}, {"scopes": ["project", "user"]}])
def test_the_user_scope_is_closed_unless_opened(
    vault: Callable[[], Vault], era: str, arguments: dict[str, Any]
) -> None:
    message = converse(
        build_server(WRITER, vault), era, lambda client: protocol_error(client, "memory_search", arguments)
    )
    assert "scopes may be project or team" in message
    assert "ECC_MEMORY_ALLOW_USER_SCOPE=1" in message


@eras
def test_cross_project_rules_leak(vault: Callable[[], Vault], era: str) -> None:
    """The user scope, even where it is open, has to be asked for, and its results say what they are."""
    vault().save(title="Always rebase", body="everywhere", scope="user")
    server = build_server(Launch("codex", {}, user_scope=True), vault)

    async def talk(client: Any) -> None:
        assert (await content(client, "memory_search", query="rebase"))["total"] == 0
        found = await content(client, "memory_search", query="rebase", scopes=["user"])
        assert [hit["memory"]["scope"] for hit in found["results"]] == ["user"]
        identity = found["results"][0]["memory"]["id"]
        assert (await refusal(client, "memory_read", id=identity))[0] == "MEMORY_READ_FAILED"
        assert (await content(client, "memory_read", id=identity, scope="user"))["memory"]["scope"] == "user"

    converse(server, era, talk)


@eras
def test_a_reader_does_not_save(vault: Callable[[], Vault], era: str) -> None:
    async def talk(client: Any) -> None:
        assert "memory_save" not in [tool.name for tool in (await client.list_tools()).tools]
        message = await protocol_error(client, "memory_save", {"title": "t", "body": "b"})
        assert "ECC_MEMORY_READ_ONLY=1" in message

    converse(build_server(READER, vault), era, talk)


@eras
def test_an_unknown_tool_is_a_protocol_error(vault: Callable[[], Vault], era: str) -> None:
    message = converse(
        build_server(WRITER, vault), era, lambda client: protocol_error(client, "memory_promote", {})
    )
    assert message == "There is no such tool. Tools: memory_search, memory_read, memory_save, memory_doctor"


def test_arguments_as_text_show_the_form(steady: ServerProcess) -> None:
    wrong = request(1, "tools/call", {"name": "memory_search", "arguments": '{"query":"x"}'})
    error = steady.ask(wrong)["error"]
    assert error["code"] == -32602
    assert 'Form: {"query":' in error["message"]
    nameless = steady.ask(request(2, "tools/call", {"arguments": {}}))["error"]
    assert (nameless["code"], "name must be a string" in nameless["message"]) == (-32602, True)
    assert "result" in steady.ask(request(3, "tools/call", {"name": "memory_search"}))


def test_meta_is_accepted_on_any_request(steady: ServerProcess) -> None:
    for message in (request(1, "tools/list", {}), call(2, "memory_doctor"), request(3, "ping", {})):
        message["params"]["_meta"] = {"progressToken": 0, "com.example/trace": {"x": [1]}}
        assert "result" in steady.ask(message)


REFUSED = [
    ({"title": "x" * 201, "body": "b"}, "title"),
    ({"title": " ", "body": "b"}, "title"),
    ({"title": "a\x07b", "body": "b"}, "title"),
    ({"title": "t", "body": ""}, "body"),
    ({"title": "t", "body": "x" * 65_537}, "body"),
    ({"title": "t", "body": "a\x00b"}, "body"),
    ({"title": "t", "body": "b", "tags": ["Not A Slug"]}, "tag"),
    ({"title": "t", "body": "b", "tags": ["x"] * 2}, "tag"),
    ({"title": "t", "body": "b", "links": ["mem"]}, "link"),
    ({"title": "t", "body": "b", "targetHarnesses": []}, "target"),
    ({"title": "t", "body": "key " + "ghp_" + "a1B2" * 9}, "body"),
]


@eras
@pytest.mark.parametrize(("arguments", "field"), REFUSED)
def test_content_that_is_refused_says_what_to_change(
    vault: Callable[[], Vault], era: str, arguments: dict[str, Any], field: str
) -> None:
    code, message = converse(
        build_server(WRITER, vault), era, lambda client: refusal(client, "memory_save", **arguments)
    )
    assert code == "MEMORY_WRITE_REJECTED"
    assert field in message
    assert "a1B2" not in message
    assert vault().search("").diagnostics.total == 0


@eras
def test_other_refusals_have_their_own_codes(
    vault: Callable[[], Vault], era: str, document: Callable[..., str]
) -> None:
    vault().save(title="t", body="b")
    notes = Path(vault().place("project").path) / "notes"

    async def talk(client: Any) -> None:
        assert (await refusal(client, "memory_search", query="x" * 501))[0] == "MEMORY_SEARCH_FAILED"
        assert (await refusal(client, "memory_read", id="mem_not_there"))[0] == "MEMORY_READ_FAILED"
        assert (await refusal(client, "memory_read", id="no id"))[0] == "MEMORY_READ_FAILED"
        (notes / "damaged.md").write_text("damaged")
        code, message = await refusal(client, "memory_read", id="mem_not_there")
        assert code == "MEMORY_READ_INCOMPLETE"
        assert "damaged.md" not in message

    converse(build_server(WRITER, vault), era, talk)


def test_a_dry_run_saves_nothing(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()

    def vault() -> Vault:
        return Vault.open(cwd=tmp_path / "shop", env={"ECC_DRY_RUN": "1"}, home=tmp_path)

    code, _ = converse(
        build_server(WRITER, vault),
        "modern",
        lambda client: refusal(client, "memory_save", title="t", body="b"),
    )
    assert code == "MEMORY_WRITE_REJECTED"
    assert list((tmp_path / "shop").iterdir()) == []


arguments = (
    Argument("title", "t", required=True),
    Argument("tags", ("a",), "list"),
    Argument("limit", 3, "count", bounds=(1, 9)),
    Argument("kind", "note", choices=("note", "fact")),
)
values = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.text() | st.integers())
)


@given(
    st.dictionaries(st.sampled_from(["title", "tags", "limit", "kind", "id", "\ud800"]) | st.text(), values)
)
def test_what_passes_the_check_has_the_declared_types(given_: dict[str, Any]) -> None:
    try:
        checked = check_arguments("tool", arguments, given_)
    except UsageError as error:
        shown = error.message[-len(form(arguments)) :]
    else:
        shown = form(arguments)
        assert isinstance(checked["title"], str)
        assert isinstance(checked.get("tags", ()), tuple)
        assert checked.get("limit", 1) in range(1, 10)
        assert checked.get("kind", "note") in ("note", "fact")
    assert shown == form(arguments)
