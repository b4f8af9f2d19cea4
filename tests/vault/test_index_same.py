"""With the index and without it: the same answers, whatever is done to the files."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from unittest.mock import patch

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from ecc_memory.errors import EccMemoryError
from ecc_memory.reminders import counts as reminders
from ecc_memory.vault import KINDS, Memory, Vault, index, scan, serialize_document
from ecc_memory.vault.index import lexicon

GRAIN = 0.02
WORDS = [
    *("token", "Token-Store", "tokenStore", "token_store", "black", "box", "blackbox", "rotation", "API/v2"),
    *("Σίσυφος", "ΣΑΣ", "設備", "设备清单", "轮换", "Müller", "Mu\u0308ller", "İstanbul", "ﬁle"),
    *("🧠", "!!!", "a", "´x", "\u0301y"),
]
TEXT = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).flatmap(
    lambda words: st.sampled_from([" ", "\n", "  ", "-", "\u00a0", ""]).map(lambda gap: gap.join(words))
)
QUERIES = [
    *("", "token", "TOKENSTORE", "token store", "token-store", "black box", "blackbox", "rotation token box"),
    *("设备", "如何轮换设备", "müller", "muller", "σας", "istanbul", "file"),
    *("!!!", "🧠", "a", "x", "t0", "api v2", "note codex"),
]
SCOPES = ["project", "team", "user"]
HARNESSES = ["all", "codex", "claude"]
SECRET = "gh" + "p_" + "a1B2c3D4e5" * 4
NUMBER = st.integers(0, 10**6)


class SameAnswers(RuleBasedStateMachine):
    """A long-living vault, one that is opened for each call, and one without the index, side by side."""

    @initialize()
    def start(self) -> None:
        self.clean_up = ExitStack()
        for module, name, value in (
            (scan, "_GRAIN_NS", int(GRAIN * 1e9)),
            (index, "LEAST_DOCUMENTS", 1),
            (lexicon, "_LEAST", 3),
            (lexicon, "_MOST", 8),
            (reminders, "_WORTH_LOADING", 1),
        ):
            self.clean_up.enter_context(patch.object(module, name, value))
        self.top = Path(tempfile.mkdtemp())
        self.clean_up.callback(shutil.rmtree, self.top)
        self.home, self.repository = self.top / "home", self.top / "home/app"
        (self.repository / ".git").mkdir(parents=True)
        self.backup = self.top / "backup"
        self.env: dict[str, str] = {}
        self.count = 0
        self.server = self.open()

    def open(self, **env: str) -> Vault:
        return Vault.open(cwd=self.repository, env={**self.env, **env}, home=self.home)

    def teardown(self) -> None:
        if hasattr(self, "clean_up"):
            self.clean_up.close()

    def roots(self) -> list[Path]:
        memory = self.repository / ".ecc/memory"
        return [memory / "project", memory / "team", self.home / ".ecc/memory"]

    def files(self) -> list[Path]:
        return sorted(
            path
            for root in self.roots()
            for path in root.rglob("*.md")
            if path.is_file() and not path.is_symlink()
        )

    def pick(self, number: int) -> Path:
        files = self.files()
        return files[number % len(files)]

    def new_id(self) -> str:
        self.count += 1
        return f"mem_n{self.count:03}"

    @rule(
        title=TEXT,
        body=TEXT,
        kind=st.sampled_from(KINDS),
        scope=st.sampled_from(SCOPES),
        aimed=st.sampled_from(HARNESSES),
        tags=st.sets(st.sampled_from(["token", "box", "a"])),
        link=NUMBER,
    )
    def save(
        self, title: str, body: str, kind: str, scope: str, aimed: str, tags: set[str], link: int
    ) -> None:
        links = [f"mem_n{link % self.count + 1:03}"] if self.count else []
        title = title.replace("\n", " ")
        try:
            self.server.save(
                title=title, body=body, kind=kind, scope=scope, target_harnesses=[aimed], tags=sorted(tags),
                links=links, id=self.new_id(),
            )  # fmt: skip
        except EccMemoryError:
            pass  # a place was made unusable by another rule

    @rule(bodies=st.lists(TEXT, min_size=3, max_size=12), kind=st.sampled_from(KINDS))
    def copy_many_in(self, bodies: list[str], kind: str) -> None:
        folder = self.roots()[0] / f"{kind}s"
        folder.mkdir(parents=True, exist_ok=True)
        for body in bodies:
            identity = self.new_id()
            stamp = f"2026-07-{self.count % 28 + 1:02}T00:00:00.000Z"
            title = f"t{self.count % 3}"
            memory = Memory(
                identity, title, kind, "project", "active", "codex", ("all",), (), (), stamp, stamp, body
            )
            (folder / f"{identity}.md").write_text(serialize_document(memory), encoding="utf-8")

    @precondition(lambda self: self.files())
    @rule(number=NUMBER, text=TEXT, in_place=st.booleans(), keep_times=st.booleans())
    def edit_by_hand(self, number: int, text: str, in_place: bool, keep_times: bool) -> None:
        path = self.pick(number)
        self.rewrite(path, path.read_bytes() + text.encode(), in_place, keep_times)

    @precondition(lambda self: self.files())
    @rule(
        number=NUMBER,
        change=st.sampled_from(
            [
                (b'"active"', b'"superseded"'),
                (b'"superseded"', b'"active"'),
                (b'["all"]', b'["codex"]'),
                (b"token", b"nekot"),  # of the same size
                (b'schema: "', b'schemas: "'),
                (b"---\n\n", b"---\n\n" + SECRET.encode() + b"\n"),
                (SECRET.encode() + b"\n", b""),
                (b'"mem_n002"', b'"mem_n001"'),
            ]
        ),
        in_place=st.booleans(),
        keep_times=st.booleans(),
    )
    def replace_by_hand(
        self, number: int, change: tuple[bytes, bytes], in_place: bool, keep_times: bool
    ) -> None:
        path = self.pick(number)
        self.rewrite(path, path.read_bytes().replace(*change), in_place, keep_times)

    def rewrite(self, path: Path, data: bytes, in_place: bool, keep_times: bool) -> None:
        before = path.stat()
        if in_place:
            path.write_bytes(data)
        else:
            path.with_name("tmp~").write_bytes(data)
            path.with_name("tmp~").rename(path)
        if keep_times:
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    @precondition(lambda self: self.files())
    @rule(one=NUMBER, other=NUMBER)
    def swap(self, one: int, other: int) -> None:
        first, second = self.pick(one), self.pick(other)
        if first != second:
            spare = first.with_name("swap~")
            first.rename(spare)
            second.rename(first)
            spare.rename(second)

    @precondition(lambda self: self.files())
    @rule(number=NUMBER, kind=st.sampled_from(KINDS), root=st.integers(0, 2), copy=st.booleans())
    def move_or_copy(self, number: int, kind: str, root: int, copy: bool) -> None:
        path = self.pick(number)
        target = self.roots()[root] / f"{kind}s" / "sub" / f"m{number}.md"
        target.parent.mkdir(parents=True, exist_ok=True)
        if copy:
            shutil.copy2(path, target)
        else:
            path.replace(target)

    @precondition(lambda self: self.files())
    @rule(one=NUMBER, other=NUMBER, mode=st.sampled_from([0o600, 0o640]))
    def touch_like_and_chmod(self, one: int, other: int, mode: int) -> None:
        path, reference = self.pick(one), self.pick(other).stat()
        os.utime(path, ns=(reference.st_atime_ns, reference.st_mtime_ns))
        path.chmod(mode)

    @precondition(lambda self: self.files())
    @rule(number=NUMBER, into=st.sampled_from(["nothing", "link", "folder", "hidden"]))
    def replace_by(self, number: int, into: str) -> None:
        path = self.pick(number)
        if into == "hidden":
            path.rename(path.with_name("." + path.name))
            return
        path.unlink()
        if into == "link":
            path.symlink_to(self.repository / "elsewhere.md")
        elif into == "folder":
            path.mkdir()

    @rule(root=st.integers(0, 2))
    def back_up(self, root: int) -> None:
        shutil.rmtree(self.backup, ignore_errors=True)
        self.backup_of = self.roots()[root]
        if self.backup_of.exists():
            shutil.copytree(self.backup_of, self.backup, symlinks=True)

    @precondition(lambda self: self.backup.exists())
    @rule()
    def restore(self) -> None:
        shutil.rmtree(self.backup_of, ignore_errors=True)
        shutil.copytree(self.backup, self.backup_of, symlinks=True)

    @rule(one=st.sampled_from(KINDS), other=st.sampled_from(KINDS), linked=st.booleans())
    def move_folder(self, one: str, other: str, linked: bool) -> None:
        root = self.roots()[0]
        source, target = root / f"{one}s", root / f"{other}s"
        if source.is_dir() and not target.exists() and not target.is_symlink():
            source.rename(target)
            if linked:
                source.symlink_to(target)

    @rule(bounds=st.sampled_from([{}, {"ECC_MEMORY_MAX_FILES": "9"}, {"ECC_MEMORY_MAX_SCAN_BYTES": "2500"}]))
    def set_bounds(self, bounds: dict[str, str]) -> None:
        self.env = bounds
        self.server = self.open()

    @rule()
    def drop_index(self) -> None:
        shutil.rmtree(self.home / ".cache", ignore_errors=True)

    @rule(at=NUMBER)
    def damage_index(self, at: int) -> None:
        for store in (self.home / ".cache/ecc-memory").glob("*.sqlite"):
            data = bytearray(store.read_bytes())
            for offset in range(at % 3000 + 100, len(data), 3000):
                data[offset] ^= 1
            store.write_bytes(data)

    @rule()
    def wait(self) -> None:
        time.sleep(GRAIN * 1.5)

    @invariant()
    def same_answers(self) -> None:
        if not hasattr(self, "server"):
            return
        plain = self.open(ECC_MEMORY_INDEX="0")
        for expected, server, process in zip(
            answers(plain), answers(self.server), answers(self.open()), strict=True
        ):
            assert server == expected
            assert process == expected
        cache = str(self.home / ".cache/ecc-memory")
        for harness in HARNESSES:
            assert told(plain, harness, cache) == told(plain, harness, None)


def told(vault: Vault, harness: str, cache: str | None) -> object:
    """What a reminder says, with the index of the hook's own and without."""
    places = [vault.place(scope) for scope in SCOPES]
    try:
        return vars(reminders.count(places, harness, time.monotonic() + 60, cache))
    except EccMemoryError as error:
        return error.code


def answers(vault: Vault) -> Iterator[object]:
    for query in QUERIES:
        yield query, vault.search(query, limit=4, scopes=SCOPES)
    yield vault.search("token", target_harness="codex")
    yield vault.search("token", kinds=["note", "fact"], scopes=["user"])
    for scopes in (["project", "team"], SCOPES):
        yield vault.doctor(scopes=scopes)
    yield vault.doctor(target_harness="claude")
    for number in (1, 2, 3):
        try:
            yield vault.read(f"mem_n{number:03}", scopes=SCOPES)
        except EccMemoryError as error:
            yield error.code, error.message


TestSameAnswers = SameAnswers.TestCase
TestSameAnswers.settings = settings(
    max_examples=25,
    stateful_step_count=20,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate],
)
