"""The page of compatibility says what the record of a run holds, and cannot say more."""

import json
import re

import pytest

from .claims import CLAIMS, FAILED, NAMES, NOT_RUN, NOT_THERE, PROVED
from .compatibility import HERE, PAGE, RECORD, Recorder
from .compatibility_page import page, unproved

pytest_plugins = ["pytester"]

SOURCES = {path.name: path.read_text(encoding="utf-8") for path in HERE.glob("test_*.py")}


@pytest.fixture
def record():
    return json.loads(RECORD.read_text(encoding="utf-8"))


def every_function():
    return {
        f"{name}::{function}"
        for name, source in SOURCES.items()
        for function in re.findall(r"^def (test_\w+)", source, re.MULTILINE)
    }


def test_the_page_is_written_from_the_record(record):
    assert PAGE.read_text(encoding="utf-8") == page(record)


def test_the_record_is_of_the_versions_that_are_pinned(record):
    npm = json.loads((HERE / "programs" / "package.json").read_text())["dependencies"]
    pinned = {"codex": npm["@openai/codex"], "claude": npm["@anthropic-ai/claude-code"]}
    pinned["opencode"] = npm["opencode-ai"]
    assert {slug: record["versions"][slug] for slug in pinned} == pinned
    hermes = (HERE / "programs" / "requirements-hermes.txt").read_text()
    assert f"=={record['versions']['hermes']}" in hermes


def test_every_recorded_test_exists(record):
    assert {name.partition("[")[0] for name in record["tests"]} <= every_function()


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.says)
def test_one_test_that_fails_or_did_not_run_takes_a_claim_away(claim, record):
    tests = dict.fromkeys(record["tests"], "passed")
    for slug in NAMES:
        assert claim.verdict(slug, tests) == (PROVED if slug in claim.slugs else NOT_THERE)
        assert claim.verdict(slug, {}) == (NOT_RUN if slug in claim.slugs else NOT_THERE)
    slug = claim.slugs[0]
    for outcome, verdict in (("failed", FAILED), ("not run", NOT_RUN)):
        spoilt = [name for name in tests if claim.verdict(slug, {**tests, name: outcome}) == verdict]
        assert spoilt
        shown = page({**record, "tests": {**tests, spoilt[0]: outcome}})
        (row,) = (line for line in shown.splitlines() if line.startswith(f"| {claim.says} |"))
        assert verdict in row


def test_what_is_not_proved_is_listed(record):
    assert unproved({**record, "tests": dict.fromkeys(record["tests"], "passed")}) == []
    outside = "test_opencode.py::test_that_no_claim_speaks_of"
    assert unproved({**record, "tests": {**dict.fromkeys(record["tests"], "passed"), outside: "failed"}}) == [
        f"{outside}: failed"
    ]
    assert len(unproved({**record, "tests": {}})) == sum(len(claim.slugs) for claim in CLAIMS)


def test_a_record_counts_skipped_and_broken_tests_as_not_passed(pytester):
    pytester.makepyfile("""
        import pytest
        @pytest.fixture
        def broken(): raise OSError
        def test_good(record_property): record_property("seconds", 1.5)
        def test_bad(): assert False
        def test_ugly(broken): pass
        def test_skipped(): pytest.skip()
        @pytest.fixture
        def later():
            yield
            raise OSError
        def test_later(later): pass
        """)
    recorder = Recorder()
    pytester.inline_run(plugins=[recorder])
    outcomes = {name.partition("::")[2]: outcome for name, outcome in recorder.tests.items()}
    assert outcomes == {
        "test_good": "passed",
        "test_bad": "failed",
        "test_ugly": "failed",
        "test_skipped": "not run",
        "test_later": "failed",
    }
    assert list(recorder.figures.values()) == [{"seconds": 1.5}]
