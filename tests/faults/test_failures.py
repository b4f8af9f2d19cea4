"""Every request to the operating system fails once: a clear error and nothing changed, or all done."""

from __future__ import annotations

import pytest

from .failures import CASES
from .programs import figures


@pytest.mark.parametrize("case", CASES)
def test_any_request_may_fail(case: str) -> None:
    every = {"save": 9, "init": 9, "install": 1500, "uninstall": 1000}[case]
    assert "refused" in figures("tests.faults.failures", case, "--every", every)


@pytest.mark.long
@pytest.mark.parametrize("case", CASES)
def test_every_request_fails_with_every_error(case: str) -> None:
    figures("tests.faults.failures", case, "--every", {"save": 1, "init": 1}.get(case, 20))
