"""Run the suite against the real programs, keep its result, and write ``docs/compatibility.md`` from it.

    ECC_MEMORY_HARNESS_PROGRAMS=DIR python -m tests.harnesses.compatibility            run, record, write
    ECC_MEMORY_HARNESS_PROGRAMS=DIR python -m tests.harnesses.compatibility --into DIR the same, elsewhere
    python -m tests.harnesses.compatibility --page-only                                write from the record

The page claims what the record holds and nothing else. Ends with status 1 unless every claim was proved.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path

import pytest

from ecc_memory import __version__

from .claims import NAMES
from .compatibility_page import Record, page, unproved
from .conftest import program_folder

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
RECORD = HERE / "compatibility.json"
PAGE = ROOT / "docs" / "compatibility.md"


class Recorder:
    """A pytest plugin that keeps the outcome of every test and the figures that tests measured."""

    def __init__(self) -> None:
        self.tests: dict[str, str] = {}
        self.figures: dict[str, dict[str, float]] = {}

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Count every test as not run until it has passed or failed."""
        self.tests = {_name(item.nodeid): "not run" for item in session.items}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the outcome of a test: failed if any of its phases failed."""
        name = _name(report.nodeid)
        if report.failed:
            self.tests[name] = "failed"
        elif report.when == "call" and self.tests.get(name) != "failed":
            self.tests[name] = "passed" if report.passed else "not run"
            if report.user_properties:
                self.figures[name] = dict(report.user_properties)


def main() -> None:
    """Read the command line and do it."""
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("--page-only", action="store_true", help="run nothing")
    parser.add_argument(
        "--into", type=Path, metavar="DIR", help="leave the repository's record and page alone"
    )
    given = parser.parse_args()
    record_file = given.into / RECORD.name if given.into else RECORD
    page_file = given.into / PAGE.name if given.into else PAGE
    if not given.page_only:
        record_file.write_text(json.dumps(run(), indent=1) + "\n", encoding="utf-8")
    record = json.loads(record_file.read_text(encoding="utf-8"))
    page_file.write_text(page(record), encoding="utf-8")
    missing = unproved(record)
    sys.exit("Not proved:\n" + "\n".join(missing) if missing else 0)


def run() -> Record:
    """Run every test with the marker ``harness`` and give the record."""
    recorder = Recorder()
    pytest.main(["-q", "-m", "harness", "-p", "no:cacheprovider", str(HERE)], plugins=[recorder])
    return {
        "date": datetime.now(timezone.utc).date().isoformat(),
        "product": __version__,
        "commit": _said("git", "-C", str(ROOT), "rev-parse", "--short=12", "HEAD"),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors",
        "versions": {slug: version(slug) for slug in NAMES},
        "tests": dict(sorted(recorder.tests.items())),
        "figures": recorder.figures,
    }


def version(slug: str) -> str:
    """Ask a program for its version; empty where it is not there."""
    try:
        program = program_folder(slug) / slug
    except pytest.skip.Exception:
        return ""
    found = re.search(r"\d+(\.\d+)+", _said(str(program), "--version"))
    return found[0] if found else ""


def _name(nodeid: str) -> str:
    return nodeid.rpartition("/")[2]


def _said(*argv: str) -> str:
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return done.stdout.strip()


if __name__ == "__main__":
    main()
