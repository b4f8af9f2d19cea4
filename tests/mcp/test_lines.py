"""Bytes to lines."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ecc_memory.mcp.lines import Lines


def split(chunks: list[bytes], most: int) -> list[bytes | None]:
    lines = Lines(most)
    found = [line for chunk in chunks for line in lines.feed(chunk)]
    return [*found, *lines.finish()]


def test_lines_come_out_as_they_went_in() -> None:
    assert split([b"a\nb", b"c\r\n\n", b"d"], 10) == [b"a", b"bc\r", b"", b"d"]


def test_a_long_line_is_reported_once_and_the_next_is_served() -> None:
    assert split([b"123456", b"789", b"0\nnext\n"], 5) == [None, b"next"]


def test_a_line_of_exactly_the_bound_passes() -> None:
    assert split([b"12345\n123456\n"], 5) == [b"12345", None]


def test_a_long_line_is_reported_before_its_end() -> None:
    assert list(Lines(5).feed(b"1234567")) == [None]


@given(st.lists(st.binary(max_size=20).map(lambda line: line.replace(b"\n", b" "))), st.data())
def test_it_does_not_matter_how_the_bytes_are_cut(lines: list[bytes], data: st.DataObject) -> None:
    text = b"".join(line + b"\n" for line in lines)
    chunks = []
    while text:
        size = data.draw(st.integers(1, len(text)))
        chunks.append(text[:size])
        text = text[size:]
    assert split(chunks, 12) == [line if len(line) <= 12 else None for line in lines]
