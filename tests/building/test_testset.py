"""The parts of a test set's build; `tests/cli/test_build_testset.py` builds whole ones."""

from __future__ import annotations

import pytest
from tests.fakes.made_test_set import corpus

from ragstone.building.testset import (
    main_language,
    passage_controls,
    shown_by,
    size_for,
    stage_and_reason,
)
from ragstone.data.corpus import Corpus
from ragstone.errors import ConfigError
from ragstone.types import Passage


def test_controls_are_made_of_the_passages_own_sentences() -> None:
    """Each passage has a control that states its first sentence, and a foreign one."""
    found = passage_controls(list(corpus(4)))
    assert [one.supports for one in found] == [True, False] * 4
    for supporting, foreign in zip(found[::2], found[1::2], strict=True):
        (sentence,) = supporting.query.gold_answers
        assert sentence in supporting.text
        assert sentence not in foreign.text


def test_sizes_and_differences_agree() -> None:
    """The size for a difference shows this difference."""
    assert shown_by(size_for(0.2)) == pytest.approx(0.2, abs=0.01)
    assert shown_by(1) is None
    with pytest.raises(ConfigError, match="shows a difference of 1e-06"):
        size_for(1e-6)


def test_reasons_are_counted_by_their_step() -> None:
    """A step of writing is part of the reason; details after the colon do not count apart."""
    assert stage_and_reason("") == ("", "")
    assert stage_and_reason("critique: findable 2 below 3") == ("critique", "findable 2 below 3")
    written = "facts: no statement of the passage: less than 50% of the words"
    assert stage_and_reason(written) == (
        "writing",
        "no statement of the passage (facts): less than 50% of the words",
    )


def test_the_language_is_that_of_most_passages() -> None:
    """A text without a certain language does not count."""
    german = "Die Brücke über den Fluss wurde im Jahr gebaut, und der Zoll war nicht hoch für alle."
    texts = [
        german,
        german + " Das war so.",
        "123",
        "The bridge is one of the old ones of the town.",
    ]
    passages = [Passage(str(n), text) for n, text in enumerate(texts)]
    assert main_language(Corpus.from_passages(passages)) == "German"
    assert main_language(Corpus.from_passages([Passage("n", "123")])) == ""
