"""The oracle: the relevant passages, and nothing else."""

from __future__ import annotations

import pytest

from ragstone.components.retrievers.oracle import Oracle
from ragstone.core.fingerprint import cache_key_parts
from ragstone.data.corpus import Corpus
from ragstone.errors import ConfigError, DatasetError
from ragstone.types import Passage, Search

CORPUS = Corpus.from_passages([Passage(name, name) for name in "abcd"])
QRELS = {"q1": {"a": 1, "b": 0, "c": 2, "d": 1}, "q2": {"b": 0}}
SEARCHES = [Search("q1", ""), Search("q2", ""), Search("q3", "")]


def test_relevant_passages_best_grade_first() -> None:
    """Grades are scores, equal ones in the qrels' order; nothing relevant is an empty ranking."""
    first, second, third = Oracle().with_qrels(QRELS).retrieve(SEARCHES, CORPUS)
    assert list(first.passage_ids) == ["c", "a", "d"]
    assert list(first.scores) == [2.0, 1.0, 1.0]
    assert len(second) == len(third) == 0


def test_top_k_cuts() -> None:
    """No more than `top_k` passages are returned."""
    (first, *_) = Oracle(top_k=1, qrels=QRELS).retrieve(SEARCHES, CORPUS)
    assert list(first.passage_ids) == ["c"]


def test_without_qrels_it_says_what_it_needs() -> None:
    """The oracle cannot guess."""
    with pytest.raises(ConfigError, match="needs the relevance judgements"):
        Oracle().retrieve(SEARCHES, CORPUS)


def test_qrels_of_another_corpus_are_refused() -> None:
    """A relevant passage that the corpus lacks is named."""
    with pytest.raises(DatasetError, match="'x'"):
        Oracle(qrels={"q1": {"x": 1}}).retrieve(SEARCHES, CORPUS)


def test_other_qrels_are_another_recipe() -> None:
    """What is kept for one data set's judgements is not taken for another's."""
    assert cache_key_parts(Oracle(qrels=QRELS)) != cache_key_parts(Oracle(qrels={"q1": {"a": 1}}))
    assert cache_key_parts(Oracle(qrels=QRELS)) == cache_key_parts(Oracle().with_qrels(QRELS))
