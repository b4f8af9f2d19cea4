"""Many programs on one vault, and installers beside each other.

    python -m tests.faults.concurrency saves [--processes 16] [--saves 200]
    python -m tests.faults.concurrency installers [--turns 3]

``saves``: a third of the processes save through the command line, a third through a server, a third through
the API, while readers search, read and examine. ``installers``: every pair of harnesses is installed, and
then taken out, by processes that run at the same time.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

from ecc_memory.errors import EccMemoryError
from ecc_memory.vault import Vault

from .person import HARNESSES, Person

BIN = Path(sys.executable).parent


class Saver:
    """Saves memories in one of three ways and collects their ids."""

    def __init__(self, person: Person, number: int) -> None:
        self.person = person
        self.env = {**person.env, "ECC_MEMORY_HARNESS": HARNESSES[number % 4]}
        self.name = f"{('cli', 'server', 'api')[number % 3]}-{number}"

    def run(self, count: int) -> list[tuple[str, str]]:
        """Save so many memories; return ids and bodies."""
        return {"cli": self._cli, "server": self._server, "api": self._api}[self.name.partition("-")[0]](
            count
        )

    def _cli(self, count: int) -> list[tuple[str, str]]:
        command = [BIN / "ecc-memory", "save", "--title", "Same title", "--stdin", "--json"]
        saved = []
        for number in range(count):
            body = f"{self.name} {number}"
            done = subprocess.run(
                command,
                input=body,
                cwd=self.person.project,
                env=self.env,
                capture_output=True,
                text=True,
                check=True,
            )
            saved.append((json.loads(done.stdout)["memory"]["id"], body))
        return saved

    def _server(self, count: int) -> list[tuple[str, str]]:
        hello = {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "t", "version": "0"},
        }
        bodies = [f"{self.name} {number}" for number in range(count)]
        calls = [
            {"name": "memory_save", "arguments": {"title": "Same title", "body": body}} for body in bodies
        ]
        requests = [("initialize", hello), *(("tools/call", call) for call in calls)]
        with subprocess.Popen(
            [BIN / "ecc-memory-mcp"],
            cwd=self.person.project,
            env=self.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as server:
            assert server.stdin is not None
            assert server.stdout is not None
            ids = []
            for number, (method, params) in enumerate(requests):
                request = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
                server.stdin.write(json.dumps(request) + "\n")
                server.stdin.flush()
                answer = json.loads(server.stdout.readline())
                assert answer["id"] == number, answer
                if number:
                    ids.append(answer["result"]["structuredContent"]["memory"]["id"])
            server.stdin.close()
        return list(zip(ids, bodies, strict=True))

    def _api(self, count: int) -> list[tuple[str, str]]:
        program = (
            "import sys; from ecc_memory.vault import Vault\n"
            "vault = Vault.open(env={})\n"
            "for number in range(int(sys.argv[2])):\n"
            "    body = f'{sys.argv[1]} {number}'\n"
            "    print(vault.save(title='Same title', body=body).memory.id, body, sep='\\t')"
        )
        done = subprocess.run(
            [sys.executable, "-c", program, self.name, str(count)],
            cwd=self.person.project,
            env=self.env,
            capture_output=True,
            text=True,
            check=True,
        )
        return [tuple(line.split("\t")) for line in done.stdout.splitlines()]  # type: ignore[misc]


def saves(processes: int, count: int) -> Iterator[str]:
    """All there, all distinct, none torn."""
    with tempfile.TemporaryDirectory() as folder:
        person = Person(Path(folder, "home"))
        stop, seen = Event(), [0, 0, 0]
        with ThreadPoolExecutor(processes + 2) as pool:
            readers = [pool.submit(_read, person.vault(), stop, seen) for _ in range(2)]
            savers = [pool.submit(Saver(person, number).run, count) for number in range(processes)]
            try:
                saved = [pair for saver in savers for pair in saver.result()]
            finally:
                stop.set()
            for reader in readers:
                reader.result()
        bodies = dict(saved)
        assert len(bodies) == len(saved) == processes * count, "an id was given twice"
        vault = person.vault()
        report = vault.doctor()
        assert (report.ok, report.memory_count) == (True, len(saved)), report.findings
        files = {path.stem: path for path in person.memories.rglob("*.md")}
        assert set(files) == set(bodies), "a memory is lost"
        for id, path in files.items():
            assert path.read_text("utf-8").endswith(f"\n\n{bodies[id]}\n"), "a memory holds another's text"
    ways = "command line, server and API"
    yield f"{processes} processes, {count} saves each by {ways}: {len(saved)} distinct, 0 lost"
    yield f"beside them {seen[0]} searches, {seen[1]} reads, {seen[2]} examinations: 0 torn"


def _read(vault: Vault, stop: Event, seen: list[int]) -> None:
    most = 0
    while not stop.is_set():
        found = vault.search("same", limit=5)
        assert found.diagnostics.invalid_files == 0, "a reader saw a memory that is not whole"
        assert found.diagnostics.total >= most, "a reader lost sight of a memory"
        most = found.diagnostics.total
        seen[0] += 1
        if found.results:
            assert vault.read(found.results[0].memory.id).memory.title == "Same title"
            seen[1] += 1
        assert vault.doctor().ok
        seen[2] += 1
        time.sleep(0.02)


def installers(turns: int) -> Iterator[str]:
    """Every pair at once leaves a sound state, and nothing in the end."""
    pairs = list(itertools.combinations_with_replacement(HARNESSES, 2))
    with tempfile.TemporaryDirectory() as folder:
        person = Person(Path(folder, "home"))
        before = person.tree()
        person.install(*HARNESSES)
        person.uninstall()
        for one, other in pairs:
            person.install(*{one, other})
            both = person.tree()
            person.uninstall()
            for _ in range(turns):
                _at_once(lambda one=one: person.install(one), lambda other=other: person.install(other))
                assert _without_records(person) == {k: v for k, v in both.items() if "receipts" not in k}
                _at_once(lambda one=one: person.uninstall(one), lambda other=other: person.install(other))
                _at_once(lambda one=one: person.uninstall(one), lambda other=other: person.uninstall(other))
                person.uninstall()
                assert person.tree() == before
    yield f"{len(pairs)} pairs of harnesses, {turns} turns of install, mixed and uninstall at once: 0 broken"


def _without_records(person: Person) -> dict[str, tuple[object, ...]]:
    return {name: facts for name, facts in person.tree().items() if "receipts" not in name}


def _at_once(*works: Callable[[], object]) -> None:
    """Do each piece of work in a child of its own."""
    children = []
    for work in works:
        child = os.fork()
        if child == 0:
            status = 1
            try:
                work()
                status = 0
            except EccMemoryError as error:
                os.write(2, f"{error}\n".encode())
            finally:
                os._exit(status)
        children.append(child)
    statuses = [os.waitpid(child, 0)[1] for child in children]
    assert statuses == [0] * len(works), "an installer failed because of another one"


def main() -> None:
    """Run one scenario and print what came of it."""
    parser = argparse.ArgumentParser(description="Work at once.")
    commands = parser.add_subparsers(dest="scenario", required=True)
    command = commands.add_parser("saves")
    command.add_argument("--processes", type=int, default=16)
    command.add_argument("--saves", type=int, default=200)
    commands.add_parser("installers").add_argument("--turns", type=int, default=3)
    given = parser.parse_args()
    if given.scenario == "saves":
        print("\n".join(saves(given.processes, given.saves)))
    else:
        print("\n".join(installers(given.turns)))


if __name__ == "__main__":
    main()
