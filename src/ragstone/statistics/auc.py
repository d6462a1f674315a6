"""AUC: how well a metric tells one kind of item from another, whatever the threshold."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragstone.errors import DatasetError
from ragstone.statistics.bootstrap import Floats
from ragstone.statistics.resampling import percentile_interval, resampled_counts
from ragstone.statistics.summary import check_confidence, held_clusters, present


@dataclass(frozen=True, slots=True)
class AUC:
    """The probability that a positive item has a higher value than a negative one."""

    value: float | None
    """None where all items are of one kind."""
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
    """Return the area under the ROC curve, equal values counting half.

    The interval is that of the percentile bootstrap over items or clusters.

    >>> auc([0.9, 0.4, 0.4, 0.1], [True, True, False, False], resamples=100).value
    0.875
    """
    check_confidence(confidence)
    if len(values) != len(positive):
        raise DatasetError(f"{len(values)} values, but {len(positive)} labels")
    numbers, held = present(values, "values")
    kinds = np.asarray(positive, dtype=bool)[held]
    level = np.unique(numbers, return_inverse=True)[1].astype(np.int64)
    names = held_clusters(clusters, held)
    places: dict[Hashable, int] = {}
    member = np.array(
        [places.setdefault(n, len(places)) for n in (names or range(len(numbers)))], dtype=np.int64
    )
    value = float(_areas(np.ones((1, len(numbers))), level, kinds)[0]) if len(kinds) else np.nan
    interval = None
    if np.isfinite(value):
        drawn = resampled_counts(len(places), resamples, seed, width=len(numbers))
        found = [_areas(counts[:, member].astype(np.float64), level, kinds) for counts in drawn]
        interval = percentile_interval(np.concatenate(found), confidence)
    return AUC(
        value if np.isfinite(value) else None,
        int(kinds.sum()),
        int((~kinds).sum()),
        len(values) - len(numbers),
        interval,
    )


def _areas(weights: Floats, level: NDArray[np.int64], kinds: NDArray[np.bool_]) -> Floats:
    """Return the area for each row of weights, shape (rows, items); NaN where a kind is absent."""
    order = np.argsort(level, kind="stable")
    starts = np.flatnonzero(np.diff(level[order], prepend=-1))
    ups = np.add.reduceat((weights * kinds)[:, order], starts, axis=1)
    downs = np.add.reduceat((weights * ~kinds)[:, order], starts, axis=1)
    below = np.cumsum(downs, axis=1) - downs / 2
    pairs = ups.sum(axis=1) * downs.sum(axis=1)
    area: Floats = np.where(
        pairs > 0, (ups * below).sum(axis=1) / np.maximum(pairs, 1e-300), np.nan
    )
    return area
