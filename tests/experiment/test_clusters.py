"""Clusters of queries."""

from __future__ import annotations

from ragstone.core.schemas import rows
from ragstone.data.dataset import Dataset
from ragstone.experiment.clusters import cluster_of, clusters_table

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
    found = [cluster_of(DATA, query) for query in DATA.queries]
    assert found == ["conversation c1", "document d", "query alone"]


def test_the_table_has_the_cluster_of_every_query() -> None:
    """One row per query, in order."""
    named = [row["query_id"] for row in rows(clusters_table(DATA).table)]
    assert named == ["turn", "found", "alone"]
