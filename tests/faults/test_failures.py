"""Every request to the operating system fails once: a clear error and nothing changed, or all done."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from ecc_memory.errors import InstallError

from .failures import CASES
from .person import Person
from .programs import figures


@pytest.mark.parametrize("case", CASES)
def test_any_request_may_fail(case: str) -> None:
    every = {"save": 9, "init": 9, "install": 1500, "uninstall": 1000}[case]
    assert "refused" in figures("tests.faults.failures", case, "--every", every)


@pytest.mark.long
@pytest.mark.parametrize("case", CASES)
def test_every_request_fails_with_every_error(case: str) -> None:
    figures("tests.faults.failures", case, "--every", {"save": 1, "init": 1}.get(case, 50))


@pytest.mark.parametrize("error", [errno.EMFILE, errno.EACCES])
def test_a_lock_that_cannot_be_made_leaves_no_folder(tmp_path: Path, error: int) -> None:
    person = Person(tmp_path / "home")
    before = person.tree()
    real = os.open

    def no_lock(path: str | Path, *words: int, **options: int) -> int:
        if str(path).endswith("ecc-memory/lock"):
            raise OSError(error, os.strerror(error))
        return real(path, *words, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "open", no_lock)
        with pytest.raises(InstallError, match="cannot be written"):
            person.install("codex")
    assert person.tree() == before
