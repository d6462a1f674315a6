"""Calibration of a classifier's scores: a temperature, and the threshold between two labels.

Guo et al., "On Calibration of Modern Neural Networks", ICML 2017: the scores are divided by the
temperature that makes the labels of held-out items likeliest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from ragstone.models.text_classifier import probabilities

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragstone.models.text_classifier import Scores

    Truth: TypeAlias = npt.NDArray[np.bool_]

_TEMPERATURES: Final = np.geomspace(0.05, 20, 601)
_HALF: Final = 0.5
_TINY: Final = 1e-12


def fitted_temperature(scores: Scores, labels: Sequence[int]) -> float:
    """Return the temperature, from 0.05 to 20, with the lowest cross-entropy.

    >>> sure = np.array([[4.0, 0.0], [4.0, 0.0], [4.0, 0.0], [4.0, 0.0]])
    >>> fitted_temperature(sure, [0, 0, 0, 1]) > 3  # as sure as right in 3 of 4
    True
    """
    if not np.ptp(scores, axis=1).any():
        return 1.0
    rows = np.arange(len(labels))
    losses = [-_log(probabilities(scores, float(t))[rows, labels]) for t in _TEMPERATURES]
    return round(float(_TEMPERATURES[int(np.argmin(losses))]), 4)


def fitted_threshold(
    scores: Scores, labels: Sequence[int], positive: int, temperature: float
) -> float:
    """Return the probability from which on the positive label gives the highest kappa.

    Of equally good thresholds, it is the one nearest to one half.

    >>> scores = np.array([[0.0, -3.0], [0.0, -2.0], [0.0, -1.0], [0.0, -0.5]])
    >>> round(fitted_threshold(scores, [0, 0, 1, 1], 1, 1.0), 2)
    0.19
    """
    shares = probabilities(scores, temperature)[:, positive]
    truth = np.array(labels) == positive
    values = np.unique(shares)
    between = (values[1:] + values[:-1]) / 2
    best = min(
        [_HALF, *between.tolist()],
        key=lambda least: (-_kappa(truth, shares >= least), abs(least - _HALF)),
    )
    return round(float(best), 6)


def _log(shares: Scores) -> float:
    return float(np.log(np.maximum(shares, _TINY)).mean())


def _kappa(one: Truth, other: Truth) -> float:
    """Return Cohen's kappa of two columns of truth values, rounded so that ties are ties."""
    agreed = float((one == other).mean())
    first, second = float(one.mean()), float(other.mean())
    chance = first * second + (1 - first) * (1 - second)
    return 0.0 if chance == 1 else round((agreed - chance) / (1 - chance), 9)
