"""Which queries people should label next, so that differences of systems are known best.

The variance of a corrected difference is the sum of residual variances over inclusion
probabilities: it is smallest if the probability is proportional to the residual's standard
deviation (Neyman 1934; Zrnic and Candes, "Active statistical inference", ICML 2024). Residuals are
large if the judge's values of the systems differ, and if a value is unusual. A part of the
probability is the same for all queries, so that no weight is large if the guess was wrong.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from ragstone.errors import ConfigError
from ragstone.statistics.bootstrap import Floats
from ragstone.statistics.summary import Numbers

_EQUAL_PART: Final = 0.4
"""Share of the labels that is drawn with equal probabilities."""
_BINS: Final = 3
_TINY: Final = 1e-300
_ROUNDING: Final = 1e-12
_PRIOR: Final = 5
"""Number of labels that the guess of a residual counts for."""


def expected_residuals(judge: Floats, human: Floats, baseline: int) -> Floats:
    """Return the expected residual of each query, relative to the mean over the queries.

    Args:
        judge: (query, system) values of the judge.
        human: (query, system) values of people; NaN without a label.
        baseline: the column that the other systems are compared with.

    >>> judge = np.array([[1.0, 1.0], [1.0, 1.0], [1.0, 1.0], [0.0, 1.0]])
    >>> expected_residuals(judge, np.full((4, 2), np.nan), 0).round(2).tolist()
    [0.67, 0.67, 0.67, 2.0]
    """
    gaps = judge - judge[:, [baseline]]
    features = [np.abs(gaps).sum(axis=1), np.abs(judge - np.median(judge)).sum(axis=1)]
    guess = np.ones(len(judge))
    for one in features:
        guess += one / max(float(one.mean()), _TINY)
    guess /= guess.mean()
    known: NDArray[np.bool_] = ~np.isnan(human.sum(axis=1))
    if known.sum() > _BINS * _PRIOR:
        guess = guess * _corrections(guess, gaps, human - human[:, [baseline]], known)
    found: Floats = np.sqrt(guess)
    found /= found.mean()
    return found


def _corrections(guess: Floats, gaps: Floats, labels: Floats, known: NDArray[np.bool_]) -> Floats:
    """Return the factor of the squared residuals per third of the guess, from known labels."""
    squares = np.zeros(len(guess))
    for column in range(gaps.shape[1]):
        f, y = gaps[known, column], labels[known, column]
        f, y = f - f.mean(), y - y.mean()
        slope = max(float(f @ y) / float(f @ f), 0.0) if f.any() else 0.0
        squares[known] += (y - slope * f) ** 2
    mean = float(squares[known].mean())
    if mean <= 0:
        return np.ones(len(guess))
    bins = np.searchsorted(np.quantile(guess, np.arange(1, _BINS) / _BINS), guess)
    factors = [
        (float((squares / mean)[known & (bins == b)].sum()) + _PRIOR)
        / (float(guess[known & (bins == b)].sum()) + _PRIOR)
        for b in range(_BINS)
    ]
    found: Floats = np.array(factors, dtype=np.float64)[bins]
    return found


def inclusion_probabilities(sizes: Floats, n: int) -> Floats:
    """Return probabilities that sum to n: in part equal, in part proportional to the sizes.

    Raises `ConfigError` if n is less than 1, or more than the number of sizes.

    >>> inclusion_probabilities(np.array([1.0, 1.0, 2.0]), 1).round(3).tolist()
    [0.283, 0.283, 0.433]
    """
    if not 1 <= n <= len(sizes):
        raise ConfigError(f"{n} of {len(sizes)} queries cannot be drawn")
    mixed = _EQUAL_PART + (1 - _EQUAL_PART) * sizes / sizes.mean()
    certain = np.zeros(len(sizes), dtype=np.bool_)
    while True:
        left = n - int(certain.sum())
        found = np.where(certain, 1.0, mixed * left / max(float(mixed[~certain].sum()), _TINY))
        new = ~certain & (found > 1 - _ROUNDING)
        if not new.any():
            return found
        certain |= new


def drawn(probabilities: Floats, seed: int) -> Numbers:
    """Return the places of a sample with these probabilities, which sum to a whole number.

    Systematic sampling of a random order (Madow 1949): the sample has a fixed size.

    >>> drawn(np.full(6, 0.5), 1).tolist()
    [2, 4, 5]
    """
    generator = np.random.default_rng(seed)
    order = generator.permutation(len(probabilities))
    ends = np.cumsum(probabilities[order])
    marks = generator.random() + np.arange(round(float(ends[-1])))
    return np.sort(order[np.searchsorted(ends, marks, side="right").clip(max=len(order) - 1)])
