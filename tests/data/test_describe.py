"""What `describe` finds in a data set."""

from __future__ import annotations

from ragstone.core.schemas import QRELS, queries_to_table, to_table
from ragstone.data.corpus import Corpus
from ragstone.data.dataset import Dataset
from ragstone.data.describe import Lengths, describe
from ragstone.types import Message, Passage, Query

DATASET = Dataset(
    "small",
    queries_to_table(
        [
            Query("q1", "one two three", ("a", "b c"), labels={"answerable": True, "tags": ("x",)}),
            Query("q2", "one", labels={"answerable": False, "tags": ("x", "y")}),
            Query(
                "c::2",
                "one two",
                ("d",),
                (Message("user", "hi"),),
                "two of one",
                {"conversation": "c", "turn": 2},
            ),
        ]
    ),
    Corpus.from_passages(
        [Passage("p1", "a b c d", labels={"domain": "law"}), Passage("p2", "a b")]
    ),
    to_table(
        QRELS,
        {
            "query_id": ["q1", "q1", "q2"],
            "passage_id": ["p1", "p2", "p1"],
            "relevance": [2, 0, 0],
        },
    ),
)


def test_counts_include_missing_parts() -> None:
    """A query whose only judgements are 0 has no relevant passage."""
    found = describe(DATASET)
    assert (found.passages, found.queries, found.conversations, found.qrels) == (2, 3, 1, 3)
    assert found.relevance == {"0": 2, "2": 1}
    assert (found.without_answers, found.without_relevant) == (1, 2)
    assert (found.with_history, found.with_rewrite) == (1, 1)


def test_labels_are_counted_by_value() -> None:
    """Lists count once an item; true and false read as in JSON; `answerable` is understood."""
    found = describe(DATASET)
    assert found.query_labels["tags"].counts == {"x": 2, "y": 1}
    assert found.query_labels["answerable"].counts == {"true": 1, "false": 1}
    assert found.answerability == {"answerable": 1, "unanswerable": 1}
    assert found.passage_labels["domain"].counts == {"law": 1}


def test_only_the_most_frequent_values_are_kept() -> None:
    """A label with a value of its own in every row does not swell the description."""
    asked = [Query(f"q{n}", "a", labels={"url": f"u{n // 2}"}) for n in range(200)]
    found = describe(Dataset("x", queries_to_table(asked), DATASET.corpus, DATASET.qrel_table))
    assert found.query_labels["url"].values == 100
    assert len(found.query_labels["url"].counts) == 50


def test_lengths_are_in_words() -> None:
    """Of passages, queries and each gold answer."""
    found = describe(DATASET)
    assert found.words["passage"] == Lengths(2, 2, 3.0, 3.0, 4)
    assert found.words["query"] == Lengths(3, 1, 2.0, 2.0, 3)
    assert found.words["answer"] == Lengths(3, 1, 1.0, 4 / 3, 2)


def test_a_set_of_queries_alone_is_described() -> None:
    """Without corpus, qrels, answers or labels nothing fails and nothing is made up."""
    empty = to_table(QRELS, dict.fromkeys(QRELS.names, ()))
    found = describe(
        Dataset("x", queries_to_table([Query("q", "a")]), Corpus.from_passages([]), empty)
    )
    assert list(found.words) == ["query"]
    assert (found.relevance, found.answerability, found.query_labels) == ({}, {}, {})
    assert found.example_passages == []
    assert [query.query_id for query in found.example_queries] == ["q"]
