"""The oracle: the relevant passages, and nothing else."""

from __future__ import annotations

import pytest
from tests.support import rankings

from ragstone.components.retrievers.oracle import Oracle
from ragstone.core.fingerprint import cache_key_parts
from ragstone.data.corpus import Corpus
from ragstone.errors import ConfigError, DatasetError
from ragstone.types import Passage, Search

CORPUS = Corpus.from_passages([Passage(name, name) for name in "abcd"])
QRELS = {"q1": {"a": 1, "b": 0, "c": 2, "d": 1}, "q2": {"b": 0}}
SEARCHES = [Search("q1", ""), Search("q2", ""), Search("q3", "")]


def test_relevant_passages_best_grade_first() -> None:
    """Scores are the grades; equal ones are in the qrels' order."""
    first, second, third = rankings(Oracle(), SEARCHES, CORPUS, qrels=QRELS)
    assert list(first.passage_ids) == ["c", "a", "d"]
    assert list(first.scores) == [2.0, 1.0, 1.0]
    assert len(second) == len(third) == 0


def test_top_k_cuts() -> None:
    """No more than `top_k` passages are returned."""
    (first, *_) = rankings(Oracle(top_k=1), SEARCHES, CORPUS, qrels=QRELS)
    assert list(first.passage_ids) == ["c"]


def test_without_qrels_the_error_names_them() -> None:
    """Without qrels the error names the argument that is missing."""
    with pytest.raises(ConfigError, match="needs the relevance judgements"):
        rankings(Oracle(), SEARCHES, CORPUS)


def test_qrels_of_another_corpus_are_refused() -> None:
    """The error names a relevant passage that is not in the corpus."""
    with pytest.raises(DatasetError, match="'x'"):
        rankings(Oracle(), SEARCHES, CORPUS, qrels={"q1": {"x": 1}})


def test_qrels_are_an_input_of_the_step_and_no_parameter() -> None:
    """They are part of the step's key and not of the component's."""
    assert Oracle.uses == {"qrels"}
    assert set(cache_key_parts(Oracle())["parameters"]) == {"top_k"}
