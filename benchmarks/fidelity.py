"""How faithful the installer is: each file of the corpus, in every form, installed into and out of again.

    python benchmarks/fidelity.py

Needs the checkout with its four adapters installed (``sh ./run-tests`` makes such an environment). Prints
the tables that stand in docs/fidelity.md; ends with 1 if a single byte was not given back.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.install.fidelity import ALONE, IDENTICAL, REFUSED, trials

COLUMNS = (IDENTICAL, ALONE, REFUSED)


def main() -> int:
    """Try everything, print the tables."""
    files: dict[str, set[str]] = {}
    outcomes: Counter[tuple[str, str]] = Counter()
    reasons: dict[str, str] = {}
    lost = []
    with tempfile.TemporaryDirectory() as folder:
        for name, form, trial in trials(Path(folder), every_form=True):
            kind = name.partition("/")[0]
            files.setdefault(kind, set()).add(name)
            outcomes[kind, trial.outcome] += 1
            if not trial.same:
                lost.append(f"{name} ({form}): {trial.outcome} {trial.reason}")
            if trial.reason:
                reasons.setdefault(trial.reason, name)
    print("| format | files | forms tried | " + " | ".join(COLUMNS) + " | not as before |")
    print("|---|---|---|---|---|---|---|")
    for kind, names in files.items():
        counts = [outcomes[kind, column] for column in COLUMNS]
        different = sum(entry.startswith(f"{kind}/") for entry in lost)
        print(
            f"| {kind} | {len(names)} | {sum(counts)} | " + " | ".join(map(str, counts)) + f" | {different} |"
        )
    print("\n| refused because | for example |\n|---|---|")
    for reason, name in sorted(reasons.items()):
        print(f"| {reason.replace('|', chr(92) + '|')} | `{name}` |")
    for entry in lost:
        print(entry, file=sys.stderr)
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
