"""Agreement of two rankings of the same systems: tau-b, tau-AP, Spearman, rank-biased overlap.

All take arrays of scores of shape (..., systems), a ranking per row, the largest score first.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from ragstone.errors import ConfigError
from ragstone.statistics.bootstrap import Floats
from ragstone.statistics.rank_stability import ranks_of

PERSISTENCE: Final = 0.9
"""The usual probability that a reader goes on to the next rank (Webber et al. 2010)."""


def kendall_tau(a: Floats, b: Floats) -> Floats:
    """Return Kendall's tau-b of each row; NaN if all scores of a row are equal.

    Kendall, "The treatment of ties in ranking problems", Biometrika 33 (1945).

    >>> float(kendall_tau(np.array([3.0, 2.0, 1.0]), np.array([3.0, 1.0, 2.0])).round(3))
    0.333
    """
    # Each pair counts twice, in all sums alike.
    first, second = _gaps(a), _gaps(b)
    untied = (first**2).sum(axis=(-1, -2)) * (second**2).sum(axis=(-1, -2))
    agreed = (first * second).sum(axis=(-1, -2))
    found: Floats = np.where(untied > 0, agreed / np.sqrt(np.maximum(untied, 1)), np.nan)
    return found


def tau_ap(a: Floats, reference: Floats) -> Floats:
    """Return tau-AP of each row, which counts mistakes at the top of the ranking `a` more.

    Yilmaz, Aslam and Robertson, "A new rank correlation coefficient for information retrieval",
    SIGIR 2008: 2 / (N - 1) times the sum over the ranks i = 2..N of C(i) / (i - 1), minus 1. C(i)
    is the number of systems above rank i in `a` that `reference` has above the system at rank i,
    too. The value is not symmetric: the ranks are those of `a`.

    Ties are broken at random: the value is the mean over all orders of systems with equal scores,
    on both sides, each order equally likely. It is computed, not sampled. If one side has only
    equal scores, the value is 0; NaN with fewer than two systems.

    >>> tau_ap(np.array([[3.0, 2.0, 1.0], [1.0, 3.0, 2.0]]), np.array([3.0, 2.0, 1.0])).tolist()
    [1.0, 0.0]
    """
    size = a.shape[-1]
    if size < 2:  # noqa: PLR2004 - one system has no order
        return np.full(a.shape[:-1], np.nan)
    # gaps[..., i, j] is 1 if j is better than i.
    gaps = _gaps(a)
    right = (1 + _gaps(reference)) / 2
    above = (gaps > 0).sum(axis=-1)
    tied = (gaps == 0).sum(axis=-1)
    concordant = ((gaps > 0) * right).sum(axis=-1)
    sums = np.concatenate(([0.0], np.cumsum(1 / np.arange(1, size + 1))))
    # The sum of 1 / (i - 1) over the ranks i that a system among `tied` equal ones can have.
    shares = sums[above + tied - 1] - sums[np.maximum(above - 1, 0)]
    # Equal systems that happen to be above are there in the right order half of the time.
    within = np.where(above > 0, tied - above * shares, tied - 1) / 2
    terms = (concordant * shares + within) / tied
    found: Floats = 2 * terms.sum(axis=-1) / (size - 1) - 1
    return np.asarray(np.round(found, 12))


def rank_correlation(a: Floats, b: Floats) -> Floats:
    """Return Spearman's correlation of each row; NaN if all scores of a row are equal.

    Equal scores share their middle rank.

    >>> float(rank_correlation(np.array([3.0, 2.0, 1.0]), np.array([3.0, 1.0, 2.0])))
    0.5
    """
    first, second = _gaps(a).sum(axis=-1), _gaps(b).sum(axis=-1)
    spread = np.sqrt((first**2).sum(axis=-1) * (second**2).sum(axis=-1))
    product = (first * second).sum(axis=-1)
    found: Floats = np.where(spread > 0, product / np.where(spread > 0, spread, 1.0), np.nan)
    return found


def _gaps(scores: Floats) -> Floats:
    """Return the sign of each score minus each other one: [..., i, j] is 1 if j is better."""
    # Sums of the same numbers in another order differ in the last bits; that is a tie.
    rounded = np.round(scores, 9)
    return np.sign(rounded[..., None, :] - rounded[..., :, None])


def rank_biased_overlap(a: Floats, b: Floats, persistence: float = PERSISTENCE) -> Floats:
    """Return the extrapolated rank-biased overlap (RBO) of each row: 1 for equal rankings.

    Webber, Moffat and Zobel, "A similarity measure for indefinite rankings", ACM TOIS 28 (2010).
    With ties, the overlap at depth d is that of the systems of rank d or better, over the mean
    number of them. The less `persistence` is, the more the first ranks count.

    Raises:
        ConfigError: `persistence` is not between 0 and 1.

    >>> round(float(rank_biased_overlap(np.array([2.0, 1.0]), np.array([1.0, 2.0]))), 3)
    0.9
    """
    if not 0 < persistence < 1:
        raise ConfigError(f"persistence {persistence} is not between 0 and 1; usual is 0.9")
    size = a.shape[-1]
    depths = np.arange(1, size + 1)
    first = ranks_of(a)[..., None] <= depths
    second = ranks_of(b)[..., None] <= depths
    shared = (first & second).sum(axis=-2)
    overlap = 2 * shared / np.maximum(1, first.sum(axis=-2) + second.sum(axis=-2))
    weights = (1 - persistence) / persistence * persistence**depths
    found = overlap[..., -1] * persistence**size + (overlap * weights).sum(axis=-1)
    # The weights sum to 1 up to rounding.
    return np.asarray(np.round(found, 12))
