"""Ratings with a data set: labels, clusters, what it does not have, and choices."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ragstone.core.schemas import queries_to_table
from ragstone.data.corpus import Corpus
from ragstone.data.dataset import Dataset
from ragstone.data.readers.rated_set import RatedSet
from ragstone.data.readers.ratings import HumanRating, RatedItem
from ragstone.data.table_builder import qrels
from ragstone.errors import ConfigError, DatasetError
from ragstone.evaluation.rated_data import chosen_by, groups_by, with_dataset
from ragstone.types import Passage, Query


def rated(*items: RatedItem) -> RatedSet:
    """Return a rating of each item."""
    path = Path("r.jsonl")
    ratings = [HumanRating(one, "p", "ann", n, line=n, path=path) for n, one in enumerate(items, 1)]
    return RatedSet("r", tuple(ratings), metrics={"F1": {items[0]: 0.5}})


def dataset() -> Dataset:
    """Return three queries of two conversations with labels, and one passage."""
    queries = [
        Query(
            f"q{n}", "Who?", labels={"kind": "who" if n else "what", "conversation": f"c{n // 2}"}
        )
        for n in range(3)
    ]
    corpus = Corpus.from_passages([Passage("p", "Ann did.")])
    return Dataset("mine", queries_to_table(queries), corpus, qrels().finish())


def test_labels_and_conversations_come_from_the_data_set() -> None:
    """Ratings of other queries are counted."""
    held = with_dataset(rated(RatedItem("q0"), RatedItem("q1"), RatedItem("x")), dataset())

    assert (len(held.ratings), held.other_queries) == (2, 1)
    assert held.clusters == {"q0": "c0", "q1": "c0", "q2": "c1"}
    assert {value: len(of) for value, of in groups_by(held, "kind").items()} == {
        "what": 1,
        "who": 1,
    }


def test_what_the_data_set_does_not_have() -> None:
    """An unknown passage has file and line; no common query is an error."""
    with pytest.raises(DatasetError, match=r"r.jsonl, line 2: .* has no passage 'pp'"):
        with_dataset(rated(RatedItem("q0"), RatedItem("q1", passage_id="pp")), dataset())
    with pytest.raises(DatasetError, match=r"r.jsonl: 0 % of the 1 ratings are of queries"):
        with_dataset(rated(RatedItem("x")), dataset())


def test_ratings_are_chosen_by_fields_labels_and_metrics() -> None:
    """All axes hold together; unknown values and labels are named."""
    held = rated(RatedItem("q0", "s"), RatedItem("q1", "s"), RatedItem("q1", "t"))

    assert len(chosen_by(held, {"system": ["s"]}).ratings) == 2
    assert len(chosen_by(held, {"system": ["s", "t"], "F1": ["0.5"]}).ratings) == 1
    with pytest.raises(ConfigError, match="no system 'u' is rated"):
        chosen_by(held, {"system": ["u"]})
    with pytest.raises(ConfigError, match="give the data set with --data"):
        chosen_by(held, {"kind": ["who"]})
    with pytest.raises(ConfigError, match="no query has the label 'kin'"):
        chosen_by(with_dataset(held, dataset()), {"kin": ["who"]})


def test_an_empty_corpus_has_no_unknown_passage() -> None:
    """A data set of queries alone cannot know passages."""
    alone = replace(dataset(), corpus=Corpus.from_passages([]))

    assert len(with_dataset(rated(RatedItem("q0", passage_id="z")), alone).ratings) == 1
