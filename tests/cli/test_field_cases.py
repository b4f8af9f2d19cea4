"""Faults that users of comparable tools met, tried on the command line."""

from __future__ import annotations

import json

import pytest

QUERIES = [
    "pre-edit", "Downloads/transcripts", "don't use agents", "ubuntu 20.04", "GB/s", "BENCH-100821",
    "foo(bar)", '"', "*", "NOT", "a AND", ".*", "%", "_", "{}", "[", "\\", "^$", "title:x", "NEAR(a b)",
    "--", "---", "-x", "--json", "$(id)", "`id`", "a;b", "\n", "\t", "🧠", "!!!",
]  # fmt: skip


def test_metacharacters_crash(ecc):
    identity = ecc.save("Plain", "\n".join(f"before {query} after" for query in QUERIES))
    for query in QUERIES:
        done = ecc("search", "--json", "--", query)
        assert (done.status, done.err) == (0, ""), query
        assert [hit["memory"]["id"] for hit in done.json["results"]] == [identity], query


@pytest.mark.parametrize("query", ['"', "*", "-x", "foo(bar)"])
def test_metacharacters_crash_in_neither_form(ecc, query):
    ecc.save("Plain", f"before {query} after")
    assert f"| before {query} after" in ecc("search", "--", query).out


def test_query_words_join_by_space(ecc):
    ecc.save("Token rotation")
    ecc.save("Rotation of a token")
    one, two = ecc("search", "token rotation", "--json"), ecc("search", "token", "rotation", "--json")
    assert one.out == two.out
    assert [hit["score"] for hit in one.json["results"]] == [36, 16]


TITLES = ["大语言模型概述", "断路器自动恢复", "Иван", "محمد", "🧠🔥", "!!!"]


def test_cjk_title_collapses(ecc):
    ids = [ecc.save(title) for title in [*TITLES, *TITLES]]
    assert len(set(ids)) == 2 * len(TITLES)
    assert [ecc("read", id, "--json").json["memory"]["title"] for id in ids] == [*TITLES, *TITLES]
    assert len(list(ecc.vault.glob("notes/*.md"))) == 2 * len(TITLES)


@pytest.mark.parametrize("title", ["", "   ", "\u3000", "\ufeff"])
def test_cjk_title_collapses_but_blank_is_refused(ecc, title):
    done = ecc("save", "--title", title, "--stdin", "--json", stdin="B")
    assert done.refused(1) == "ECC_MEMORY_INVALID"
    assert "blank" in done.err


@pytest.mark.parametrize("title", ["本" * 100, "a" * 200, "🧠" * 100, "👩‍👩‍👧‍👦" * 18])
def test_title_bytes_not_chars(ecc, title):
    identity = ecc.save(title)
    [path] = ecc.vault.glob("notes/*.md")
    assert path.name.isascii()
    assert len(path.name) <= 120
    assert ecc("read", identity, "--json").json["memory"]["title"] == title


@pytest.mark.parametrize("title", ["a" * 300, "🧠" * 101])
def test_title_bytes_not_chars_limit_is_stated(ecc, title):
    done = ecc("save", "--title", title, "--stdin", "--json", stdin="B")
    assert done.refused(1) == "ECC_MEMORY_INVALID"
    assert "1 to 200 characters" in done.err
    assert f"{len(title.encode())} bytes" in done.err


@pytest.mark.parametrize(
    "title",
    ["Governance: Rootkeeper", r"C:\agent\x", "*Italic*", "- dash", "#hash", '"quoted"', "yes", "null",
     "2026-01-01", "1e3", "---", "[[x]]y", "`", "a\u2028b"],
)  # fmt: skip
def test_colon_in_title_breaks_frontmatter(ecc, title):
    identity = ecc.save(title)
    assert ecc("read", identity, "--json").json["memory"]["title"] == title
    assert ecc("doctor").status == 0


@pytest.mark.parametrize("title", ["a\nb", "a\x85b"])
def test_colon_in_title_breaks_frontmatter_line_ends_are_refused(ecc, title):
    done = ecc("save", "--title", title, "--stdin", "--json", stdin="B")
    assert done.refused(1) == "ECC_MEMORY_INVALID"


WAYS_OUT = ["../../etc/passwd", "..\\..\\x", "mem_1/../../x", "/etc/passwd"]
MORE_WAYS_OUT = ["%2e%2e/", "C:mem", "\\\\host\\share", "mem_1.md", "．．/x", "mem_1\n", "~", ".", ""]
SAVE = ("save", "--title", "T", "--stdin")
HANDOFF = ("handoff", "--title", "T", "--stdin", "--from")
ENTRY_POINTS = [
    ("read",),
    (*SAVE, "--scope"),
    (*SAVE, "--kind"),
    (*SAVE, "--link"),
    (*SAVE, "--tag"),
    (*SAVE, "--target"),
    (*SAVE, "--source-harness"),
    (*HANDOFF, "a", "--target"),
    (*HANDOFF[:-1], "--target", "a", "--from"),
    ("search", "--scope"),
    ("search", "--kind"),
    ("search", "--target-harness"),
    ("init", "--scope"),
    ("doctor", "--scope"),
    ("read", "mem_123", "--scope"),
]


@pytest.mark.parametrize("entry_point", ENTRY_POINTS, ids=" ".join)
def test_path_traversal(ecc, entry_point, tmp_path):
    for value in [*WAYS_OUT, *(MORE_WAYS_OUT if entry_point == ("read",) else [])]:
        done = ecc(*entry_point, value, "--json", stdin="B")
        assert done.status in (1, 2)
        assert done.refused(done.status) in ("ECC_MEMORY_USAGE", "ECC_MEMORY_INVALID"), value
    assert sorted(path.name for path in tmp_path.rglob("*")) == [".git", "home", "repo"]


ESCAPES = ["\x1b]0;x\x07", "\x9b31m", "\u202egnp", "\x1b[2J", "\x85", "\x07", "\u2066"]


@pytest.mark.parametrize("escape", ESCAPES)
def test_terminal_escapes_and_bidi_are_refused_on_save(ecc, escape):
    for args in (
        ("--title", f"T{escape}", "--tag", "t"),
        ("--title", "T", "--tag", f"t{escape}"),
        ("--title", "T", "--source-harness", f"h{escape}"),
    ):
        done = ecc("save", *args, "--stdin", "--json", stdin="B").safe()
        assert done.refused(1) == "ECC_MEMORY_INVALID"
    done = ecc("save", "--title", "T", "--stdin", "--json", stdin=f"body {escape}").safe()
    assert done.refused(1) == "ECC_MEMORY_INVALID"


@pytest.mark.parametrize("escape", ["\x1b]0;x\x07\x1b[2J\x07\u202egnp\u2066", "\x9b31m\x85\x9d0;x\x9c"])
@pytest.mark.parametrize("form", [(), ("--json",)])
def test_terminal_escapes_and_bidi_in_files_and_messages(ecc, escape, form):
    ecc.save("Good")
    good = next(ecc.vault.glob("notes/*.md"))
    (ecc.vault / "notes" / f"bad{escape}name.md").write_text("nothing", encoding="utf-8")
    hand_made = good.read_text(encoding="utf-8").replace('"Good"', json.dumps(f"Bad {escape}"))
    (ecc.vault / "notes" / "hand.md").write_text(hand_made + escape, encoding="utf-8")
    (ecc.vault / "notes" / f"link{escape}.md").symlink_to("x")
    for args in (
        ("doctor",), ("search", "good"), ("search", "--", escape), ("read", escape),
        ("read", "mem_x", "--scope", escape), ("search", "--kind", escape),
        ("search", f"--no{escape}"), (f"no{escape}",),
        ("save", "--title", "T", "--body-file", f"no{escape}"), ("save", "--title", "T", "--stdin", escape),
    ):  # fmt: skip
        done = ecc(*args, *form, stdin="B").safe()
        assert "Traceback" not in done.err
    ecc("doctor", *form, env={"ECC_MEMORY_PROJECT_ROOT": f"rel{escape}"}).safe()


def test_terminal_escapes_and_bidi_marks_that_the_format_allows(ecc):
    title, body = "mark \u200e\u200f\u061c end", "text \u200e end"
    identity = ecc.save(title, body)
    assert "mark  end" in ecc("read", identity).safe().out
    exact = ecc("read", identity, "--json").safe().json["memory"]
    assert (exact["title"], exact["body"]) == (title, body)
    assert "mark  end" in ecc("search", "mark").safe().out


def test_terminal_escapes_and_bidi_leave_emoji_alone(ecc):
    family = "👩‍👩‍👧‍👦 ✓"
    ecc.save(family)
    assert family in ecc("search").out
