"""The figures of the search for credentials are what docs/security.md says."""

from __future__ import annotations

from ..faults.programs import figures


def test_everything_is_found_and_nothing_else() -> None:
    said = figures("tests.attacks.secret_figures", "--seeds", 1)
    assert "(100.00%)" in said
    assert " 0 false alarms" in said
