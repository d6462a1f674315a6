"""Clusters that have items in common."""

from __future__ import annotations

import random

from ragstone.statistics.joined_clusters import joined_clusters


def test_clusters_are_joined_over_several_steps() -> None:
    """Clusters are joined over several steps, with the name of the first."""
    found = joined_clusters(
        [("q", "a"), ("r", "b"), ("s", "c"), ("r", "c"), ("s", "a"), ("t", "d")]
    )

    assert found == {"a": "a", "b": "a", "c": "a", "d": "d"}


def test_the_parts_are_those_of_a_search() -> None:
    """The parts are those that a search from cluster to cluster finds."""
    drawn = random.Random(0)  # noqa: S311
    for _ in range(50):
        pairs = [(drawn.randrange(12), str(drawn.randrange(20))) for _ in range(15)]
        found = joined_clusters(pairs)
        for start in found:
            reached = {start}
            for _step in found:
                shared = {item for item, cluster in pairs if cluster in reached}
                reached |= {cluster for item, cluster in pairs if item in shared}
            assert {one for one in found if found[one] == found[start]} == reached


def test_nothing_is_joined_without_pairs() -> None:
    """Nothing is joined without pairs."""
    assert joined_clusters([]) == {}
