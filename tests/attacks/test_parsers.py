"""Whatever bytes come in, only our own errors come out. The long form is ``python -m tests.attacks.fuzz``."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .targets import TARGETS, seeds

SEEDS = {name: list(seeds(name)) for name in TARGETS}
PIECES = st.sampled_from(
    [
        *(
            b"---\n",
            b"\n",
            b"\r\n",
            b"\xef\xbb\xbf",
            b"\xff",
            b"\0",
            b'"',
            b"'",
            b'"""',
            b"[",
            b"]",
            b"{",
            b"}",
        ),
        *(b"[[", b"= ", b": ", b"- ", b", ", b"#", b"//", b"/*", b"&a ", b"*a", b"!!x ", b"\\u", b"\\ud800"),
        *(b"<!-- ecc-memory:begin -->\n", b"<!-- ecc-memory:end -->\n", b"```\n", b"null", b"1e999", b"\t"),
        *(b"mcp_servers", b"ecc-memory-vault", b"hooks", b"SessionStart", b'{"a":' * 40, b"[" * 40),
    ]
)


@st.composite
def mutated(draw: st.DrawFn, name: str) -> bytes:
    """A seed with some of its bytes taken out, doubled, or exchanged for others."""
    data = draw(st.sampled_from(SEEDS[name]))[:4096]
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.integers(0, 40)))
        middle = draw(st.one_of(st.just(b""), PIECES, st.binary(max_size=8), st.just(data[start:end] * 2)))
        data = data[:start] + middle + data[end:]
    return data


@pytest.mark.parametrize("name", TARGETS)
def test_seeds_are_read(name: str) -> None:
    for data in SEEDS[name]:
        TARGETS[name](data)


@pytest.mark.parametrize("name", TARGETS)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_only_our_own_errors_come_out(name: str, data: st.DataObject) -> None:
    TARGETS[name](data.draw(mutated(name) | st.lists(PIECES).map(b"".join) | st.binary(max_size=200)))
