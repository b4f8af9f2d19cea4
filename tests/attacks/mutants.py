"""Planting defects, each of which a test of this suite has to notice: proof that the tests can fail.

    python -m tests.attacks.mutants [NAME...]

Each defect is put into a copy of the sources, and the test that guards against it is run with that copy.
The exit status is 1 when a defect went unnoticed.
"""

from __future__ import annotations

import argparse
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


_SAVES = "tests.faults.crash save --rounds 60"
_INSTALLS = "tests.faults.crash install --rounds 30"
_PYTEST = "pytest -q -x -p no:cacheprovider"

MUTANTS = {
    "document written under its final name": Mutant(
        "vault/tree.py",
        "            self._write_new(temporary, data)\n            self._link(temporary, name)\n",
        "            self._write_new(name, data)\n",
        _SAVES,
    ),
    "content not flushed": Mutant(
        "vault/tree.py",
        "            os.fsync(fd)\n",
        "",
        f"{_PYTEST} tests/faults/test_power_loss.py",
    ),
    "name not flushed": Mutant(
        "vault/tree.py",
        "                os.fsync(self.fd)\n                self._verify",
        "                self._verify",
        f"{_PYTEST} tests/faults/test_power_loss.py",
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
        "tests.attacks.swaps save --rounds 1500",
    ),
    "links followed in documents": Mutant(
        "vault/tree.py",
        "_READ = os.O_RDONLY | os.O_NOFOLLOW",
        "_READ = os.O_RDONLY",
        "tests.attacks.swaps documents --rounds 3000",
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
        _INSTALLS,
    ),
    "receipts written last": Mutant(
        "install/apply.py",
        "        store.save(_both(before, plan.receipts))\n",
        "",
        _INSTALLS,
    ),
    "nothing put back": Mutant(
        "install/apply.py",
        "            put_back(step.view, step.after)\n",
        "            pass\n",
        "tests.faults.failures install --every 150",
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
        "tests.faults.concurrency installers --turns 2",
    ),
    "an existing memory overwritten": Mutant(
        "vault/tree.py",
        "os.link(temporary, name, src_dir_fd=self.fd, dst_dir_fd=self.fd, follow_symlinks=False)",
        "os.replace(temporary, name, src_dir_fd=self.fd, dst_dir_fd=self.fd)",
        f"{_PYTEST} tests/faults/test_concurrency.py -k same_id",
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
    "another harness's memories shown": Mutant(
        "vault/document.py",
        'return "all" in self.target_harnesses or harness in self.target_harnesses',
        "return True",
        f"{_PYTEST} tests/attacks/test_isolation.py -k second_harness",
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


def is_noticed(mutant: Mutant) -> bool:
    """Plant a defect in a copy and run its guard; True when the guard fails."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "ecc_memory")
        shutil.copytree(ROOT / "src/ecc_memory", copy, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copytree(ROOT / "skills", copy / "skills")
        module = copy / mutant.path
        source = module.read_text("utf-8")
        assert source.count(mutant.old) == 1, f"{mutant.path} has changed: {mutant.old!r}"
        module.write_text(source.replace(mutant.old, mutant.new), "utf-8")
        env = {**os.environ, "PYTHONPATH": folder}
        command = [sys.executable, "-m", *shlex.split(mutant.guard)]
        try:
            done = subprocess.run(
                command, cwd=ROOT, env=env, capture_output=True, check=False, timeout=mutant.seconds
            )
        except subprocess.TimeoutExpired:
            return True
    return done.returncode != 0


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
