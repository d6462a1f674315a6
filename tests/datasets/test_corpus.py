"""The corpus by position and by id, and samples of a data set's queries."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from arro3.core import Table

from ragstone.datasets.corpus import Corpus
from ragstone.datasets.dataset import Dataset
from ragstone.schemas import QRELS, passages_to_table, queries_to_table, to_table
from ragstone.types import Passage, Query

PASSAGES = [
    Passage("p1", "one"),
    Passage("p2", "two", "Title", "d1", {"n": 1, "tags": ("a", "b"), "ok": True}),
    Passage("p3", "", "Only a title"),
]


@pytest.fixture(params=["one piece", "two pieces"])
def corpus(request: pytest.FixtureRequest) -> Corpus:
    """A corpus whose table is in one piece, or in two."""
    if request.param == "one piece":
        return Corpus.from_passages(PASSAGES)
    parts = [passages_to_table(PASSAGES[:1]), passages_to_table(PASSAGES[1:])]
    batches = [batch for part in parts for batch in part.to_batches()]
    return Corpus(Table.from_batches(batches, schema=parts[0].schema))


def test_passages_are_read_by_position_and_by_id(corpus: Corpus) -> None:
    """Every field and label comes back, in whatever pieces the table is kept."""
    assert list(corpus) == PASSAGES
    assert [corpus.at(n) for n in range(3)] == PASSAGES
    assert corpus["p2"] == PASSAGES[1]
    assert "p3" in corpus
    assert "p4" not in corpus
    with pytest.raises(KeyError):
        corpus["p4"]
    with pytest.raises(IndexError):
        corpus.at(3)


def test_full_texts_are_title_and_text(corpus: Corpus) -> None:
    """As one list, or a part of it; a title stands on a line of its own."""
    assert corpus.full_texts() == ["one", "Title\ntwo", "Only a title\n"]
    assert corpus.full_texts(1, 99) == [PASSAGES[1].full_text, PASSAGES[2].full_text]


def test_the_digest_is_of_the_rows_not_of_their_pieces(corpus: Corpus) -> None:
    """Equal rows have an equal digest, however they are kept; other rows another."""
    assert corpus.digest == Corpus.from_passages(PASSAGES).digest
    assert corpus.digest != Corpus.from_passages(PASSAGES[:2]).digest


@pytest.fixture
def dataset() -> Dataset:
    """A set of 200 queries, each judged once."""
    ids = [f"q{n}" for n in range(200)]
    columns: dict[str, list[Any]] = {
        "query_id": ids,
        "passage_id": ["p1"] * 200,
        "relevance": [1] * 200,
    }
    asked = queries_to_table([Query(i, f"what is {i}?", ("a", i), labels={"n": i}) for i in ids])
    return Dataset("x", asked, Corpus.from_passages(PASSAGES), to_table(QRELS, columns))


def test_a_sample_is_random_repeatable_and_in_file_order(dataset: Dataset) -> None:
    """Limit and seed alone decide; whole queries are taken, in the order of the file."""
    once, again = dataset.sample(20, seed=1), dataset.sample(20, seed=1)
    assert once.queries == again.queries
    assert once.queries != dataset.sample(20, seed=2).queries
    places = [dataset.queries.index(query) for query in once.queries]
    assert places == sorted(set(places))
    assert len(places) == 20
    assert once.corpus is dataset.corpus


def test_a_sample_is_not_the_head_of_the_file(dataset: Dataset) -> None:
    """Over many seeds every query is drawn about equally often."""
    drawn = Counter(q.query_id for seed in range(200) for q in dataset.sample(20, seed).queries)
    assert len(drawn) == 200
    assert all(5 <= count <= 45 for count in drawn.values())


def test_a_limit_above_the_number_of_queries_changes_nothing(dataset: Dataset) -> None:
    """The very same set comes back."""
    assert dataset.sample(200, seed=1) is dataset
    assert dataset.sample(999, seed=1) is dataset


def test_queries_may_be_selected_by_position(dataset: Dataset) -> None:
    """In the order given; none at all is legal."""
    assert [query.query_id for query in dataset.select([7, 3]).queries] == ["q7", "q3"]
    assert dataset.select([]).queries == []
