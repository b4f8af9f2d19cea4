"""What the index takes for granted about normalised text."""

from __future__ import annotations

import re
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from ecc_memory.vault.index.runs import Runs
from ecc_memory.vault.relaxed import fold, letters, words

TEXT = st.text(
    st.sampled_from("aZz09_-. \n\t\u00a0ßÉé\u0301\u0327ΣςİıﬁΑΩ´\u3099か漢字🧠\u200d한\u1112\u1161")
    | st.characters()
)


@given(TEXT)
def test_words_of_a_text_are_the_words_of_its_runs(text: str) -> None:
    assert words(text).split() == [word for run in text.split() for word in words(run).split()]
    assert text.lower().split() == [run.lower() for run in text.split()]


@given(TEXT)
def test_letters_are_the_words_without_spaces(text: str) -> None:
    assert letters(text) == words(text).replace(" ", "")


@given(TEXT)
def test_a_word_is_part_of_the_folded_run(text: str) -> None:
    for run in text.split():
        assert all(word in fold(run) for word in words(run).split())


@given(st.text(st.characters(max_codepoint=127)))
def test_words_of_ascii_take_no_other_way(text: str) -> None:
    split = re.sub(
        r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", unicodedata.normalize("NFKC", text)
    )
    assert words(text).split() == re.findall(r"[^\W_]+", fold(split))


@given(st.lists(TEXT, max_size=20), st.text("aéz", min_size=1, max_size=3))
def test_runs_count_as_the_texts_do(texts: list[str], needle: str) -> None:
    counts = Runs(texts).lowered.counts(needle, most=1000)
    assert counts == {n: text.lower().count(needle) for n, text in enumerate(texts) if needle in text.lower()}
    assert Runs(texts).lowered.holding(needle) == set(counts or ())
