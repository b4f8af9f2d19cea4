"""Every file of the corpus, installed into and out of again: all bytes are back, or nothing was touched."""

from __future__ import annotations

from pathlib import Path

import pytest

from .edit.test_corpus import FILES, REFUSED, variants
from .fidelity import ADAPTERS, ALONE, Trial
from .fidelity import REFUSED as WAS_REFUSED


@pytest.mark.skipif(len(ADAPTERS) < 4, reason="the four adapters are not installed")
@pytest.mark.parametrize("name", FILES)
def test_every_byte_is_back_or_untouched(tmp_path: Path, name: str) -> None:
    """As it stands; ``benchmarks/fidelity.py`` tries all forms of it."""
    _, data = next(variants(name))
    trial = Trial(tmp_path, name, data)
    assert trial.same, f"{trial.outcome} {trial.reason}"
    assert (trial.outcome == WAS_REFUSED) == bool(trial.reason)
    if name in REFUSED:
        assert trial.outcome in (WAS_REFUSED, ALONE)
    else:
        assert trial.outcome != WAS_REFUSED
