"""Making every single request to the operating system fail once, and looking at what is left.

    python -m tests.faults.failures {save,init,install,uninstall} [--every 1] [--seed 0]

The work is done once for each request that it makes and each error that the request can meet; ``--every``
takes one of so many. The exit status is 1 when a promise was broken.
"""

from __future__ import annotations

import argparse
import errno
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from ecc_memory.errors import EccMemoryError
from ecc_memory.install.status import status
from ecc_memory.testing.home import Tree

from .person import Person, leftovers
from .steps import fail_at, requests

ERRORS = (errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EMFILE, errno.ESTALE)

LOCK = ".local/state/ecc-memory/lock"


class Case:
    """A piece of work, how to get to where it starts, and what must hold after it."""

    def __init__(self, name: str, folder: Path) -> None:
        self.person = Person(folder / "home")
        self.old = self.person.tree()
        self.person.install_all()
        self.new = self.person.tree()
        self.person.uninstall()
        self.may_keep_lock = False  # where taking it is what fails: another installer may be waiting for it
        self.may_keep_folders = False  # where removing one, or a look at what is in it, is what fails
        self.prepare, self.work, self.check = {
            "save": (self._nothing, self._save, self._saved),
            "init": (self._nothing, self._init, self._readable),
            "install": (self.person.uninstall, self.person.install_all, self._installed),
            "uninstall": (self.person.install_all, self.person.uninstall, self._uninstalled),
        }[name]

    def _nothing(self) -> None:
        self.documents = set(self.person.memories.rglob("*.md"))
        assert leftovers(self.person.project) == [], "a temporary file stayed although it could be removed"

    def _save(self) -> None:
        self.saved = self.person.vault().save(title="T", body="word " * 1000, kind="decision")

    def _saved(self, *, done: bool) -> None:
        new = set(self.person.memories.rglob("*.md")) - self.documents
        assert len(new) == done, "a save that failed left a memory, or one that succeeded did not"
        self._readable(done=done)

    def _init(self) -> None:
        self.person.vault().init()

    def _readable(self, *, done: bool) -> None:
        report = self.person.vault().doctor()
        assert report.ok, report.findings
        for path in leftovers(self.person.project):
            path.unlink()  # of the failed removal of one

    def _installed(self, *, done: bool) -> None:
        self._expect(self.new if done else self.old)

    def _uninstalled(self, *, done: bool) -> None:
        self._expect(self.old if done else self.new)

    def _expect(self, wanted: Tree) -> None:
        """Fail with the names of what differs; a temporary that could not be removed is named by status."""
        if self.may_keep_lock and LOCK not in wanted:
            (self.person.path / LOCK).unlink(missing_ok=True)
        found = self.person.tree()
        left = {str(path.relative_to(self.person.path)) for path in leftovers(self.person.path)}
        named = {path.name for path in status(self.person.context, run_checks=False).leftovers}
        assert named == {Path(name).name for name in left}, f"not named: {left}"
        different = {name for name in {*found, *wanted} - left if found.get(name) != wanted.get(name)}
        kept = {name for name in different if self.may_keep_folders and _is_empty(found, name)}
        for name in sorted(kept, reverse=True):
            (self.person.path / name).rmdir()
        different -= kept
        assert not different, f"not as it should be: {sorted(different)}"


def _is_empty(tree: Tree, name: str) -> bool:
    """Whether a name stands for a folder with at most folders in it."""
    below = [facts for other, facts in tree.items() if f"{other}/".startswith(f"{name}/")]
    return bool(below) and all(facts[0] == "folder" for facts in below)


def run(name: str, every: int, seed: int) -> Iterator[str]:
    """Run one case and say what came of it; raise on the first broken promise."""
    generator = random.Random(seed)
    outcomes: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        case = Case(name, Path(folder))
        case.prepare()
        names = requests(case.work)
        tries = [(number, error) for number in range(len(names)) for error in ERRORS]
        for number, error in generator.sample(tries, len(tries) // every):
            case.prepare()
            case.may_keep_lock = names[number] == "flock"
            case.may_keep_folders = names[number] in ("rmdir", "lstat", "flock")
            refusal = None
            try:
                fail_at(number, error, case.work)
            except EccMemoryError as refused:
                refusal = refused.message
            assert refusal is None or (refusal and folder not in refusal)
            try:
                case.check(done=refusal is None)
            except AssertionError as broken:
                how = f"request {number} ({names[number]}) failed with {errno.errorcode[error]}: {refusal}"
                raise AssertionError(f"{how}; {broken}") from None
            outcomes["done all the same" if refusal is None else "refused"] += 1
    yield f"{name}: {len(names)} requests, {len(ERRORS)} errors, {sum(outcomes.values())} tries"
    yield "  " + ", ".join(f"{number} {word}" for word, number in sorted(outcomes.items()))


CASES = ("save", "init", "install", "uninstall")


def main() -> None:
    """Run one case and print what came of it."""
    parser = argparse.ArgumentParser(description="Fail one request at a time.")
    parser.add_argument("case", choices=CASES)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    print("\n".join(run(given.case, given.every, given.seed)))
    sys.exit(0)


if __name__ == "__main__":
    main()
