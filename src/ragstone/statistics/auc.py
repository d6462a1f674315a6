"""AUC: how well a metric separates two kinds of items, over all thresholds."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from ragstone.errors import DatasetError
from ragstone.statistics.bootstrap import Floats
from ragstone.statistics.resampling import Bootstrap, MiddleRanks
from ragstone.statistics.summary import cluster_numbers, present, present_clusters


@dataclass(frozen=True, slots=True)
class AUC:
    """The probability that a positive item has a higher value than a negative one."""

    value: float | None
    """None if all items are of one kind."""
    positive: int
    negative: int
    left_out: int
    """Items without a value."""
    interval: tuple[float, float] | None


def auc(
    values: Sequence[float | None],
    positive: Sequence[bool],
    *,
    clusters: Sequence[Hashable] | None = None,
    confidence: float = 0.95,
    resamples: int = 2_000,
    seed: int = 0,
) -> AUC:
    """Return the area under the ROC curve; a pair of equal values counts one half.

    The interval is that of the percentile bootstrap over items or clusters.

    >>> auc([0.9, 0.4, 0.4, 0.1], [True, True, False, False], resamples=100).value
    0.875
    """
    bootstrap = Bootstrap(confidence, resamples, seed)
    if len(values) != len(positive):
        raise DatasetError(f"{len(values)} values, but {len(positive)} labels")
    numbers, held = present(values, "values")
    n, left_out = len(numbers), len(values) - len(numbers)
    kinds = np.asarray(positive, dtype=bool)[held]
    ups = int(kinds.sum())
    names = present_clusters(clusters, held)
    if ups in (0, n):
        return AUC(None, ups, n - ups, left_out, None)
    ranks, weights = MiddleRanks(numbers), np.ones(n)

    def area(weights: Floats) -> Floats:
        positives, negatives = weights * kinds, weights * ~kinds
        pairs = positives.sum(axis=1) * negatives.sum(axis=1)
        won = (positives * ranks.of(negatives)).sum(axis=1)
        return np.where(pairs > 0, won / np.maximum(pairs, 1e-300), np.nan)

    members = cluster_numbers(range(n) if names is None else names)
    interval = bootstrap.interval_of(area, weights, members)
    return AUC(float(area(weights[None, :])[0]), ups, n - ups, left_out, interval)
