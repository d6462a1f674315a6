"""Words are found in the vocabulary, one by one or all at once."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from ragstone.indexes import vocabulary
from ragstone.indexes.vocabulary import Vocabulary

WORDS = st.sets(st.text(st.sampled_from("abzéß東\U00020000"), min_size=1, max_size=4))


@given(known=WORDS, asked=WORDS)
def test_known_words_are_found_and_others_are_not(known: set[str], asked: set[str]) -> None:
    """Each known word has its place in the order of code points, in both ways."""
    ordered = sorted(known)
    expected = {word: ordered.index(word) for word in asked & known}
    assert Vocabulary.of(ordered).find(asked) == expected
    searched = Vocabulary.of(ordered)
    one_by_one = {word: searched._place(word.encode()) for word in asked}
    assert {word: n for word, n in one_by_one.items() if n is not None} == expected


def test_a_large_vocabulary_is_never_read_whole(tmp_path: Path) -> None:
    """A few words of many are searched on the disk, before and after the vocabulary is stored."""
    ordered = sorted(f"w{n}" for n in range(1_000))
    Vocabulary.of(ordered).save(tmp_path)
    kept = Vocabulary.load(tmp_path)
    assert kept.find({"w77", "x"}) == {"w77": ordered.index("w77")}
    assert not kept._read
    assert kept.words() == ordered
    assert len(kept.find(set(ordered))) > 1_000 // vocabulary._SEARCHED
    assert kept._read
