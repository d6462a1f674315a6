"""Clusters: queries whose scores depend on each other."""

from __future__ import annotations

from ragstone.core.schemas import CLUSTERS, to_table
from ragstone.core.stored_table import StoredTable
from ragstone.data.dataset import Dataset
from ragstone.data.readers.parallel import PARALLEL
from ragstone.statistics.joined_clusters import joined_clusters
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
    named, translated = dict[str, str](), list[tuple[str, str]]()
    known: dict[str, str] = {}
    """Each cluster's name once, which many queries share."""
    for query in dataset.queries:
        cluster = _cluster_of(dataset, query)
        named[query.query_id] = cluster = known.setdefault(cluster, cluster)
        if PARALLEL in query.labels:
            translated.append((str(query.labels[PARALLEL]), cluster))
    if not translated:
        return named
    same = joined_clusters(translated)
    return {query_id: same.get(cluster, cluster) for query_id, cluster in named.items()}


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
