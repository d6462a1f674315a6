"""Clusters: queries whose scores depend on each other."""

from __future__ import annotations

from ragstone.core.schemas import CLUSTERS, to_table
from ragstone.core.stored_table import StoredTable
from ragstone.data.dataset import Dataset
from ragstone.types import Query


def clusters_table(dataset: Dataset) -> StoredTable:
    """Return which queries depend on each other: turns of a conversation, questions on a document.

    An interval that takes their scores for independent is too narrow.
    """
    named = {query.query_id: cluster_of(dataset, query) for query in dataset.queries}
    columns = {"query_id": list(named), "cluster": list(named.values())}
    return StoredTable.in_memory(to_table(CLUSTERS, columns))


def cluster_of(dataset: Dataset, query: Query) -> str:
    """Return the conversation of a query, else the document of its best passage, else itself."""
    if "conversation" in query.labels:
        return f"conversation {query.labels['conversation']}"
    grades = dataset.qrels.get(query.query_id, {})
    best = max(grades, key=lambda passage_id: grades[passage_id], default="")
    document = dataset.corpus[best].document_id if best in dataset.corpus else ""
    if "parallel" in query.labels:
        # Translations depend on each other: their ids differ by the code of the language alone.
        document = document.removeprefix(f"{query.labels.get('language')}/")
    if document:
        return f"document {document}"
    return f"query {query.labels.get('parallel', query.query_id)}"
