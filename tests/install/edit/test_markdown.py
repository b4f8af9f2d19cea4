"""Marked blocks: what counts as a marker, what is refused, and that every byte comes back."""

from __future__ import annotations

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from ecc_memory.errors import EditRefused
from ecc_memory.install.edit.markdown import BEGIN, END, delete_block, find_block, set_block

TEXT = "## Memory\n\nRun `ecc memory search`.\n"
BLOCK = f"{BEGIN}\n{TEXT}{END}\n"


@pytest.mark.parametrize(
    "original",
    [
        b"",
        b"\n",
        b"\n\n\n",
        b"   ",
        b" \t\n",
        b"# Rules\n",
        b"# Rules",
        b"# Rules\n\n",
        b"# Rules\r\n\r\n- one\r\n",
        b"# Rules\r\n- no final line end",
        b"# Old Mac\rline\r",
        b"# Old Mac\rline",
        b"mixed\r\nends\nhere\r\n",
        b"mixed\nends\r\nhere",
        b"\xef\xbb\xbf",
        b"\xef\xbb\xbf# With a mark\n",
        "# Umlaut ü — 設計 🧠\n".encode(),
        b"form\x0cfeed and \x0bvertical tab\n",
    ],
)
def test_set_then_delete_gives_the_bytes_back(original: bytes) -> None:
    edited = set_block(original, TEXT)
    assert edited.startswith(original)
    assert find_block(edited) is not None
    assert delete_block(edited) == original


def test_block_stands_at_the_end_after_an_empty_line() -> None:
    assert set_block(b"# Rules\n", TEXT) == f"# Rules\n\n{BLOCK}".encode()
    assert set_block(b"", TEXT) == BLOCK.encode()


def test_crlf_file_gets_crlf_and_reads_as_lf() -> None:
    edited = set_block(b"# Rules\r\n", TEXT)
    assert edited.count(b"\n") == edited.count(b"\r\n")
    block = find_block(edited)
    assert block is not None
    assert block.text == TEXT
    assert edited[block.start : block.end] == BLOCK.replace("\n", "\r\n").encode()


def test_marked_block_never_refreshed() -> None:
    original = b"# Mine\r\n\r\nabove\r\n"
    first = set_block(original, "old text\n") + b"\r\nbelow, written later\r\n"
    second = set_block(first, "new text\nof two lines\n")
    assert second == first.replace(b"old text\r\n", b"new text\r\nof two lines\r\n")
    assert set_block(second, "new text\nof two lines\n") is second
    assert delete_block(second) == original + b"\r\nbelow, written later\r\n"


@pytest.mark.parametrize(
    ("document", "line"),
    [
        (f"# Mine\n{BEGIN}\nold\nMY OWN TEXT\n", 2),
        (f"{BEGIN}\r\nold\r\nMY OWN TEXT", 1),
        (f"text\n{END}\nmore\n", 2),
        (f"{END}\nx\n{BEGIN}\n", 1),
        (f"{BEGIN}\na\n{BEGIN}\nb\n{END}\n", 3),
        (f"{BEGIN}\na\n{END}\n\n{BEGIN}\nb\n{END}\n", 5),
        (f"{BEGIN}\na\n{END}\n{END}\n", 4),
        (f"a\rb\r{BEGIN}\rold\r", 3),
        (f"- item\n  {BEGIN}\n  x\n", 2),
        (f"```\n{BEGIN}\n```\n{END}\n", 4),
    ],
)
def test_lost_end_marker_eats_user_text(document: str, line: int) -> None:
    for operation in (find_block, delete_block, lambda data: set_block(data, TEXT)):
        with pytest.raises(EditRefused, match=rf"\Aline {line}: "):
            operation(document.encode())


@pytest.mark.parametrize(
    "quoted",
    [
        f"Write {BEGIN} and {END} around it.\n",
        f"`{BEGIN}`\n",
        f"```\n{BEGIN}\nx\n{END}\n```\n",
        f"```markdown\n{BEGIN}\n```\n",
        f"~~~~\n```\n{BEGIN}\n~~~\n~~~~\n",
        f"````md\n```\n{BEGIN}\n```\n````\n",
        f"  ```\n  {BEGIN}\n  ```\n",
        f"text\n\n    {BEGIN}\n    {END}\n",
        f"\t{BEGIN}\n",
        f"- ```\n  {BEGIN}\n  ```\n",
        f"1. item\n\n   ```\n   {BEGIN}\n   ```\n",
        f"10. ```\n    {BEGIN}\n    ```\n",
        f"> ```\n> {BEGIN}\n> ```\n",
        f"> - ~~~\n>   {BEGIN}\n>   ~~~\n",
        f"> {BEGIN}\n",
        f"- item\n  ```\n  {BEGIN}\n  {END}\n  ```\n",
        f"- item\nlazy\n  ~~~\n  {BEGIN}\n  ~~~\n",
        f"{BEGIN} trailing words\n",
        f"words {BEGIN}\n",
        "<!-- ecc-memory: begin -->\n",
        "<!-- ECC-MEMORY:BEGIN -->\n",
        f"```\n{BEGIN}\n``` not a closing fence\n{END}\n```\n",
    ],
)
def test_quoted_marker_is_not_a_marker(quoted: str) -> None:
    original = quoted.encode()
    assert find_block(original) is None
    assert delete_block(original) is original
    assert delete_block(set_block(original, TEXT)) == original


@pytest.mark.parametrize("opening", ["```\ncode\n", "text\n~~~ sh\nls\n", "````\n```\n", "```"])
def test_unclosed_fence_is_refused(opening: str) -> None:
    """The block would become part of the code."""
    with pytest.raises(EditRefused, match=r"\Aline \d+: this code fence is never closed"):
        set_block(opening.encode(), TEXT)


@pytest.mark.parametrize(
    "before",
    ["- ```\n  code\n", "> ```\n> code\n", "* ~~~\n\n  x\n", "1. ```sh\n   ls\n", "- a\n\n  ```\n  x\n"],
)
def test_unclosed_fence_ends_with_its_list_or_quote(before: str) -> None:
    original = (before + "\nafter\n").encode()
    assert delete_block(set_block(original, TEXT)) == original


@pytest.mark.parametrize("text", [f"{BEGIN}\n", f"a\n{END}\n", "```\nopen\n"])
def test_text_that_would_break_the_block_is_refused(text: str) -> None:
    with pytest.raises(EditRefused):
        set_block(b"# Mine\n", text)
    with pytest.raises(EditRefused):
        set_block(set_block(b"# Mine\n", TEXT), text)


def test_markers_with_trailing_blanks_and_small_indent_are_found() -> None:
    data = f"  {BEGIN}  \nx\n {END}\t\nafter\n".encode()
    block = find_block(data)
    assert block is not None
    assert block.text == "x\n"
    assert delete_block(data) == b"after\n"


def test_markers_hold_no_word_that_a_harness_takes_for_an_attack() -> None:
    for word in ("ignore", "override", "system", "secret", "hidden"):
        assert word not in (BEGIN + END).lower()


@pytest.mark.parametrize("data", [b"ok\nbad \xff\n", b"\xfe\xff\x00a", "latin é".encode("latin-1")])
def test_not_utf8_is_refused_with_the_line(data: bytes) -> None:
    with pytest.raises(EditRefused, match=r"\Aline \d+: .*UTF-"):
        set_block(data, TEXT)


def test_huge_file_is_refused() -> None:
    with pytest.raises(EditRefused, match="larger than 8 MiB"):
        set_block(b"x" * (8 * 1024 * 1024 + 1), TEXT)


FRAGMENTS = st.sampled_from(
    [
        "# Title",
        "plain words",
        "",
        "",
        "- item",
        "  continued",
        "1. first",
        "> quote",
        "```",
        "```sh",
        "~~~",
        "````",
        "  ```",
        "    ```",
        "- ```",
        "> ```",
        "    indented code",
        "<!-- a comment -->",
        "<!-- a comment",
        "over lines -->",
        "``` `not a fence`",
        "\ttabbed",
        "設計 🧠",
        f"see {BEGIN} there",
    ]
)
ENDS = st.sampled_from(["\n", "\r\n", "\r"])


@st.composite
def documents(draw: st.DrawFn) -> str:
    ends = st.just(draw(ENDS)) | ENDS
    text = "".join(draw(FRAGMENTS) + draw(ends) for _ in range(draw(st.integers(0, 12))))
    return text + draw(FRAGMENTS) if draw(st.booleans()) else text


@given(documents(), st.booleans())
def test_set_and_delete_restore_any_document_or_refuse(document: str, bom: bool) -> None:
    original = (b"\xef\xbb\xbf" if bom else b"") + document.encode()
    try:
        edited = set_block(original, TEXT)
    except EditRefused:
        reject()
    block = find_block(edited)
    assert block is not None
    assert block.text == TEXT
    assert edited.startswith(original)
    assert set_block(edited, TEXT) is edited
    assert delete_block(set_block(edited, "other\n")) == original


@pytest.mark.parametrize(
    "around", ["<!--\n{}-->\n", "<details>\n{}</details>\n", "- item\n{}", "words\n{}words\n"]
)
def test_block_that_was_moved_into_html_or_text_is_still_ours(around: str) -> None:
    data = around.format(BLOCK).encode()
    assert delete_block(data) == around.format("").encode()
