"""Ranks of systems over bootstrap resamples: does the leaderboard depend on the queries drawn?"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ragstone.errors import DatasetError
from ragstone.statistics.bootstrap import Floats
from ragstone.statistics.paired import Values
from ragstone.statistics.resampling import Bootstrap
from ragstone.statistics.summary import cluster_sums, present, present_clusters


@dataclass(frozen=True, slots=True)
class RankStability:
    """The rank of one system, counted from 1, and its variation over resamples of the queries."""

    system: str
    rank: int
    """The rank by mean; systems with equal means share the best rank among them."""
    interval: tuple[float, float] | None
    probabilities: tuple[float, ...]
    """Probabilities of rank 1, 2, ...; they sum to 1."""


def rank_stability(
    scores: Mapping[str, Values],
    *,
    clusters: Sequence[Hashable] | None = None,
    higher_is_better: bool = True,
    confidence: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> list[RankStability]:
    """Return the rank of each system with its stability, best first.

    `scores` maps systems to values of the same queries in the same order. `clusters` has one name
    per query; whole clusters are drawn. `higher_is_better` is False for latency, cost, error rates.
    `resamples` is the number of resampled leaderboards.

    Raises:
        DatasetError: no values, unequal lengths, NaN or an infinite value.

    >>> board = rank_stability({"weak": [0, 0, 1, 0], "strong": [1, 1, 1, 1]}, resamples=500)
    >>> board[0].system, board[0].probabilities
    ('strong', (1.0, 0.0))
    """
    bootstrap = Bootstrap(confidence, resamples, seed)
    table = _columns(scores) * (1 if higher_is_better else -1)
    names = present_clusters(clusters, np.ones(len(table), dtype=np.bool_))
    parts = np.column_stack([cluster_sums(column, names)[0] for column in table.T])
    # All systems share the resample's number of queries, so sums rank as means do.
    ranks = ranks_of(bootstrap.sums(parts))
    now = ranks_of(table.sum(axis=0, keepdims=True))[0]
    every = np.arange(1, len(scores) + 1)
    board = [
        RankStability(
            system=system,
            rank=int(now[place]),
            interval=bootstrap.interval(ranks[:, place]) if len(parts) > 1 else None,
            probabilities=tuple((ranks[:, [place]] == every).mean(axis=0).tolist()),
        )
        for place, system in enumerate(scores)
    ]
    return sorted(board, key=lambda found: found.rank)


def _columns(scores: Mapping[str, Values]) -> Floats:
    lengths = {system: len(values) for system, values in scores.items()}
    if not lengths or min(lengths.values()) == 0 or len(set(lengths.values())) > 1:
        raise DatasetError(f"every system needs the same queries, at least one; found {lengths}")
    return np.column_stack(
        [present(np.asarray(v, dtype=np.float64), f"values of {s!r}")[0] for s, v in scores.items()]
    )


def ranks_of(sums: Floats) -> Floats:
    """Return ranks from 1 along the last axis, the largest first; equal sums share the best rank.

    >>> ranks_of(np.array([0.5, 0.7, 0.5])).tolist()
    [2.0, 1.0, 2.0]
    """
    # Sums of the same numbers in another order differ in the last bits; that is a tie.
    rounded = np.round(sums, 9)
    ranks: Floats = 1.0 + (rounded[..., None, :] > rounded[..., :, None]).sum(axis=-1)
    return ranks
