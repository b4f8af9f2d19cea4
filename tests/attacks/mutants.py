"""Planting defects, each of which a test of this suite has to notice: proof that the tests can fail.

    python -m tests.attacks.mutants [NAME...]

Each defect is put into a copy of the sources, and the test that guards against it is run with that copy.
The exit status is 1 when a defect went unnoticed.
"""

from __future__ import annotations

import argparse
import functools
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]


class Mutant(NamedTuple):
    """A defect and who must notice it.

    Attributes:
        path: the module below ``src/ecc_memory``.
        old: what stands there, once.
        new: what stands there instead.
        guard: arguments of ``python -m``.
        seconds: how long that may take; hanging is noticed, too.
    """

    path: str
    old: str
    new: str
    guard: str
    seconds: int = 600


_PYTEST = "pytest -q -x -p no:cacheprovider"
_OTHERS = f"{_PYTEST} tests/attacks/test_isolation.py -k second_harness"
_ORDER = f"{_PYTEST} tests/faults/test_power_loss.py"

MUTANTS = {
    "document written under its final name": Mutant(
        "vault/tree.py",
        "            self._write_new(temporary, data)\n            self._link(temporary, name)\n",
        "            self._write_new(name, data)\n",
        "tests.faults.crash save --rounds 200",
    ),
    "content not flushed": Mutant(
        "vault/tree.py",
        "            os.fsync(fd)\n",
        "",
        _ORDER,
    ),
    "name not flushed": Mutant(
        "vault/tree.py",
        "                os.fsync(self.fd)\n                self._verify",
        "                self._verify",
        _ORDER,
    ),
    "error of the operating system let out": Mutant(
        "vault/tree.py",
        '            raise _io_error("nothing was saved", error, path) from error\n',
        "            raise\n",
        "tests.faults.failures save --every 3",
    ),
    "links followed in folders": Mutant(
        "vault/tree.py",
        "_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW",
        "_FOLDER = os.O_RDONLY | os.O_DIRECTORY",
        "tests.attacks.swaps save --moments 1000 --rounds 1",
    ),
    "links followed in documents": Mutant(
        "vault/tree.py",
        "_READ = os.O_RDONLY | os.O_NOFOLLOW",
        "_READ = os.O_RDONLY",
        "tests.attacks.swaps documents --moments 1000 --rounds 1",
    ),
    "FIFO waited for": Mutant(
        "vault/tree.py",
        " | os.O_NONBLOCK",
        "",
        f"{_PYTEST} tests/vault/test_scan.py -k special_files",
        seconds=60,
    ),
    "configuration written in place": Mutant(
        "install/files.py",
        "            _name(temporary, view)\n",
        "            with open(view.real, 'wb') as stream:\n                stream.write(data)\n",
        _ORDER,
    ),
    "receipts written last": Mutant(
        "install/apply.py",
        "        store.save(_both(before, plan.receipts))\n",
        "",
        _ORDER,
    ),
    "nothing put back": Mutant(
        "install/apply.py",
        "            put_back(step.view, step.after)\n",
        "            pass\n",
        f"{_PYTEST} tests/install/test_files.py -k half_way",
    ),
    "lock taken through a link": Mutant(
        "install/store.py",
        'getattr(os, "O_NOFOLLOW", 0) | ',
        "",
        f"{_PYTEST} tests/attacks/test_swaps.py -k in_place",
    ),
    "no lock at all": Mutant(
        "install/store.py",
        "            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)\n",
        "",
        f"{_PYTEST} tests/faults/test_concurrency.py -k waits",
    ),
    "an existing memory overwritten": Mutant(
        "vault/tree.py",
        "os.link(temporary, name, src_dir_fd=self.fd, dst_dir_fd=self.fd, follow_symlinks=False)",
        "os.replace(temporary, name, src_dir_fd=self.fd, dst_dir_fd=self.fd)",
        f"{_PYTEST} tests/faults/test_concurrency.py -k at_any_moment",
    ),
    "temporary file opened through a link": Mutant(
        "vault/tree.py",
        "os.O_EXCL | os.O_NOFOLLOW",
        "os.O_EXCL",
        _ORDER,
    ),
    "temporary file of a killed save not named": Mutant(
        "vault/scan.py",
        "view.leftovers.append(self._path((*names, item.name)))",
        "pass",
        "tests.faults.crash save --rounds 20",
    ),
    "temporary file of a killed installer not removed": Mutant(
        "install/apply.py",
        "        sweep(folder)\n",
        "        pass\n",
        "tests.faults.crash install --rounds 20",
    ),
    "path in an error": Mutant(
        "vault/tree.py",
        'VaultIO(f"{what}: {error.strerror or type(error).__name__}"',
        'VaultIO(f"{what}: {path}"',
        "tests.faults.failures save --every 3",
    ),
    "recalled text without a notice": Mutant(
        "mcp/replies.py",
        '{"schemaVersion": schema, "notice": notice}',
        '{"schemaVersion": schema, "notice": ""}',
        f"{_PYTEST} tests/attacks/test_injection.py -k recalled",
    ),
    "end of recalled text foreseeable": Mutant(
        "mcp/replies.py",
        "{secrets.token_hex(8)}",
        "0123456789abcdef",
        f"{_PYTEST} tests/attacks/test_injection.py -k recalled",
    ),
    "any .gitignore taken for ours": Mutant(
        "vault/publish.py",
        "    if content != GITIGNORE:",
        "    if False:",
        f"{_PYTEST} tests/vault/test_save.py -k foreign_gitignore",
    ),
    "user scope open to every server": Mutant(
        "mcp/launch.py",
        'if self.user_scope else ("project", "team")',
        'if True else ("project", "team")',
        f"{_PYTEST} tests/attacks/test_isolation.py -k user_scope",
    ),
    "text of a memory in a reminder": Mutant(
        "reminders/counts.py",
        're.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?=T)")',
        're.compile(r".{0,10}")',
        f"{_PYTEST} tests/attacks/test_injection.py -k reminder",
    ),
    "control sequences printed": Mutant(
        "terminal.py",
        'return _CONTROL.sub("", _SEQUENCE.sub("", text))',
        "return text",
        f"{_PYTEST} tests/attacks/test_injection.py -k vault_may_be",
    ),
    "another harness's memories found": Mutant(
        "vault/search.py",
        "(self.reader is None or memory.targets(self.reader))",
        "True",
        _OTHERS,
    ),
    "another harness's memories read": Mutant(
        "vault/scan.py",
        "if document.memory.targets(harness)]",
        "]",
        _OTHERS,
    ),
    "another harness's memories counted": Mutant(
        "reminders/counts.py",
        'and not self._targets.isdisjoint(fields.get("target_harnesses", ()))',
        "",
        _OTHERS,
    ),
    "another harness's memories counted from the index": Mutant(
        "reminders/counts.py",
        "and not self._targets.isdisjoint(targets)",
        "",
        f"{_PYTEST} tests/reminders/test_reminder.py -k come_from_the_index",
    ),
    "damaged row of the index believed": Mutant(
        "vault/index/store.py",
        "if whole and checksum == crc32(record, crc32(path)):",
        "if whole:",
        f"{_PYTEST} tests/faults/test_power_loss.py -k damaged_index",
    ),
    "any .git file believed": Mutant(
        "vault/roots.py",
        "if os.path.realpath(os.path.join(git_dir, back)) != os.path.realpath(git_file):",
        "if False:",
        f"{_PYTEST} tests/attacks/test_isolation.py -k not_believed",
    ),
    "credentials not looked for in tags": Mutant(
        "vault/publish.py",
        "isinstance(value, list)",
        "False",
        f"{_PYTEST} tests/vault tests/attacks/test_secret_figures.py -k 'secret or figures or everything'",
    ),
    "YAML reader's own errors let out": Mutant(
        "install/edit/yaml.py",
        "    except Exception:",
        "    except ValueError:",
        f"{_PYTEST} tests/attacks/test_parsers.py -k seeds",
    ),
}


class NoGuard(Exception):
    """A guard fails, or finds nothing to run, on sources that have no defect."""


def is_noticed(mutant: Mutant) -> bool:
    """Plant a defect in a copy and run its guard; True when the guard fails, or hangs.

    Raises:
        NoGuard: the guard does not pass without the defect, so that its failing would say nothing.
    """
    if (status := _run(mutant.guard, mutant.seconds)) != 0:
        raise NoGuard(f"ends with {status} although nothing is planted: python -m {mutant.guard}")
    return _run(mutant.guard, mutant.seconds, mutant) != 0


@functools.cache
def _run(guard: str, seconds: int, mutant: Mutant | None = None) -> int | None:
    """Run a guard on a copy of the sources and return its exit status, None where it took too long."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "ecc_memory")
        shutil.copytree(ROOT / "src/ecc_memory", copy, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copytree(ROOT / "skills", copy / "skills")
        if mutant is not None:
            module = copy / mutant.path
            source = module.read_text("utf-8")
            assert source.count(mutant.old) == 1, f"{mutant.path} has changed: {mutant.old!r}"
            module.write_text(source.replace(mutant.old, mutant.new), "utf-8")
        env = {**os.environ, "PYTHONPATH": folder, "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-m", *shlex.split(guard)]
        try:
            done = subprocess.run(
                command, cwd=ROOT, env=env, capture_output=True, check=False, timeout=seconds
            )
        except subprocess.TimeoutExpired:
            return None
    return done.returncode


def main() -> None:
    """Plant the defects that the command line names, or all of them."""
    parser = argparse.ArgumentParser(description="Check that the tests notice planted defects.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="part of a name; default all")
    given = parser.parse_args()
    chosen = {
        name: mutant
        for name, mutant in MUTANTS.items()
        if not given.names or any(part in name for part in given.names)
    }
    unnoticed = []
    for name, mutant in chosen.items():
        noticed = is_noticed(mutant)
        print(f"{'noticed' if noticed else 'NOT NOTICED':12} {name}", flush=True)
        if not noticed:
            unnoticed.append(name)
    print(f"{len(chosen) - len(unnoticed)} of {len(chosen)} defects noticed")
    sys.exit(bool(unnoticed))


if __name__ == "__main__":
    main()
