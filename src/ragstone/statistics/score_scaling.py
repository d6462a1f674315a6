"""Normalisation of the scores of different rankings to one scale."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ragstone.errors import RagstoneError

Floats: TypeAlias = NDArray[np.float64]
Normalisation: TypeAlias = Literal["min-max", "z-score", "none"]


def on_scale(scores: Floats, normalisation: Normalisation) -> tuple[Floats, float]:
    """Return one or more scores of a ranking on a common scale, and the score of other passages.

    A passage that is not in the ranking gets the lowest score of the ranking. 0 could be a high
    score if scores can be negative.

    - `min-max`: the lowest score is 0, the highest 1; all are 1 if they are equal.
    - `z-score`: mean 0 and population standard deviation 1; all are 0 if they are equal.
    - `none`: unchanged.

    Raises:
        RagstoneError: a score is not a finite number.

    >>> on_scale(np.array([9.0, 6.0, 3.0]), "min-max")
    (array([1. , 0.5, 0. ]), 0.0)
    """
    if not np.isfinite(scores).all():
        raise RagstoneError("a retriever returned a score that is not finite; rrf uses ranks only")
    lowest, spread = scores.min(), np.ptp(scores)
    if normalisation == "min-max":
        return ((scores - lowest) / spread if spread else np.ones(len(scores))), 0.0
    if normalisation == "z-score" and spread:
        scores = (scores - scores.mean()) / scores.std()
    elif normalisation == "z-score":
        scores = np.zeros(len(scores))
    return scores, float(scores.min())
