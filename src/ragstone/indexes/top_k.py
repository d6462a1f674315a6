"""The best of an array of scores, the same on every machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

HEAPS: Final = 8
"""Heaps per place of the ranking: with 8, a sixteenth more than the ranking is left to sort."""


def top_places(scores: npt.NDArray[np.floating[Any]], top_k: int) -> npt.NDArray[np.intp]:
    """Return the positions of the `top_k` highest scores, best first, equal ones by position.

    Args:
        scores: one score per passage, of shape (n,).
        top_k: how many positions at most.

    >>> top_places(np.array([0.0, 2.0, 1.0, 2.0], dtype=np.float32), 3).tolist()
    [1, 3, 2]
    """
    floor = top_k_lower_bound(scores, top_k)
    places = (scores >= floor).nonzero()[0]
    found = scores[places]
    if len(places) > top_k:
        # Everything as good as the last place is kept until positions have decided between ties.
        last = np.partition(found, -top_k)[-top_k]
        places = places[found >= last]
        found = scores[places]
    return places[(-found).argsort(kind="stable")[:top_k]]


def top_k_lower_bound(scores: npt.NDArray[np.floating[Any]], top_k: int) -> float:
    """Return a score that at least `top_k` places reach, near the last of them, at little cost.

    The places are dealt into heaps; of the best of each heap, `top_k` are at least so good.
    """
    if len(scores) < HEAPS * HEAPS * top_k:
        return float("-inf")
    return float(lower_bounds(scores[None], top_k)[0])


def lower_bounds(
    scores: npt.NDArray[np.floating[Any]], top_k: int
) -> npt.NDArray[np.floating[Any]]:
    """Return such a score for each row, of at least `HEAPS ** 2 * top_k` scores."""
    heaps = HEAPS * top_k
    depth = scores.shape[1] // heaps
    heads = np.maximum.reduce(scores[:, : depth * heaps].reshape(-1, depth, heaps), axis=1)
    heads.partition(heaps - top_k, axis=1)
    floors: npt.NDArray[np.floating[Any]] = heads[:, heaps - top_k]
    return floors
