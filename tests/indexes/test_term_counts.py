"""Words counted in bulk equal the words of `words`, passage by passage."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ragstone.indexes import term_counts as counting
from ragstone.indexes.term_counts import Counted, count_words
from ragstone.text.analyzer import Analysis
from ragstone.text.words import _pattern, words

TEXT = st.text(
    st.one_of(
        st.sampled_from(
            "aAzZ09_ .-'\n\x1c\x00éÉßİǅ\u0301\u0345क्षी東京都のサンกำ한国ﬁ①Ⅷ\ufe0f\u2028\xa0\x85"
        ),
        st.characters(exclude_categories=["Cs"]),
    ),
    max_size=40,
)


def _by_passage(counted: Counted) -> list[Counter[str]]:
    """Return the words of each passage, taken from the lists."""
    found: list[Counter[str]] = [Counter() for _ in counted.lengths]
    index = counted.postings
    for number, word in enumerate(counted.words):
        for at in range(int(index.starts[number]), int(index.starts[number + 1])):
            found[int(index.places[at])][word] = int(index.weights[at])
    return found


@settings(deadline=None)
@given(texts=st.lists(TEXT, max_size=8), chunk=st.sampled_from([1, 30, 10**6]))
@example(texts=["", "a", ""], chunk=1)
@example(texts=["don't\xa0stop ΑΣ ΑΣ.", "水", "水道 water水道water"], chunk=30)
def test_bulk_counts_equal_those_of_words(texts: list[str], chunk: int) -> None:
    """Random texts in chunks of any size."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "_CHUNK", chunk)
        counted = count_words(texts, Analysis())
    assert _by_passage(counted) == [Counter(words(text)) for text in texts]
    assert counted.lengths.tolist() == [len(words(text)) for text in texts]
    assert counted.words == sorted({word for text in texts for word in words(text)})


@given(text=st.text(st.characters(max_codepoint=127)))
def test_the_fast_way_for_ascii_equals_the_general_one(text: str) -> None:
    """Bytes and the pattern for all scripts agree on ASCII."""
    assert words(text) == [word for word, _ in _pattern().findall(text.lower())]


def test_stop_words_and_forms_of_a_stem() -> None:
    """Stop words are removed before stemming; forms of one stem are one word in the lengths too."""
    texts = ["The kings and the king", "École des kings", "the"]
    counted = count_words(texts, Analysis(stemmer="porter", stop_words="english"))
    assert _by_passage(counted) == [
        Counter({"king": 2}), Counter({"école": 1, "de": 1, "king": 1}), Counter()
    ]  # fmt: skip
    assert counted.lengths.tolist() == [2, 3, 0]


def test_counts_may_exceed_a_byte() -> None:
    """A passage of 100,000 nearly equal words is counted in full."""
    counted = count_words(["x " * 99_999 + "y", "x"], Analysis())
    assert _by_passage(counted) == [Counter({"x": 99_999, "y": 1}), Counter({"x": 1})]
