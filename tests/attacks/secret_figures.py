"""How many credentials are found, and how many alarms are false.

    python -m tests.attacks.secret_figures [--seeds 20]

Every token shape of the table is generated anew for each seed, put into every field and into every disguise,
and has to be refused before a byte reaches the disk; every look-alike has to pass. The exit status is 1 when
one of either is missed.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path

from ecc_memory.errors import EccMemoryError
from ecc_memory.vault import Vault
from ecc_memory.vault.secret_rules import RULES
from ecc_memory.vault.secrets import find_secret

from ..vault.lookalike_samples import lookalikes
from ..vault.secret_samples import positives
from ..vault.test_secrets import DISGUISES, INTRO, OUTRO

FIELDS = ("title", "body", "tags", "links", "target_harnesses", "source_harness", "kind", "scope", "id")


def recall(seeds: int) -> tuple[int, int, Counter[str]]:
    """Generate, disguise, look; return tries, findings, and what was missed by disguise."""
    tries = found = 0
    missed: Counter[str] = Counter()
    for seed in range(seeds):
        for rule, secret in positives(seed):
            for name, disguise in DISGUISES.items():
                tries += 1
                hit = find_secret(INTRO + disguise(secret) + OUTRO)
                found += hit is not None and hit.rule == rule
                missed[name] += hit is None
    return tries, found, +missed


def refusals(seeds: int) -> tuple[int, int]:
    """Try to save each shape in each field; return tries and refusals that left nothing behind."""
    tries = refused = 0
    with tempfile.TemporaryDirectory() as folder:
        vault = Vault.open(cwd=folder, env={}, home=Path(folder, "home"))
        for seed in range(seeds):
            for _, secret in positives(seed):
                for field in FIELDS:
                    given: dict[str, object] = {"title": "T", "body": "B"}
                    given[field] = [secret] if field in ("tags", "links", "target_harnesses") else secret
                    tries += 1
                    try:
                        vault.save(**given)  # type: ignore[arg-type]
                    except EccMemoryError as error:
                        refused += secret not in str(error) and not os.listdir(folder)
    return tries, refused


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description="Measure the search for credentials.")
    parser.add_argument("--seeds", type=int, default=20)
    seeds = parser.parse_args().seeds
    shapes = len({rule.id for rule in RULES})
    recipes = len(list(positives(0)))
    tries, found, missed = recall(seeds)
    print(f"{shapes} rules, {recipes} shapes, {len(DISGUISES)} disguises, {seeds} seeds: "
          f"{found} of {tries} found ({found / tries:.2%})")  # fmt: skip
    for name, count in missed.items():
        print(f"  missed {count} as {name}")
    attempts, refused = refusals(max(1, seeds // 10))
    print(f"{len(FIELDS)} fields: {refused} of {attempts} saves refused: no value shown, no byte written")
    samples = sorted(set(lookalikes(max(40, 5 * seeds))))
    alarms = [sample for sample in samples if find_secret(sample) is not None]
    print(f"{len(samples)} distinct look-alikes: {len(alarms)} false alarms")
    sys.exit(found < tries or refused < attempts or bool(alarms))


if __name__ == "__main__":
    main()
