"""Means of the cells of a crossed design, with their sampling errors, for linear contrasts."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

import numpy as np

from ragstone.statistics.bootstrap import Floats
from ragstone.statistics.crossed_design import CrossedDesign, QueryStratum, sums_by
from ragstone.statistics.proportions import t_quantile
from ragstone.statistics.query_variance import QueryVariance
from ragstone.statistics.resampling import Bootstrap

Interval = tuple[float, float]
_NORMAL: Final = NormalDist()
_SURE: Final = 1 - 1e-9
_RATIO_BOUND: Final = 1e3
"""Maximum ratio of two mean squares: resamples of very few clusters may have no variance."""
_TINY: Final = float(np.finfo(float).tiny)


@dataclass(frozen=True, slots=True)
class CellMeans:
    """Estimated means per data set and cell; data sets are independent."""

    means: Floats
    """Shape (data sets, cells)."""
    covariances: Floats
    """Covariances of the sampling errors, shape (data sets, cells, cells)."""
    freedom: tuple[int, ...]
    """Clusters less 1, by data set."""
    drawn: Floats | None
    """Means of resamples, shape (resamples, data sets, cells).

    None if some data set has a single cluster.
    """

    def noise(self, contrasts: Floats) -> Floats:
        """Return by data set the expected squared length of the error of contrasts."""
        products = contrasts @ self.covariances * contrasts
        found: Floats = products.sum(axis=(1, 2))
        return found

    def simultaneous(
        self, weights: Floats, confidence: float
    ) -> tuple[Floats, list[Interval | None]]:
        """Return sums of weighted means, and intervals that hold together.

        `weights` has shape (sums, data sets, cells). Every interval is as many standard errors wide
        as the largest of the resampled deviations.
        """
        values: Floats = np.einsum("fdc,dc->f", weights, self.means)
        if self.drawn is None:
            return values, [None] * len(values)
        errors = np.einsum("fdc,bdc->bf", weights, self.drawn, optimize=True) - values
        variances = np.einsum("fdc,dce,fde->df", weights, self.covariances, weights, optimize=True)
        variances = np.maximum(variances, 0.0)
        variance = variances.sum(axis=0)
        error = np.sqrt(variance)
        ratios = np.abs(errors) / np.where(error > 0, error, np.inf)
        level = min(_NORMAL.cdf(float(np.quantile(ratios.max(axis=1), confidence))), _SURE)
        # Degrees of freedom of a sum of variances (Satterthwaite 1946).
        below = (variances**2 / np.array(self.freedom)[:, None]).sum(axis=0)
        degrees = np.where(below > 0, variance**2 / np.where(below > 0, below, 1.0), np.inf)
        wide = [t_quantile(level, max(1.0, df)) for df in degrees.tolist()]
        return values, [
            (float(value - times * one), float(value + times * one))
            for value, one, times in zip(values, error, wide, strict=True)
        ]


def resampled_means(
    design: CrossedDesign, queries: QueryVariance, bootstrap: Bootstrap
) -> tuple[CellMeans, Floats | None]:
    """Return the means of complete queries, and draws of the components of variance by query."""
    means = np.array([stratum.scores.mean(axis=0) for stratum in design.strata])
    covariances = np.array([_covariance(stratum) for stratum in design.strata])
    freedom = tuple(size - 1 for size in design.clusters)
    if min(freedom) < 1:
        return CellMeans(means, covariances, freedom, None), None
    drawn, squares = [], []
    for place, (stratum, size) in enumerate(zip(design.strata, design.clusters, strict=True)):
        centred = stratum.scores - means[place]
        parts = np.column_stack([centred, queries.parts(centred, stratum), np.ones(len(centred))])
        seeded = Bootstrap(bootstrap.confidence, bootstrap.resamples, bootstrap.seed + place)
        sums = seeded.sums(sums_by(parts, stratum.clusters))
        shift = sums[:, : centred.shape[1]] / sums[:, -1:]
        # Without the factor, the resampled means vary less than the means do.
        drawn.append(means[place] + shift * np.sqrt(size / (size - 1)))
        # Where all values are equal, rounding can make a mean square negative.
        now = np.maximum(queries.of_stratum(stratum), 0.0)
        resampled = queries.mean_squares(sums[:, centred.shape[1] :], shift, size)
        # A reflected ratio is a draw of the true mean square, as in a generalised interval.
        least = now / _RATIO_BOUND + _TINY
        squares.append(now * (now / np.maximum(resampled, least)))
    components = queries.solve(np.mean(squares, axis=0), design.repeats)
    return CellMeans(means, covariances, freedom, np.stack(drawn, axis=1)), components


def _covariance(stratum: QueryStratum) -> Floats:
    """Return the covariance of the means of the cells, from whole clusters."""
    sums = sums_by(stratum.scores - stratum.scores.mean(axis=0), stratum.clusters)
    size = len(sums)
    scale = size / max(1, size - 1) / len(stratum.scores) ** 2
    found: Floats = sums.T @ sums * scale
    return found


def error_free_lengths(vector: Floats, drawn: Floats) -> Floats:
    """Return draws of the length of the true vector, one per resample of an estimated one.

    Errors make a vector longer on average. A draw is the length t under which t times the vector's
    direction, plus the resampled error, is as long as the estimate.
    """
    squared = float(vector @ vector)
    errors = drawn - vector
    direction = vector / np.sqrt(squared) if squared else np.zeros(len(vector))
    along = errors @ direction
    across = (errors**2).sum(axis=1) - along**2
    found: Floats = np.maximum(0.0, np.sqrt(np.maximum(0.0, squared - across)) - along)
    return found
