"""Sample sizes by simulation: how many queries a paired test needs to show a difference.

A comparison of n queries is drawn from a population of differences: those of a pilot, or those that
assumptions give. The population's weights are tilted exponentially to a mean of the difference that
is asked for; no other population with this mean is nearer to the pilot in relative entropy. Each
drawn comparison is tested as `ragstone.statistics.paired.paired_difference` tests it: 0/1 values
without clusters by the score test, others by flipping the signs of whole clusters. The power is the
share of significant comparisons.

A drawn comparison is a row of counts of the population's clusters, so that its cost does not depend
on n.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Final

import numpy as np

from ragstone.core import limits
from ragstone.errors import ConfigError
from ragstone.statistics.bootstrap import Floats
from ragstone.statistics.paired import POWER
from ragstone.statistics.permutation import sign_flip_rows
from ragstone.statistics.summary import cluster_sums

DRAWS: Final = 4000
"""Simulated comparisons per number of queries: the standard error of a power of 80 % is 0.6 %."""
_CLUSTERS: Final = 2000
"""Clusters of a population that assumptions give."""
_BISECTIONS: Final = 60
_NORMAL: Final = NormalDist()


@dataclass(frozen=True, slots=True)
class Gaps:
    """The differences of two systems from which comparisons are drawn, one value per cluster."""

    sums: Floats
    """Sum of the differences of a cluster's queries."""
    sizes: Floats
    """Number of its queries."""
    weights: Floats
    """Probability of drawing it."""
    labels: bool
    """Whether the score test of 0/1 values applies: each cluster is one query."""

    @property
    def difference(self) -> float:
        """The mean difference of a query."""
        return float(self.weights @ self.sums) / self.size

    @property
    def size(self) -> float:
        """The mean number of queries per cluster."""
        return float(self.weights @ self.sizes)

    @property
    def spread(self) -> float:
        """Standard error of the mean difference of a single drawn cluster."""
        residuals = self.sums - self.difference * self.sizes
        return math.sqrt(float(self.weights @ residuals**2)) / self.size

    def sampling_error(self, n: int) -> float:
        """Return the relative standard error of a sample size from a pilot of n clusters."""
        residuals = self.sums - self.difference * self.sizes
        variance = float(self.weights @ residuals**2)
        if not variance:
            return math.inf
        kurtosis = float(self.weights @ residuals**4) / variance**2
        return math.sqrt(max(kurtosis - 1, 0.0) / n)

    def tilted(self, difference: float) -> Gaps:
        """Return the nearest population in which the mean difference of a query is `difference`.

        Its sign is that of this population's own difference.

        Raises:
            ConfigError: no cluster differs by that much.
        """
        aim = math.copysign(difference, self.difference or 1.0)
        gaps = self.sums - aim * self.sizes
        largest = float(np.abs(gaps).max())
        if not gaps.min() < 0 < gaps.max():
            most = float(np.abs(self.sums / self.sizes).max())
            raise ConfigError(
                f"a mean difference of {difference:g} cannot be planned from these scores: no "
                f"difference in this direction is larger than {most:.3g}; give a smaller "
                "--difference, or a pilot of systems that differ more"
            )
        low, high = -1.0, 1.0
        while self._mean_of(gaps / largest, low) > 0:
            low *= 2
        while self._mean_of(gaps / largest, high) < 0:
            high *= 2
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2
            below = self._mean_of(gaps / largest, middle) < 0
            low, high = (middle, high) if below else (low, middle)
        return replace(self, weights=self._weights(gaps / largest, (low + high) / 2))

    def _weights(self, gaps: Floats, tilt: float) -> Floats:
        powers = tilt * gaps
        found = self.weights * np.exp(powers - powers.max())
        normalised: Floats = found / found.sum()
        return normalised

    def _mean_of(self, gaps: Floats, tilt: float) -> float:
        return float(self._weights(gaps, tilt) @ gaps)


def population(a: Floats, b: Floats, clusters: Sequence[Hashable] | None = None) -> Gaps:
    """Return the differences of two systems' values of the same queries.

    >>> found = population(np.array([0.0, 1, 1, 0]), np.array([1.0, 1, 1, 0]))
    >>> found.difference, found.labels, found.weights.tolist()
    (0.25, True, [0.75, 0.25])
    """
    sums, sizes = cluster_sums(b - a, clusters)
    both = np.concatenate((a, b))
    binary = bool(((both == 0) | (both == 1)).all())
    return _of_clusters(sums, sizes, labels=binary and len(sums) == len(a))


def assumed_population(
    values: Floats,
    correlation: float,
    sizes: Sequence[int] = (),
    within: float = 0.0,
    seed: int = 0,
) -> Gaps:
    """Return the differences of two systems whose values have the same distribution.

    Args:
        values: the values that a system's queries have, all equally likely.
        correlation: of the two systems' values of a query, from 0 to below 1.
        sizes: numbers of queries of the clusters; empty if each query is a cluster.
        within: correlation of the differences of two queries of a cluster.
        seed: seed of the drawn clusters.

    >>> found = assumed_population(np.array([0.0, 1.0]), 0.5)
    >>> found.sums.tolist(), found.weights.tolist()
    ([-1.0, 0.0, 1.0], [0.125, 0.75, 0.125])
    """
    if not 0 <= correlation < 1:
        raise ConfigError(
            f"correlation {correlation} is not between 0 and 1; two systems on the same queries "
            "usually have 0.3 to 0.8"
        )
    given, counts = np.unique(values, return_counts=True)
    shares = counts / counts.sum()
    gaps, places = np.unique(given[None, :] - given[:, None], return_inverse=True)
    joint = np.bincount(places.ravel(), np.outer(shares, shares).ravel())
    chances = joint.astype(np.float64) * (1 - correlation)
    chances[gaps == 0] += correlation
    if max(sizes, default=1) == 1:
        binary = set(given.tolist()) <= {0.0, 1.0}
        return Gaps(gaps, np.ones(len(gaps)), chances, labels=binary)
    generator = np.random.default_rng(seed)
    drawn = generator.choice(np.asarray(sizes), _CLUSTERS)
    rows = np.repeat(np.arange(_CLUSTERS), drawn)
    own = generator.choice(gaps, len(rows), p=chances)
    common = generator.choice(gaps, _CLUSTERS, p=chances)[rows]
    # Two queries that both have the cluster's common difference do so with probability `within`.
    shared = generator.random(len(rows)) < math.sqrt(within)
    sums = np.bincount(rows, np.where(shared, common, own))
    return _of_clusters(sums.astype(np.float64), drawn.astype(np.float64), labels=False)


def intraclass_correlation(values: Floats, clusters: Sequence[Hashable]) -> float:
    """Return the correlation of two values of a cluster, from 0 on, by analysis of variance.

    >>> intraclass_correlation(np.array([0.0, 0, 1, 1]), ["a", "a", "b", "b"])
    1.0
    """
    sums, sizes = cluster_sums(values, clusters)
    n, k = len(values), len(sums)
    if k < 2 or k == n or not np.ptp(values):  # noqa: PLR2004 - one cluster shows no spread
        return 0.0
    between = float((sizes * (sums / sizes - values.mean()) ** 2).sum())
    inside = (float(((values - values.mean()) ** 2).sum()) - between) / (n - k)
    between /= k - 1
    size = (n - float((sizes**2).sum()) / n) / (k - 1)
    return min(1.0, max(0.0, (between - inside) / (between + (size - 1) * inside)))


def _of_clusters(sums: Floats, sizes: Floats, *, labels: bool) -> Gaps:
    """Return the population in which all given clusters are equally likely."""
    found, counts = np.unique(np.stack((sums, sizes)), axis=1, return_counts=True)
    return Gaps(found[0], found[1], counts / counts.sum(), labels=labels)


@dataclass(frozen=True, slots=True)
class SampleSize:
    """The number of queries at which a test finds a difference with the power asked for."""

    queries: int
    clusters: int
    """Equal to `queries` if each query is a cluster."""
    power: float
    """The simulated share of comparisons that find the difference."""
    error: float
    """Standard error of `power` because the number of simulated comparisons is finite."""


def simulated_power(
    drawn_from: Gaps, clusters: int, alpha: float, *, draws: int = DRAWS, seed: int = 0
) -> float:
    """Return the share of comparisons of `clusters` drawn clusters that find a difference.

    A finding has p below `alpha` and the sign of the population's difference.

    >>> assumed = assumed_population(np.array([0.0, 1.0]), 0.5).tilted(0.2)
    >>> round(simulated_power(assumed, 50, 0.05), 2)
    0.76
    """
    generator = np.random.default_rng(seed)
    counts = generator.multinomial(clusters, drawn_from.weights, draws)
    totals = counts @ drawn_from.sums
    right = totals * (drawn_from.difference or 1.0) > 0
    if drawn_from.labels:
        differing = counts[:, drawn_from.sums != 0].sum(axis=1)
        z = _NORMAL.inv_cdf(1 - alpha / 2)
        significant = np.abs(totals) > z * np.sqrt(differing)
    else:
        significant = sign_flip_rows(drawn_from.sums, counts) < alpha
    return float((right & significant).mean())


def sample_size(
    pilot: Gaps,
    difference: float,
    *,
    power: float = POWER,
    alpha: float = 0.05,
    draws: int = DRAWS,
    seed: int = 0,
) -> SampleSize | None:
    """Return the least number of queries that shows a mean difference with some power.

    None if more than a billion queries would be needed.

    Args:
        pilot: differences like those of the planned comparison.
        difference: the mean difference that should be found, above 0.
        power: the probability of finding it.
        alpha: the level of the test.
        draws: number of simulated comparisons.
        seed: seed of the simulation.

    >>> found = sample_size(assumed_population(np.array([0.0, 1.0]), 0.5), 0.1)
    >>> found.queries, round(found.power, 3)
    (200, 0.801)
    """
    _check(difference, power)
    planned = pilot.tilted(difference)

    def reached(clusters: int) -> float:
        return simulated_power(planned, clusters, alpha, draws=draws, seed=seed)

    z = _NORMAL.inv_cdf(1 - alpha / 2) + _NORMAL.inv_cdf(power)
    guess = max(2, math.ceil((z * planned.spread / difference) ** 2))
    if guess * planned.size > limits.MAX_PLANNED_QUERIES:
        return None
    low, high = guess, guess
    while low > 1 and reached(low) >= power:
        low, high = low // 2, low
    while reached(high) < power:
        low, high = high, 2 * high
    while high - low > max(1, high // 200):
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) >= power else (middle, high)
    found = reached(high)
    error = math.sqrt(found * (1 - found) / draws)
    return SampleSize(math.ceil(high * planned.size), high, found, error)


def detectable_difference(
    pilot: Gaps,
    clusters: int,
    *,
    power: float = POWER,
    alpha: float = 0.05,
    draws: int = DRAWS,
    seed: int = 0,
) -> float | None:
    """Return the least mean difference that n clusters show with some power.

    None if they do not show the largest possible one.

    Args:
        pilot: differences like those of the comparison.
        clusters: number of clusters; of queries if each is a cluster.
        power: the probability of finding the difference.
        alpha: the level of the test.
        draws: number of simulated comparisons.
        seed: seed of the simulation.

    >>> round(detectable_difference(assumed_population(np.array([0.0, 1.0]), 0.5), 200), 2)
    0.1
    """
    _check(0.05, power)
    sign = math.copysign(1.0, pilot.difference or 1.0)
    most = float((sign * pilot.sums / pilot.sizes).max())

    def reached(difference: float) -> bool:
        planned = pilot.tilted(difference)
        return simulated_power(planned, clusters, alpha, draws=draws, seed=seed) >= power

    return _least(reached, most) if most > 0 and reached(0.999 * most) else None


def _least(reached: Callable[[float], bool], most: float) -> float:
    """Return the least difference that is reached, to a hundredth of itself."""
    low, high = 0.0, 0.999 * most
    while high - low > 0.01 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high


def _check(difference: float, power: float) -> None:
    if not 0 < difference < math.inf:
        raise ConfigError(f"a difference of {difference:g} cannot be planned; give one above 0")
    if not 0 < power < 1:
        raise ConfigError(f"power {power} is not between 0 and 1; usual is 0.8")
