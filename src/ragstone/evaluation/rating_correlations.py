"""Correlation of stored metrics with people's ratings, weighted against unbalanced ratings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ragstone.core import limits
from ragstone.data.readers.rated_set import RatedSet
from ragstone.errors import ConfigError, did_you_mean
from ragstone.evaluation.human_grades import Combined, human_set
from ragstone.statistics.metric_correlations import correlations, inverse_frequency
from ragstone.statistics.resampling import Coefficient


@dataclass(frozen=True, slots=True)
class RatingCorrelation:
    """Spearman's correlation of one metric with the ratings of one property."""

    metric: str
    property: str
    plain: Coefficient
    weighted: Coefficient
    """The correlation with weights that make all values count the same."""


def rating_correlations(
    rated: RatedSet, *, combine: Combined = "median", balance: str = "", seed: int = 0
) -> list[RatingCorrelation]:
    """Return the correlations of all stored metrics with all properties of numbers or pairs.

    Args:
        rated: ratings with stored metrics.
        combine: how the values of several raters for an answer become one.
        balance: the metric whose values count the same in the weighted correlation; by default the
            values of the ratings do. mtRAG's Table 7 is weighted; its rule is not released.
        seed: seed of the resampled intervals.

    Raises:
        ConfigError: there is no metric `balance`.
    """
    if balance and balance not in rated.metrics:
        raise ConfigError(f"--balance: no metric {balance!r}{did_you_mean(balance, rated.metrics)}")
    found: list[RatingCorrelation] = []
    for name in rated.properties:
        texts = any(isinstance(o.value, str) for o in rated.ratings if o.property == name)
        if rated.metrics and not (texts and name not in rated.scales):
            found += _of_property(rated, name, combine, balance, seed)
    return found


def _of_property(
    rated: RatedSet, name: str, combine: Combined, balance: str, seed: int
) -> Iterator[RatingCorrelation]:
    graded = human_set(rated, name, combine=combine)
    people = [one.value for one in graded.items]
    basis = graded.values.get(balance, [None] * len(people)) if balance else people
    weights = inverse_frequency([None if v is None else round(v, 2) for v in basis])
    clusters = [one.cluster for one in graded.items]
    options: dict[str, Any] = {
        "clusters": clusters,
        "resamples": limits.BOARD_RESAMPLES,
        "seed": seed,
    }
    plain, weighted = (
        correlations(graded.values, {name: people}, weights=given, **options)
        for given in (None, weights)
    )
    for one, other in zip(plain, weighted, strict=True):
        yield RatingCorrelation(one.metric, name, one.correlation, other.correlation)
