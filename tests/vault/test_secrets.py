"""Known credentials are found however they are disguised; what resembles them is left alone."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from itertools import pairwise
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecc_memory.vault.secret_rules import RULES, Rule
from ecc_memory.vault.secrets import SecretHit, find_secret

from .lookalike_samples import lookalikes
from .secret_samples import POSITIVE, positives

if sys.version_info >= (3, 11):
    from re import _parser as sre_parse
else:
    import sre_parse

RULE_IDS = list(dict.fromkeys(rule.id for rule in RULES))
INTRO = "What we know so far.\r\n\nIt was found in the log:\n"
OUTRO = "\nNothing else was there.\n"


def percent(text: str) -> str:
    return "".join(f"%{octet:02X}" for octet in text.encode())


def middle(text: str) -> tuple[str, str]:
    return text[: len(text) // 2], text[len(text) // 2 :]


def joined_by(separator: str) -> Callable[[str], str]:
    return lambda secret: separator.join(middle(secret))


DISGUISES: dict[str, Callable[[str], str]] = {
    "plain": lambda secret: secret,
    "prose": lambda secret: f"We saw ({secret}), and went on.",
    "fence": lambda secret: f"```sh\n{secret}\n```",
    "escaped-line-break": lambda secret: f"found:\\n{secret}\\n",
    "url-encoded": lambda secret: quote(secret, safe=""),
    "url-encoded-query": lambda secret: "https://host.test/?q=" + quote(secret, safe="") + "&page=2",
    "all-url-encoded": percent,
    "twice-url-encoded": lambda secret: quote(percent(secret), safe=""),
    "split-lf": joined_by("\n"),
    "split-crlf": joined_by("\r\n"),
    "split-indented": joined_by("\n      "),
    "split-quoted": joined_by("\r\n> "),
    "split-continued": joined_by(" \\\n    "),
    "split-and-zero-width": joined_by("\u200b\r\n\u2060"),
    "zero-width-everywhere": "\u200b".join,
    **{
        f"invisible-{ord(mark):x}": joined_by(mark)
        for mark in "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\ufe0f"
    },
    "invisible-tag": joined_by("\U000e0041"),
    "url-encoded-zero-width": lambda secret: percent(joined_by("\u200d")(secret)),
}


LINES = {"fence": (5,), "split": (4, 5)}  # of a split assignment, all that matters may be on the second


def test_table_is_as_large_as_promised() -> None:
    assert len(RULE_IDS) >= 45
    assert set(POSITIVE) == set(RULE_IDS)


@pytest.mark.parametrize("disguise", DISGUISES)
def test_known_shapes_must_be_refused(disguise: str) -> None:
    for seed in range(10):
        for rule, secret in positives(seed):
            text = INTRO + DISGUISES[disguise](secret) + OUTRO
            hit = find_secret(text)
            assert hit is not None, text
            assert hit.rule == rule, text
            assert hit.line in LINES.get(disguise.partition("-")[0], (4,)), text


@pytest.mark.parametrize("rule", RULE_IDS)
def test_each_rule_finds_its_token_alone_in_a_field(rule: str) -> None:
    rng = random.Random(rule)
    for recipe in POSITIVE[rule]:
        assert find_secret(recipe(rng)) == SecretHit(rule, 1)


OTHERS = {
    "private-key": "-----BEGIN PUBLIC KEY-----",
    "url-credentials": "https://user@host.test:8080/a:b",
    "authorization-header": "Authorization: Bearer short1",
    "generic-api-key": "password = 'short1'",
}


@pytest.mark.parametrize("rule", RULE_IDS)
def test_each_rule_passes_what_is_too_short_or_broken(rule: str) -> None:
    if rule in OTHERS:
        assert find_secret(OTHERS[rule]) is None
        return
    for seed in range(5):
        for recipe in POSITIVE[rule]:
            secret = recipe(random.Random(seed))
            anchors = [anchor for one in RULES if one.id == rule for anchor in one.anchors]
            end = min(secret.index(anchor) + len(anchor) for anchor in anchors if anchor in secret)
            assert find_secret(secret[: end + 9]) is None
            assert find_secret(secret[: end + 9] + "!" + secret[end + 9 : end + 18]) is None


def test_split_at_any_place() -> None:
    for rule, secret in positives(0):
        for place in range(1, len(secret)):
            if rule in ("generic-api-key", "authorization-header") and "4" not in secret[:place]:
                continue  # before the value: "token:" at the end of a line introduces what follows
            text = f"{INTRO}{secret[:place]}\r\n{secret[place:]}{OUTRO}"
            hit = find_secret(text)
            assert hit is not None, text
            assert hit.line in (4, 5)


def test_wrapped_over_several_lines() -> None:
    for rule, secret in positives(1):
        if " " not in secret and len(secret) > 80:
            wrapped = "\n".join(secret[at : at + 48] for at in range(0, len(secret), 48))
            assert find_secret(INTRO + wrapped + OUTRO) == SecretHit(rule, 4), wrapped


def test_lookalikes_pass() -> None:
    samples = list(lookalikes(40))
    assert len(samples) >= 3000
    alarms = [(find_secret(sample), sample) for sample in samples]
    assert [alarm for alarm in alarms if alarm[0] is not None] == []


def test_lookalikes_below_one_another_pass() -> None:
    rng = random.Random(7)
    samples = list(lookalikes(10))
    for line_break in ("\n", "\r\n", "\n\n"):
        rng.shuffle(samples)
        for above, below in pairwise(samples):
            text = above + line_break + below
            assert find_secret(text) is None, text


def test_git_sha_is_not_a_secret() -> None:
    assert find_secret("merged via PR #1466, commit 4c536992") is None


@pytest.mark.parametrize(
    "text",
    [
        "password",
        "apiKey: import.meta.env.X",
        "no API key in the build",
        "AKIAIOSFODNN7EXAMPLE",
        "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "postgres://user:${PW}@host/db",
        "ssh://git@host/repo.git",
    ],
)
def test_mentions_and_examples(text: str) -> None:
    assert find_secret(text) is None


def test_hit_holds_no_value() -> None:
    for rule, secret in positives(2):
        hit = find_secret(f"one\ntwo {secret}")
        assert hit is not None
        assert asdict(hit) == {"rule": rule, "line": 2}


@pytest.mark.parametrize(
    ("form", "value"),
    [
        ('password = "@"', "correct-horse-battery-1234"),
        ("secret: @", "abcdefghijklmnop1234"),
        ("TOKEN=@", "abcdefgh12345678"),
        ("DB_PASSWORD=@", "SuperSecretPassword123"),
        ('{"apiKey":"@"}', "a1b2c3d4a1b2c3d4"),
        ("password: @", "P4ss-w0rd!with#marks"),
        ("credentials: @", "9f8e7d6c5b4a39281706"),
        ('password = "@"', "$up3r-S3cret<P4ss"),
    ],
)
def test_letters_and_digits_given_to_a_secret_name(form: str, value: str) -> None:
    assert find_secret(form.replace("@", value)) == SecretHit("generic-api-key", 1)


@given(st.text(), st.text(), st.sampled_from(["\n", "\r\n"]))
def test_line_is_that_of_the_original_text(before: str, after: str, line_break: str) -> None:
    secret = "ghp" + "_" + "a1B2" * 9
    text = before + line_break + secret + line_break + after
    assert find_secret(text) == SecretHit("github-pat", before.count("\n") + 2)


@given(st.text(st.sampled_from("aA1%20\n\r \u200b\u2060=:\"'@/-_.sk\u0130\ud800")))
def test_any_text_is_answered(text: str) -> None:
    hit = find_secret(text)
    assert hit is None or 1 <= hit.line <= text.count("\n") + 1


# -- linear time: each try is bounded, and the number of tries grows with the text ----------------


def repetitions(parsed: object) -> list[tuple[int, int]]:
    """For every repetition in a parsed pattern: its upper bound, and those of repetitions inside it."""
    found: list[tuple[int, int]] = []
    if isinstance(parsed, tuple) and len(parsed) == 2 and "REPEAT" in str(parsed[0]):
        _, most, body = parsed[1]
        inside = repetitions(body)
        found += [(int(most), max((bound for bound, _ in inside), default=1)), *inside]
    elif isinstance(parsed, (tuple, list, sre_parse.SubPattern)):
        for part in parsed:
            found += repetitions(part)
    return found


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_pattern_takes_a_bounded_number_of_steps(rule: Rule) -> None:
    for most, inside in repetitions(sre_parse.parse(rule.pattern, re.ASCII)):
        assert most <= 4000
        assert most == 1 or inside <= 1 or most * inside <= 8
    assert sre_parse.parse(rule.pattern, re.ASCII).getwidth()[1] <= 5500


def calls(text: str) -> int:
    """How many Python and C functions it takes to search a text."""
    count = 0

    def counter(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counter)
    try:
        find_secret(text)
    finally:
        sys.setprofile(None)
    return count


UNITS = sorted(
    {anchor + filler for rule in RULES for anchor in rule.anchors for filler in ("", "a", "\n", "=")}
)
UNITS += [
    "token='aaaaaaaaaaaaaaa\n",
    "eyJaaaaaaaaaa.",
    "sk-aaaaaaaaaaaaa\n",
    "://a:",
    "key: ",
    "%25",
    "\u200b",
    " ",
]


def test_work_grows_with_the_text() -> None:
    for unit in UNITS:
        small, large = (calls(unit * (size // len(unit))) for size in (1024, 4096))
        assert large <= 4.5 * small + 200, unit


@pytest.mark.parametrize(
    "text",
    [
        "token=" + "a" * 2**20,
        "password:" + " " * 2**20,
        "://" + "a" * 2**20,
        "eyJ" + "a" * 2**20,
        "-----BEGIN" + "A " * 2**19,
        "%25" * (2**20 // 3),
        "xoxp-" * (2**18 // 5),
        "a\n" * 2**19,
        "\u200b" * 2**20,
    ],
    ids=lambda text: repr(text[:12]),
)
def test_a_mebibyte_of_malice_is_answered(text: str) -> None:
    assert find_secret(text) is None


def test_import_needs_nothing_beyond_the_language() -> None:
    program = (
        "import sys, dataclasses, bisect, re; before = set(sys.modules)\n"
        "import ecc_memory.vault.secret_rules as rules\n"
        "assert rules.matcher.cache_info().currsize == 0\n"
        "print(*sorted(name for name in set(sys.modules) - before if not name.startswith('ecc_memory')))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "urllib" not in done.stdout
    assert "logging" not in done.stdout
