"""Clusters: queries whose scores depend on each other."""

from __future__ import annotations

from collections.abc import Iterable

from ragstone.core.schemas import CLUSTERS, to_table
from ragstone.core.stored_table import StoredTable
from ragstone.data.dataset import Dataset
from ragstone.data.readers.parallel import PARALLEL
from ragstone.types import Query


def clusters_table(dataset: Dataset) -> StoredTable:
    """Return which queries depend on each other: turns of a conversation, questions on a document.

    An interval that takes their scores for independent is too narrow.
    """
    named = query_clusters(dataset)
    columns = {"query_id": list(named), "cluster": list(named.values())}
    return StoredTable.in_memory(to_table(CLUSTERS, columns))


def query_clusters(dataset: Dataset) -> dict[str, str]:
    """Return query id -> cluster; clusters with translations of one query are one."""
    named = {query.query_id: _cluster_of(dataset, query) for query in dataset.queries}
    same = _joined(
        (str(query.labels[PARALLEL]), named[query.query_id])
        for query in dataset.queries
        if PARALLEL in query.labels
    )
    return {query_id: same.get(cluster, cluster) for query_id, cluster in named.items()}


def _joined(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return cluster -> the first of those that translations of a query join."""
    first: dict[str, str] = {}
    above: dict[str, str] = {}

    def root(cluster: str) -> str:
        while above.setdefault(cluster, cluster) != cluster:
            above[cluster] = above[above[cluster]]
            cluster = above[cluster]
        return cluster

    for shared, cluster in pairs:
        above[root(cluster)] = root(first.setdefault(shared, cluster))
    return {cluster: root(cluster) for cluster in above}


def _cluster_of(dataset: Dataset, query: Query) -> str:
    """Return the conversation of a query, else the document of its best passage, else itself.

    Without a document, the translations of a query are one cluster.
    """
    if "conversation" in query.labels:
        return f"conversation {query.labels['conversation']}"
    grades = dataset.qrels.get(query.query_id, {})
    best = max(grades, key=lambda passage_id: grades[passage_id], default="")
    document = dataset.corpus[best].document_id if best in dataset.corpus else ""
    if document:
        return f"document {document}"
    shared = query.labels.get(PARALLEL)
    return f"query {query.query_id}" if shared is None else f"translations of {shared}"
