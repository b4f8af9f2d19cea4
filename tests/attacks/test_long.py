"""The long forms of what has a program of its own here."""

from __future__ import annotations

import importlib.util

import pytest

from ..faults.programs import figures
from .targets import TARGETS

pytestmark = pytest.mark.long


def test_every_planted_defect_is_noticed() -> None:
    figures("tests.attacks.mutants")


def test_every_credential_is_found() -> None:
    figures("tests.attacks.secret_figures")


@pytest.mark.parametrize("target", TARGETS)
def test_ten_minutes_of_fuzzing_find_nothing(target: str) -> None:
    if importlib.util.find_spec("atheris") is None:
        pytest.skip("atheris is not here: pip install atheris (Linux, CPython 3.11 to 3.13)")
    figures("tests.attacks.fuzz", target)
