"""How many lists an approximate search reads: as few as reach a target recall on real queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ragstone.core import limits
from ragstone.indexes.exact_knn import Near, nearest
from ragstone.statistics.summary import mean_interval

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragstone.indexes.ivf_index import IvfIndex

    Matrix = npt.NDArray[np.float32]

_CONFIDENCE: Final = 0.95


@dataclass(frozen=True)
class ReachedRecall:
    """The recall that an approximate search reached on a sample of its own queries."""

    target: float
    recall: float
    """Mean share of the exact ranking that was found."""
    lower_bound: float | None
    """Lower end of the interval of the recall at 95 %; None for fewer than two queries."""
    n: int
    """Queries that were searched exactly as well."""
    nprobe: int
    """Lists that are read per query."""


def measure(queries: Matrix, index: IvfIndex, top_k: int, target: float) -> ReachedRecall:
    """Return the smallest effort that reaches a target, and the recall that it reached.

    The number of lists is doubled until the lower bound of the recall reaches the target. If all
    lists have to be read, the search is exact.
    """
    count = min(len(queries), limits.MEASURED_QUERIES)
    sample = queries[np.linspace(0, len(queries) - 1, count).astype(np.int64)]
    exact = list(nearest(sample, index.vectors, top_k))
    probed = 1
    while probed < len(index):
        found = index.nearest(sample, top_k, probed, lambda _: None)
        recalls = np.array([recall_of(*pair) for pair in zip(found, exact, strict=True)])
        interval = mean_interval(recalls, None, _CONFIDENCE)
        low = None if interval is None else float(interval[0])
        if low is not None and low >= target:
            return ReachedRecall(target, float(recalls.mean()), low, count, probed)
        probed *= 2
    return ReachedRecall(target, 1.0, 1.0, count, len(index))


def recall_of(found: Near, exact: Near) -> float:
    """Return the share of the exact ranking that was found; passages of equal score are equal."""
    return float((found.scores >= exact.scores[-1]).sum() / len(exact.scores))


def together(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the recall of several searches of one step, one per collection of passages.

    The recall is the mean over all measured queries. The lower bound is the lowest, and `nprobe`
    the highest.
    """
    n = sum(part["n"] for part in parts)
    bounds = [part["lower_bound"] for part in parts]
    return {
        "target": parts[0]["target"],
        "recall": sum(part["recall"] * part["n"] for part in parts) / n,
        "lower_bound": None if None in bounds else min(bounds),
        "n": n,
        "nprobe": max(part["nprobe"] for part in parts),
    }
