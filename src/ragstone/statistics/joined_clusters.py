"""Clusters that have items in common, such as documents with translations of one query."""

from __future__ import annotations

from collections.abc import Hashable, Iterable


def joined_clusters(pairs: Iterable[tuple[Hashable, str]]) -> dict[str, str]:
    """Return cluster -> the first of those that are joined with it.

    A pair is what clusters have in common, and one of these clusters.

    >>> joined_clusters([("q1", "article"), ("q2", "lakes"), ("q1", "Artikel")])
    {'article': 'article', 'lakes': 'lakes', 'Artikel': 'article'}
    """
    first: dict[Hashable, str] = {}
    above: dict[str, str] = {}

    def root(cluster: str) -> str:
        while above.setdefault(cluster, cluster) != cluster:
            above[cluster] = above[above[cluster]]
            cluster = above[cluster]
        return cluster

    for shared, cluster in pairs:
        above[root(cluster)] = root(first.setdefault(shared, cluster))
    places = {cluster: place for place, cluster in enumerate(above)}
    names: dict[str, str] = {}
    for cluster in sorted(above, key=places.__getitem__):
        names.setdefault(root(cluster), cluster)
    return {cluster: names[root(cluster)] for cluster in above}
