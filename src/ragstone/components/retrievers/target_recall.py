"""How many lists an approximate search reads: as few as reach a target recall on real queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ragstone.core import limits
from ragstone.indexes.exact_knn import Near, nearest
from ragstone.statistics.mean_bound import lower_bound_of_mean

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
    lower_bound: float
    """Lower bound of the expected recall at 95 %."""
    n: int
    """Queries that were searched exactly as well."""
    nprobe: int
    """Lists that are read per query."""


def measure(
    queries: Matrix, index: IvfIndex, top_k: int, target: float
) -> tuple[ReachedRecall, ReachedRecall | None]:
    """Return a small effort that reaches a target with its recall, and the next one, which misses.

    All lists reach it. From there the number of lists falls by a tenth at a time, as long as the
    lower bound of the recall reaches the target. In this fixed order, the tests of several numbers
    need no correction.
    """
    count = min(len(queries), limits.MEASURED_QUERIES)
    sample = queries[np.linspace(0, len(queries) - 1, count).astype(np.int64)]
    exact = np.stack([near.places for near in nearest(sample, index.vectors, top_k)])
    ranks = index.ranks(sample, exact)
    reached = ReachedRecall(target, 1.0, 1.0, count, len(index))
    while reached.nprobe > 1:
        probed = reached.nprobe * 9 // 10
        recalls = (ranks < probed).mean(axis=1)
        low = lower_bound_of_mean(recalls, _CONFIDENCE)
        tried = ReachedRecall(target, float(recalls.mean()), low, count, probed)
        if low < target:
            return reached, tried
        reached = tried
    return reached, None


def recall_of(found: Near, exact: Near) -> float:
    """Return the share of the exact ranking that was found; passages of equal score are equal."""
    return float((found.scores >= exact.scores[-1]).sum() / len(exact.scores))


def together(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the recall of several searches of one step, one per collection of passages.

    The recall is the mean over all measured queries. The lower bound is the lowest, and `nprobe`
    the highest.
    """
    n = sum(part["n"] for part in parts)
    return {
        "target": parts[0]["target"],
        "recall": sum(part["recall"] * part["n"] for part in parts) / n,
        "lower_bound": min(part["lower_bound"] for part in parts),
        "n": n,
        "nprobe": max(part["nprobe"] for part in parts),
    }
