"""Every way in refuses the same, and no way of reading shows what is not for the reader.

Each absence is asserted next to its positive control: the same way of reading, asked by somebody who may.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ecc_memory.errors import EccMemoryError
from ecc_memory.reminders.run import answer
from ecc_memory.vault import Vault

from ..faults.person import Person
from ..mcp.process import COMMAND, ServerProcess, call
from ..vault.conftest import git
from ..vault.secret_samples import positives

BIN = Path(sys.executable).parent
Fields = dict[str, Any]
VALID: Fields = {"title": "T", "body": "B", "kind": "note", "scope": "project", "tags": [], "links": []}
SECRET = next(secret for rule, secret in positives(3) if rule == "github-pat")
VIOLATIONS: dict[str, Fields] = {
    "secret in the body": {"body": f"see {SECRET}"},
    "secret in the title": {"title": f"see {SECRET}"},
    "secret as a tag": {"tags": [SECRET]},
    "secret as a link": {"links": [SECRET]},
    "secret over two lines": {"body": f"{SECRET[:20]}\r\n{SECRET[20:]}"},
    "control in the title": {"title": "a\x1b]0;x\x07"},
    "control in the body": {"body": "a\x9b31m"},
    "turned text in the title": {"title": "a\u202eb"},
    "turned text in the body": {"body": "a\u2066b"},
    "title of two lines": {"title": "a\nb"},
    "title too long": {"title": "a" * 201},
    "blank title": {"title": " \u3000 "},
    "body too long": {"body": "a" * 65537},
    "empty body": {"body": "\n"},
    "unknown kind": {"kind": "instruction"},
    "unknown scope": {"scope": "system"},
    "path as a kind": {"kind": "../../x"},
    "path as a tag": {"tags": ["../x"]},
    "tag twice": {"tags": ["a", "a"]},
    "too many tags": {"tags": [f"t{n}" for n in range(33)]},
    "path as a link": {"links": ["mem_1/../../x"]},
    "too many links": {"links": [f"mem_{n:03}" for n in range(65)]},
    "target in capitals": {"targetHarnesses": ["Codex"]},
}


class Entrances:
    """The ways in: each saves some fields and tells whether they were accepted."""

    def __init__(self, person: Person) -> None:
        self.person = person
        self.env = {**person.env, "ECC_MEMORY_HARNESS": "codex"}
        self._server: ServerProcess | None = None

    def api(self, fields: Fields) -> bool:
        given = {**fields, "target_harnesses": fields.get("targetHarnesses", ["all"])}
        given.pop("targetHarnesses", None)
        try:
            Vault.open(cwd=self.person.project, env=self.env, home=self.person.path).save(**given)
        except EccMemoryError:
            return False
        return True

    def cli(self, fields: Fields) -> bool:
        words = ["--title", fields["title"], "--kind", fields["kind"], "--scope", fields["scope"], "--stdin"]
        for option, values in (("--tag", "tags"), ("--link", "links"), ("--target", "targetHarnesses")):
            words += [word for value in fields.get(values, ()) for word in (option, value)]
        done = subprocess.run(
            [BIN / "ecc-memory", "save", *words],
            input=fields["body"].encode(),
            cwd=self.person.project,
            env=self.env,
            capture_output=True,
            check=False,
        )
        assert done.returncode in (0, 1, 2)
        assert SECRET not in done.stderr.decode()
        return done.returncode == 0

    def mcp(self, fields: Fields) -> bool:
        if self._server is None:
            self._server = ServerProcess([COMMAND], cwd=self.person.project, env=self.env)
            self._server.open()
        reply = self._server.ask(call(len(self._server.raw), "memory_save", **fields))
        assert SECRET not in json.dumps(reply)
        return "structuredContent" in reply.get("result", {})

    def hook(self, fields: Fields) -> bool:
        """The guard, asked about a file tool that would write the document."""
        path = self.person.memories.parent / fields["scope"] / f"{fields['kind']}s" / "mem_by_tool.md"
        tool_input = {"file_path": str(path), "content": document(fields)}
        event = {"hook_event_name": "PreToolUse", "cwd": str(self.person.project), "tool_name": "Write"}
        said = answer(
            ["guard", "--harness", "claude", "--event", "PreToolUse"],
            json.dumps({**event, "tool_input": tool_input}).encode(),
            self.env,
            float("inf"),
        )
        assert SECRET not in said.decode()
        return said == b""

    def close(self) -> None:
        if self._server is not None:
            self._server.close()


def document(fields: Fields) -> str:
    values = {
        "schema": "ecc.memory.v1",
        "id": "mem_by_tool",
        "title": fields["title"],
        "kind": fields["kind"],
        "scope": fields["scope"],
        "trust": "unreviewed",
        "status": "active",
        "source_harness": "claude",
        "target_harnesses": fields.get("targetHarnesses", ["all"]),
        "tags": fields["tags"],
        "links": fields["links"],
        "created_at": "2026-07-26T20:00:00.000Z",
        "updated_at": "2026-07-26T20:00:00.000Z",
    }
    head = (f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in values.items())
    return "\n".join(["---", *head, "---", "", fields["body"], ""])


@pytest.fixture(scope="module")
def entrances(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Entrances]:
    made = Entrances(Person(tmp_path_factory.mktemp("entrances") / "home"))
    yield made
    made.close()


WAYS = ("api", "cli", "mcp", "hook")


@pytest.mark.parametrize("way", WAYS)
def test_every_entrance_takes_what_is_right(entrances: Entrances, way: str) -> None:
    assert getattr(entrances, way)(VALID)


@pytest.mark.parametrize("violation", VIOLATIONS)
def test_every_entrance_refuses_the_same(entrances: Entrances, violation: str) -> None:
    before = entrances.person.tree()
    accepted = {way: getattr(entrances, way)({**VALID, **VIOLATIONS[violation]}) for way in WAYS}
    accepted.pop("hook") if violation in NOT_IN_A_VAULT else None
    assert not any(accepted.values()), accepted
    assert entrances.person.tree() == before


NOT_IN_A_VAULT = ("unknown scope", "path as a kind")
"""Where the file tool would write to a place that is none of a vault's; the scan never looks there."""


@pytest.mark.parametrize("way", ["api", "cli", "mcp"])
@pytest.mark.parametrize("trouble", ["dry run", "foreign .gitignore", "linked vault", "home as project"])
def test_every_entrance_respects_the_surroundings(tmp_path: Path, way: str, trouble: str) -> None:
    person = Person(tmp_path / "home")
    entrances = Entrances(person)
    if trouble == "dry run":
        entrances.env["ECC_DRY_RUN"] = "1"
    elif trouble == "foreign .gitignore":
        person.write(person.memories / ".gitignore", b"*.log\n")
    elif trouble == "linked vault":
        (tmp_path / "outside").mkdir()
        (person.project / ".ecc").symlink_to(tmp_path / "outside")
    else:
        person.project = person.path
    before = person.tree()
    try:
        assert not getattr(entrances, way)(VALID)
        assert person.tree() == before
        assert list((tmp_path).glob("outside/*")) == []
    finally:
        entrances.close()


# -- reading -----------------------------------------------------------------------------------------------


CANARY = "xylophone"


def wire_of(person: Person, harness: str, *messages: dict[str, Any], cwd: Path | None = None) -> str:
    """All that a server says to some requests."""
    env = {**person.env, "ECC_MEMORY_HARNESS": harness}
    server = ServerProcess([COMMAND], cwd=cwd or person.project, env=env)
    try:
        server.open()
        for message in messages:
            server.ask(message)
        return b"".join(server.raw[1:]).decode()
    finally:
        server.close()


def reminder(person: Person, harness: str, cwd: Path | None = None) -> str:
    """What a session of a harness is told when it starts."""
    event = {"hook_event_name": "SessionStart", "source": "startup", "cwd": str(cwd or person.project)}
    words = ["reminder", "--harness", harness, "--event", "SessionStart"]
    return answer(words, json.dumps(event).encode(), person.env, float("inf")).decode()


QUESTIONS = [
    call(1, "memory_search", query=CANARY),
    call(2, "memory_search"),
    call(3, "memory_read", id="mem_hidden"),
    call(4, "memory_read", id="mem_shared"),
    call(5, "memory_doctor"),
    call(6, "memory_read", id="mem_twice"),
]


def test_second_harness_sees_nothing_of_what_is_for_another(tmp_path: Path) -> None:
    person = Person(tmp_path / "home")
    vault = person.vault()
    vault.save(title="Shared", body="for all", id="mem_shared")
    vault.save(title="Once", body="for all", id="mem_twice")
    for id, kind in (("mem_hidden", "note"), ("mem_hidden2", "handoff")):
        vault.save(
            title=f"{CANARY} title",
            body=f"{CANARY} body",
            tags=[CANARY],
            links=["mem_shared"],
            id=id,
            kind=kind,
            target_harnesses=["claude"],
        )
    twin = (person.memories / "notes" / "mem_twice.md").read_text().replace('["all"]', '["claude"]')
    (person.memories / "notes" / "copy.md").write_text(twin)
    secret, open_ = (wire_of(person, harness, *QUESTIONS) for harness in ("codex", "claude"))
    assert CANARY not in secret
    assert "mem_hidden2" not in secret
    assert open_.count(CANARY) > 5
    answers = {json.loads(line)["id"]: json.loads(line)["result"] for line in secret.splitlines()}
    shared = answers[4]["structuredContent"]
    assert (shared["backlinks"], "linkedBy" in shared) == ([], False)
    assert answers[5]["structuredContent"]["memoryCount"] == 2
    assert answers[5]["structuredContent"]["duplicateIdCount"] == 0
    assert answers[6]["structuredContent"]["memory"]["title"] == "Once"
    control = {json.loads(line)["id"]: json.loads(line)["result"] for line in open_.splitlines()}
    assert len(control[4]["structuredContent"]["backlinks"]) == 2
    assert control[5]["structuredContent"]["memoryCount"] == 5
    assert control[5]["structuredContent"]["duplicateIdCount"] == 1
    assert control[6]["isError"]
    absent = wire_of(person, "codex", call(3, "memory_read", id="mem_absent"))
    hidden = wire_of(person, "codex", call(3, "memory_read", id="mem_hidden"))
    assert hidden.replace("mem_hidden", "mem_absent") == absent
    assert "2 active memories" in reminder(person, "codex")
    assert "0 handoffs addressed to codex" in reminder(person, "codex")
    assert "1 handoff addressed to claude" in reminder(person, "claude")


def test_harness_in_capitals_is_nobody(tmp_path: Path) -> None:
    person = Person(tmp_path / "home")
    done = subprocess.run(
        [COMMAND, "--harness", "Claude"], env=person.env, cwd=person.project, capture_output=True, check=False
    )
    assert done.returncode == 2
    assert done.stdout == b""


def read_everywhere(person: Person, cwd: Path) -> str:
    """Everything that command line, server and reminder say in a folder, and the API's words."""
    said = [wire_of(person, "codex", *QUESTIONS, cwd=cwd), reminder(person, "codex", cwd)]
    for words in (["search", CANARY], ["search"], ["read", "mem_hidden"], ["doctor"], ["doctor", "--json"]):
        done = subprocess.run(
            [BIN / "ecc-memory", *words], cwd=cwd, env=person.env, capture_output=True, text=True, check=False
        )
        said.append(done.stdout.replace(str(cwd), "").replace(f"'{CANARY}'", ""))
    return "\n".join(said)


def save_canary(person: Person, project: Path, **fields: Any) -> None:
    vault = Vault.open(cwd=project, env=person.env, home=person.path)
    vault.save(title=f"{CANARY} title", body=CANARY, id="mem_hidden", **fields)


def test_second_project_sees_nothing_of_the_first(tmp_path: Path) -> None:
    person = Person(tmp_path / "home")
    other = person.path / "elsewhere" / "project"  # of the same name
    (other / ".git").mkdir(parents=True)
    save_canary(person, person.project)
    assert CANARY not in read_everywhere(person, other)
    assert read_everywhere(person, person.project).count(CANARY) > 5


def test_user_scope_is_closed_unless_asked_for(tmp_path: Path) -> None:
    person = Person(tmp_path / "home")
    save_canary(person, person.project, scope="user")
    assert CANARY not in read_everywhere(person, person.project)
    questions = [
        call(1, "memory_search", query="", scopes=["user"]),
        call(2, "memory_read", id="mem_hidden", scope="user"),
        call(3, "memory_doctor", scopes=["user"]),
        call(4, "memory_save", title="T", body="B", scope="user"),
    ]
    before = person.tree()
    refused = [json.loads(line) for line in wire_of(person, "codex", *questions).splitlines()]
    assert [reply["error"]["code"] for reply in refused] == [-32602] * 4
    assert CANARY not in json.dumps(refused)
    assert person.tree() == before
    env = {**person.env, "ECC_MEMORY_HARNESS": "codex", "ECC_MEMORY_ALLOW_USER_SCOPE": "1"}
    server = ServerProcess([COMMAND], cwd=person.project, env=env)
    try:
        server.open()
        assert CANARY in json.dumps(server.succeed("memory_search", query=CANARY, scopes=["user"]))
    finally:
        server.close()


def test_linked_worktree_shares_the_project_scope_and_only_that(tmp_path: Path) -> None:
    person = Person(tmp_path / "home")
    main = person.path / "main"
    main.mkdir()
    git("init", "-q", ".", cwd=main)
    git("commit", "-q", "--allow-empty", "-m", "x", cwd=main)
    git("worktree", "add", "-q", "../linked", cwd=main)
    linked = person.path / "linked"
    save_canary(person, main, scope="team")
    assert CANARY not in read_everywhere(person, linked)
    Vault.open(cwd=main, env=person.env, home=person.path).save(title="P", body=f"{CANARY} shared")
    assert f"{CANARY} shared" in read_everywhere(person, linked)


def test_a_git_file_that_points_to_another_project_is_not_believed(tmp_path: Path) -> None:
    """Anybody can write a ``.git`` file; git's own back-link is what counts."""
    person = Person(tmp_path / "home")
    main, liar = person.path / "main", person.path / "liar"
    main.mkdir()
    liar.mkdir()
    git("init", "-q", ".", cwd=main)
    git("commit", "-q", "--allow-empty", "-m", "x", cwd=main)
    git("worktree", "add", "-q", "../linked", cwd=main)
    save_canary(person, main)
    (liar / ".git").write_text((person.path / "linked" / ".git").read_text())
    assert CANARY not in read_everywhere(person, liar)
    assert CANARY in read_everywhere(person, person.path / "linked")


@pytest.fixture
def folders(tmp_path: Path) -> Iterator[Callable[[bool], Path]]:
    """Gives a folder in which upper and lower case are the same, or are not."""
    mounted: list[Path] = []

    def give(folds: bool) -> Path:
        folder = tmp_path / "disk"
        folder.mkdir()
        if folds:
            image = tmp_path / "image"
            image.touch()
            os.truncate(image, 16 << 20)
            for command in (
                ["mkfs.ext4", "-q", "-O", "casefold", image],
                ["mount", "-o", "loop", image, folder],
            ):
                try:
                    done = subprocess.run(command, capture_output=True, check=False)
                except FileNotFoundError:
                    pytest.skip("no file system without case can be made here")
                if done.returncode:
                    pytest.skip("no file system without case can be mounted here")
            mounted.append(folder)
            (folder / "twins").mkdir()
            subprocess.run(["chattr", "+F", folder / "twins"], check=True)
            return folder / "twins"
        return folder

    yield give
    for folder in mounted:
        subprocess.run(["umount", "-l", folder], check=True)


@pytest.mark.parametrize("folds", [False, True])
def test_twin_in_other_case(folders: Callable[[bool], Path], folds: bool) -> None:
    """Two folders where case counts, one folder where it does not; never a mixture."""
    base = folders(folds)
    person = Person(base / "home")
    one, twin = base / "home" / "Shop", base / "home" / "shop"
    (one / ".git").mkdir(parents=True)
    (twin / ".git").mkdir(parents=True, exist_ok=True)
    save_canary(person, one)
    assert (CANARY in read_everywhere(person, twin)) == folds
    assert CANARY in read_everywhere(person, one)
    event = {
        "hook_event_name": "PreToolUse", "cwd": str(one), "tool_name": "Write",
        "tool_input": {"file_path": str(twin / ".ecc/memory/project/notes/mem_hidden.md"), "content": "x"},
    }  # fmt: skip
    words = ["guard", "--harness", "claude", "--event", "PreToolUse"]
    assert b"deny" in answer(words, json.dumps(event).encode(), person.env, float("inf"))
