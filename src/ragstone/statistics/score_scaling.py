"""Scores of different rankings on one scale."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from ragstone.errors import RagstoneError

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats: TypeAlias = npt.NDArray[np.float64]


Normalisation: TypeAlias = Literal["min-max", "z-score", "none"]


def on_scale(scores: Floats, normalisation: Normalisation) -> tuple[Floats, float]:
    """Return the scores of one ranking, at least one, on a scale that others can share.

    The second number is for a passage that the ranking lacks: it is worth the lowest of those that
    the ranking holds, not 0, which may be high where scores can be negative.

    - `min-max`: the lowest 0, the highest 1; all 1 where they are equal.
    - `z-score`: mean 0 and standard deviation (of the population) 1; all 0 where they are equal.
    - `none`: as they are.

    Raises:
        RagstoneError: a score is not a finite number.

    >>> on_scale(np.array([9.0, 6.0, 3.0]), "min-max")
    (array([1. , 0.5, 0. ]), 0.0)
    """
    if not np.isfinite(scores).all():
        raise RagstoneError("a retriever gave a score that is not finite; rrf reads ranks alone")
    lowest, spread = scores.min(), np.ptp(scores)
    if normalisation == "min-max":
        return ((scores - lowest) / spread if spread else np.ones(len(scores))), 0.0
    if normalisation == "z-score" and spread:
        scores = (scores - scores.mean()) / scores.std()
    elif normalisation == "z-score":
        scores = np.zeros(len(scores))
    return scores, float(scores.min())
