"""The official Python client against the real process, and several servers on one vault."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters

from ecc_memory.vault import Vault

from .clients import ERAS, content, converse, protocol_error, refusal
from .conftest import Machine
from .process import COMMAND, INITIALIZE, ServerProcess, call, modern, request

eras = pytest.mark.parametrize("era", ERAS)


def server_of(machine: Machine, harness: str, **env: str) -> StdioServerParameters:
    return StdioServerParameters(command=COMMAND, cwd=machine.project, env=machine.env(harness, **env))


@eras
def test_a_task_is_handed_over(machine: Machine, era: str) -> None:
    """Codex saves a handoff to Claude; Claude finds, reads and answers it; nobody else sees it."""
    goal = "Goal: rotate tokens. State: tests pass. Next: `make deploy`. Files: auth.py"

    async def leave(client: Client) -> dict[str, Any]:
        return await content(
            client,
            "memory_save",
            title="Token rotation",
            body=goal,
            kind="handoff",
            targetHarnesses=["claude"],
        )

    saved = converse(server_of(machine, "codex"), era, leave)
    identity = saved["memory"]["id"]
    assert saved["memory"]["sourceHarness"] == "codex"

    async def take(client: Client) -> dict[str, Any]:
        found = await content(client, "memory_search", kinds=["handoff"])
        assert [hit["memory"]["id"] for hit in found["results"]] == [identity]
        assert (await content(client, "memory_read", id=identity))["memory"]["body"] == goal
        return await content(client, "memory_save", title="Deployed", body="done", links=[identity])

    answer = converse(server_of(machine, "claude"), era, take)

    async def look(client: Client) -> None:
        other = await refusal(client, "memory_read", id=identity)
        absent = await refusal(client, "memory_read", id="mem_20260101_absent")
        assert other[0] == absent[0] == "MEMORY_READ_FAILED"
        assert other[1].replace(identity, "") == absent[1].replace("mem_20260101_absent", "")
        titles = [hit["memory"]["title"] for hit in (await content(client, "memory_search"))["results"]]
        assert titles == ["Deployed"]

    converse(server_of(machine, "opencode"), era, look)

    async def return_(client: Client) -> None:
        # Aimed at Claude, so its author does not see it either: the filter has no exception.
        assert (await refusal(client, "memory_read", id=identity))[0] == "MEMORY_READ_FAILED"
        read = await content(client, "memory_read", id=answer["memory"]["id"])
        assert read["memory"]["sourceHarness"] == "claude"

    converse(server_of(machine, "codex"), era, return_)


@eras
def test_handoff_reaches_the_right_agent_once(machine: Machine, era: str) -> None:
    """Newest first, and one that a newer handoff links to says so."""
    vault = Vault.open(cwd=machine.project, env={}, home=machine.home)
    both = {"kind": "handoff", "target_harnesses": ("claude", "opencode"), "source_harness": "codex"}
    earlier = datetime.now(timezone.utc) - timedelta(minutes=1)  # a fast disk takes both in one millisecond
    old = vault.save(title="Handoff", body="half done", now=earlier, **both).memory  # type: ignore[arg-type]
    new = vault.save(title="Handoff", body="nearly done", links=(old.id,), **both).memory  # type: ignore[arg-type]

    async def receive(client: Client) -> None:
        found = await content(client, "memory_search", kinds=["handoff"])
        assert [hit["memory"]["id"] for hit in found["results"]] == [new.id, old.id]
        assert [hit.get("linkedBy") for hit in found["results"]] == [None, [new.id]]

    for harness in ("claude", "opencode"):
        converse(server_of(machine, harness), era, receive)

    async def nothing(client: Client) -> None:
        assert (await content(client, "memory_search", kinds=["handoff"]))["results"] == []

    converse(server_of(machine, "codex"), era, nothing)


@eras
def test_everything_at_once_through_one_client(machine: Machine, era: str) -> None:
    async def talk(client: Client) -> None:
        replies: list[dict[str, Any]] = []

        async def one(number: int) -> None:
            replies.append(await content(client, "memory_save", title=f"n {number}", body="b"))

        async with anyio.create_task_group() as tasks:
            for number in range(50):
                tasks.start_soon(one, number)
        assert len({reply["memory"]["id"] for reply in replies}) == 50
        assert (await content(client, "memory_search", query="b"))["total"] == 50
        assert "limit" in await protocol_error(client, "memory_search", {"limit": "5"})

    converse(server_of(machine, "codex"), era, talk)


def test_ten_servers_on_one_vault_do_not_disturb_each_other(machine: Machine) -> None:
    servers = [machine.start(harness=f"agent-{number}") for number in range(10)]
    threads = [threading.Thread(target=ServerProcess.open, args=(server,)) for server in servers]
    run(threads)

    def work(server: ServerProcess) -> Callable[[], None]:
        def save_and_look() -> None:
            for number in range(5):
                saved = server.succeed("memory_save", title=f"n {number}", body="shared text")
                identity = saved["memory"]["id"]
                assert server.succeed("memory_read", id=identity)["memory"]["id"] == identity
                server.succeed("memory_search", query="shared")

        return save_and_look

    failures: list[BaseException] = []

    def guarded(target: Callable[[], None]) -> Callable[[], None]:
        def body() -> None:
            try:
                target()
            except BaseException as error:
                failures.append(error)

        return body

    run([threading.Thread(target=guarded(work(server))) for server in servers])
    assert failures == []
    for server in servers:
        assert server.succeed("memory_search", query="shared", limit=1)["total"] == 50
        report = server.succeed("memory_doctor")
        assert (report["ok"], report["memoryCount"], report["warningCount"]) == (True, 50, 0)
    assert len(machine.documents()) == 50


def run(threads: list[threading.Thread]) -> None:
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.mark.parametrize("first", ["handshake", "modern"])
def test_the_era_is_that_of_the_first_request(machine: Machine, first: str) -> None:
    server = machine.start()
    if first == "handshake":
        assert server.open()["result"]["protocolVersion"] == "2025-11-25"
        assert server.ask(modern(call(1, "memory_doctor")))["error"]["code"] == -32600
        assert "result" in server.ask(call(2, "memory_doctor"))
    else:
        discovered = server.ask(modern(request("d", "server/discover")))
        assert discovered["result"]["supportedVersions"] == ["2026-07-28"]
        assert server.ask(INITIALIZE)["error"]["code"] == -32022
        assert "result" in server.ask(modern(call(2, "memory_doctor")))


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "1999-01-01"])
def test_handshake_versions(machine: Machine, version: str) -> None:
    server = machine.start()
    params = {**INITIALIZE["params"], "protocolVersion": version}  # type: ignore[dict-item]
    agreed = server.ask({**INITIALIZE, "params": params})["result"]["protocolVersion"]
    assert agreed == ("2025-11-25" if version == "1999-01-01" else version)
    assert server.ask(call(1, "memory_doctor"))["result"]["isError"] is False


def test_a_probe_without_the_envelope_lets_a_client_fall_back(machine: Machine) -> None:
    server = machine.start()
    assert server.ask(request("probe", "server/discover"))["error"]["code"] == -32601
    assert "result" in server.open()


def test_before_the_handshake_only_a_ping_is_served(machine: Machine) -> None:
    server = machine.start()
    assert server.ask(request("early", "ping"))["result"] == {}
    assert server.ask(call("early", "memory_doctor"))["error"]["code"] == -32602
    assert "result" in server.open()
    assert "result" in server.ask(call("late", "memory_doctor"))
