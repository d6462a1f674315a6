"""Calibration: whether the confidence that a system states is the probability that it is right.

The expected calibration error (ECE; Naeini, Cooper and Hauskrecht, AAAI 2015) is the mean gap
between confidence and accuracy over bins of answers. The bins have equal mass: each has the same
number of answers (Nguyen and O'Connor, EMNLP 2015), except that equal confidences share a bin.
Brier's score (Monthly Weather Review 78, 1950) is the mean squared gap of single answers.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ragstone.errors import DatasetError
from ragstone.statistics.bootstrap import Floats
from ragstone.statistics.resampling import Bootstrap
from ragstone.statistics.summary import Numbers, Summary, cluster_numbers, summarise

BINS: Final = 10
"""Maximum number of bins."""
BIN_ANSWERS: Final = 10
"""Answers per bin: with fewer answers there are fewer bins, because the error of tiny bins is
mostly chance."""
_LEAST_CLUSTERS: Final = 2


@dataclass(frozen=True, slots=True)
class ConfidenceBin:
    """Answers with neighbouring confidences."""

    low: float
    """The lowest confidence."""
    high: float
    confidence: float
    """The mean confidence."""
    accuracy: Summary


@dataclass(frozen=True, slots=True)
class Calibration:
    """How far stated confidences are from the shares of right answers: 0 is the best error."""

    n: int
    error: float | None
    """Expected calibration error, from 0 to 1; None without an answer."""
    interval: tuple[float, float] | None
    """Its 95 % interval; None with fewer than two clusters."""
    by_chance: float | None
    """The mean error of as many answers whose confidences are exactly right."""
    brier: Summary
    confidence: Summary
    """The mean confidence."""
    accuracy: Summary
    bins: tuple[ConfidenceBin, ...]
    """Bins of equal mass, in order of confidence."""


def calibration(
    confidences: Sequence[float],
    values: Sequence[float],
    *,
    clusters: Sequence[Hashable] | None = None,
    resamples: int = 2_000,
    seed: int = 0,
) -> Calibration:
    """Return the calibration of some answers.

    The interval of the error contains the percentile and the basic bootstrap interval, which draw
    clusters: a resample adds chance to the error, which the first adds twice and the second
    removes. The bins stay as they are. It begins at 0 if confidences that are exactly right could
    have this error by chance.

    Args:
        confidences: per answer its stated probability of being right, from 0 to 1.
        values: per answer 1 if it is right and 0 if it is wrong, or a grade between.
        clusters: one name per answer, such as its conversation.
        resamples: number of resamples.
        seed: seed of the resamples.

    Raises:
        DatasetError: a number is not between 0 and 1, or the lengths differ.

    >>> found = calibration([0.9, 0.9, 0.6, 0.6], [1, 1, 1, 0])
    >>> round(found.error, 3), round(found.brier.mean, 3), len(found.bins)
    (0.0, 0.135, 1)
    """
    stated, right = _checked(confidences, values)
    places = _equal_mass(stated)
    gaps = right - stated
    members = cluster_numbers(range(len(stated)) if clusters is None else clusters)
    kinds = [np.flatnonzero(places == place) for place in np.unique(places)]
    chance = _by_chance(stated, kinds, resamples, seed)
    return Calibration(
        n=len(stated),
        error=_error(gaps, kinds) if kinds else None,
        interval=_interval(gaps, kinds, members, chance, Bootstrap(resamples=resamples, seed=seed)),
        by_chance=float(chance.mean()) if kinds else None,
        brier=summarise((gaps**2).tolist(), clusters=clusters),
        confidence=summarise(stated.tolist(), clusters=clusters),
        accuracy=summarise(right.tolist(), clusters=clusters),
        bins=tuple(_bin(stated, right, chosen, clusters) for chosen in kinds),
    )


def _checked(confidences: Sequence[float], values: Sequence[float]) -> tuple[Floats, Floats]:
    if len(confidences) != len(values):
        raise DatasetError(
            f"{len(confidences)} confidences, but {len(values)} values; give one per answer"
        )
    for what, numbers in (("confidence", confidences), ("value", values)):
        for place, number in enumerate(numbers):
            if not 0 <= number <= 1:
                raise DatasetError(f"place {place}: the {what} {number} is not between 0 and 1")
    return np.array(confidences, dtype=float), np.array(values, dtype=float)


def _equal_mass(stated: Floats) -> Numbers:
    """Return the bin of each answer; the middle of equal confidences decides theirs."""
    n = len(stated)
    bins = min(BINS, max(1, n // BIN_ANSWERS))
    _, level, counts = np.unique(stated, return_inverse=True, return_counts=True)
    middles = np.cumsum(counts) - counts / 2
    found: Numbers = np.floor(bins * middles / max(n, 1)).astype(np.int64)[level]
    return found


def _error(gaps: Floats, kinds: Sequence[Numbers]) -> float:
    return math.fsum(abs(math.fsum(gaps[chosen])) for chosen in kinds) / len(gaps)


def _interval(
    gaps: Floats, kinds: Sequence[Numbers], members: Numbers, chance: Floats, bootstrap: Bootstrap
) -> tuple[float, float] | None:
    """Return the interval of the error, within 0 and 1."""
    count = int(members.max()) + 1 if len(members) else 0
    if count < _LEAST_CLUSTERS:
        return None
    parts = [np.bincount(members[c], weights=gaps[c], minlength=count) for c in kinds]
    sums = bootstrap.sums(np.column_stack([*parts, np.bincount(members, minlength=count)]))
    drawn = bootstrap.interval(np.abs(sums[:, :-1]).sum(axis=1) / sums[:, -1])
    if drawn is None:
        return None
    error = _error(gaps, kinds)
    ends = [*drawn, *(2 * error - end for end in drawn)]
    is_chance = error <= np.quantile(chance, (1 + bootstrap.confidence) / 2)
    return 0.0 if is_chance else max(min(ends), 0.0), min(max(ends), 1.0)


def _by_chance(stated: Floats, kinds: Sequence[Numbers], draws: int, seed: int) -> Floats:
    """Return errors of drawn answers that are right with their stated probability."""
    generator = np.random.default_rng(seed)
    total = np.zeros(draws)
    for chosen in kinds:
        variance = stated[chosen] @ (1 - stated[chosen])
        # The sum of many draws is almost normal; its mean is 0.
        total += np.abs(generator.standard_normal(draws)) * math.sqrt(variance)
    return total / max(len(stated), 1)


def _bin(
    stated: Floats, right: Floats, chosen: Numbers, clusters: Sequence[Hashable] | None
) -> ConfidenceBin:
    own = None if clusters is None else [clusters[place] for place in chosen]
    held = stated[chosen]
    accuracy = summarise(right[chosen].tolist(), clusters=own)
    return ConfidenceBin(float(held.min()), float(held.max()), float(held.mean()), accuracy)
