"""Clusters of queries."""

from __future__ import annotations

from ragstone.core.schemas import rows
from ragstone.data.dataset import Dataset
from ragstone.experiment.clusters import clusters_table, query_clusters

DATA = Dataset.from_records(
    queries=[
        {"query_id": "turn", "text": "And then?", "conversation": "c1"},
        {"query_id": "found", "text": "Where?"},
        {"query_id": "alone", "text": "Why?"},
    ],
    passages=[{"passage_id": "p", "text": "Here.", "document_id": "d"}],
    qrels=[("found", "p", 1)],
)


def test_a_cluster_is_a_conversation_a_document_or_the_query() -> None:
    """A turn belongs to its conversation, a query with a gold passage to its document."""
    found = [*query_clusters(DATA).values()]
    assert found == ["conversation c1", "document d", "query alone"]


def test_the_table_has_the_cluster_of_every_query() -> None:
    """One row per query, in order."""
    named = [row["query_id"] for row in rows(clusters_table(DATA).table)]
    assert named == ["turn", "found", "alone"]


def test_translations_join_the_clusters_that_they_are_in() -> None:
    """Translations join their clusters; a query that shares nothing stays alone."""
    rows = [("a1", "x"), ("a2", "y"), ("b1", "x"), ("b2", "z"), ("c2", "z"), ("d", None)]
    data = Dataset.from_records(
        queries=[
            {"query_id": name, "text": "Where?"} | ({"parallel": shared} if shared else {})
            for name, shared in rows
        ],
        passages=[{"passage_id": n, "text": "Here.", "document_id": n} for n in "abc"],
        qrels=[(name, name[0], 1) for name, _ in rows if name != "d"],
    )

    found = query_clusters(data)

    assert set(found.values()) == {"document a", "query d"}
    assert found["d"] == "query d"
