"""The order in which things reach the disk, asserted from the system calls of real processes.

After a power cut a disk may hold any prefix of what was flushed. So the content is flushed before it gets
its name, and the name is flushed before anybody is told.
"""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

from ecc_memory.vault.index import LEAST_DOCUMENTS

from .person import Person
from .strace import Call, calls

SAVE = """
import os, sys
from ecc_memory.vault import Vault
vault = Vault.open(cwd=sys.argv[1], env={}, home=sys.argv[2])
print(vault.save(title="T", body="B").path, flush=True)
"""
INSTALL = """
import sys
from pathlib import Path
from tests.faults.person import Person
Person(Path(sys.argv[1])).install("codex", parts=frozenset({"mcp"}))
"""


def place(found: list[Call], name: str, ending: str) -> int:
    """Where the first call of a name stands that concerns a path of that ending."""
    for number, call in enumerate(found):
        if call.name == name and any(path.endswith(ending) for path in call.paths):
            return number
    raise AssertionError(f"no {name} of {ending} in {found}")


def test_save_flushes_content_then_links_then_flushes_the_name(tmp_path: Path) -> None:
    person = Person(tmp_path / "home")
    found = calls(SAVE, person.project, person.path, folder=person.project, log=tmp_path / "log")
    notes = str(person.memories / "notes")
    [linked] = [call for call in found if call.name == "link" and call.paths[1].endswith(".md")]
    temporary, document = linked.paths
    assert temporary.startswith(f"{notes}/.ecc-tmp-")
    assert document.startswith(f"{notes}/mem_")
    steps = [
        ("mkdir", notes),
        ("fsync", str(person.memories)),  # the folder's own name
        ("open", temporary),
        ("write", temporary),
        ("fsync", temporary),
        ("link", document),
        ("fsync", notes),
        ("unlink", temporary),
    ]
    after = place(found, "mkdir", notes)
    order = [place(found[after:], name, path) for name, path in steps]
    assert order == sorted(order)
    assert len(set(order)) == len(steps)
    [opened] = [call for call in found if call.name == "open" and temporary in call.paths]
    assert all(flag in opened.flags for flag in ("O_EXCL", "O_NOFOLLOW", "O_CLOEXEC", "0600"))
    assert not [call for call in found if call.name in ("rename", "write") and document in call.paths]


def test_installer_flushes_the_receipt_before_it_touches_a_configuration(tmp_path: Path) -> None:
    person = Person(tmp_path / "home")
    log = tmp_path / "log"
    found = calls(INSTALL, person.path, folder=person.path, log=log)
    config, state = person.path / ".codex/config.toml", person.path / ".local/state/ecc-memory"
    receipt = place(found, "link", f"{state}/receipts.json")
    rename = place(found, "rename", str(config))
    temporary = found[rename].paths[0]
    assert Path(temporary).name.startswith(".ecc-memory-")
    order = [
        receipt,
        place(found, "fsync", str(state)),
        place(found, "open", temporary),
        place(found, "write", temporary),
        place(found, "fsync", temporary),
        rename,
        rename + 1 + place(found[rename + 1 :], "fsync", str(config.parent)),
    ]
    assert order == sorted(order)
    assert place(found, "fsync", found[receipt].paths[0]) < receipt


def test_a_damaged_index_is_not_believed(tmp_path: Path) -> None:
    """The index is not flushed, so that after a power cut any byte of it may be wrong."""
    person = Person(tmp_path / "home")
    person.fill(LEAST_DOCUMENTS)
    person.vault().search("title")
    [store] = (person.path / ".cache/ecc-memory").glob("*.sqlite")
    with contextlib.closing(sqlite3.connect(store)) as connection:
        damage = "record = CAST(replace(record, 'Title', 'Wrong') AS BLOB)"
        assert connection.execute(f"UPDATE document SET {damage}").rowcount == LEAST_DOCUMENTS
        connection.commit()
    expected = person.vault(ECC_MEMORY_INDEX="0").search("title", limit=100)
    assert expected.results[0].memory.title.startswith("Title")
    assert person.vault().search("title", limit=100) == expected
