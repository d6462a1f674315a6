"""Agreement of raters: percentages, mtRAG's absolute and high agreement, kappas and alpha.

Every function takes the ratings item by item and returns a value with an interval, for which items
are resampled, or whole clusters if `clusters` has a name per item. Coefficients corrected for
chance are None if all ratings are equal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Final, Literal, TypeAlias, get_args

import numpy as np

from ragstone.errors import ConfigError, DatasetError
from ragstone.statistics.bootstrap import Floats
from ragstone.statistics.resampling import Bootstrap, Coefficient
from ragstone.statistics.summary import Summary, cluster_numbers, present, summarise

Rating: TypeAlias = str | float | None
Ratings: TypeAlias = Sequence[Sequence[Rating]]
"""One row per item, one rating per rater; None is a missing rating."""
Level: TypeAlias = Literal["nominal", "ordinal", "interval"]

_LEVELS: Final = get_args(Level)
_POWERS: Final = {"none": 0.0, "linear": 1.0, "quadratic": 2.0}


def percentage_agreement(
    ratings: Ratings, *, clusters: Sequence[Hashable] | None = None, confidence: float = 0.95
) -> Summary:
    """Return the mean over items of the share of pairs of raters with the same rating.

    >>> percentage_agreement([[1, 1], [1, 2], [2, 2, 1]]).mean
    0.4444444444444444
    """
    return _by_item(ratings, _agreeing_pairs, clusters, confidence)


def _agreeing_pairs(given: Sequence[Rating]) -> float:
    counts, n = Counter(given), len(given)
    return sum(count * (count - 1) for count in counts.values()) / (n * (n - 1))


def absolute_agreement(
    ratings: Ratings, *, clusters: Sequence[Hashable] | None = None, confidence: float = 0.95
) -> Summary:
    """Return the share of items whose ratings are all equal.

    >>> absolute_agreement([[1, 1], [1, 2], [2, 2, 2]]).mean
    0.6666666666666666
    """
    return _by_item(ratings, lambda given: float(len(set(given)) == 1), clusters, confidence)


def high_agreement(
    ratings: Ratings, *, clusters: Sequence[Hashable] | None = None, confidence: float = 0.95
) -> Summary:
    """Return the share of items with absolute or high agreement, as mtRAG reports it.

    High: more than half of the raters gave the same rating, and the others differ from it by one
    point (Katsis et al., "mtRAG", 2025, appendix E, with three raters).

    Raises:
        DatasetError: a rating is not a number.

    >>> high_agreement([[4, 4, 3], [4, 4, 2], [4, 3]]).mean
    0.3333333333333333
    """
    return _by_item(ratings, _is_high, clusters, confidence)


def _is_high(given: Sequence[Rating]) -> float:
    numbers = _numbers(given)
    rating, count = Counter(numbers.tolist()).most_common(1)[0]
    return float(2 * count > len(given) and np.abs(numbers - rating).max() <= 1)


def _by_item(
    ratings: Ratings,
    measure: Callable[[Sequence[Rating]], float],
    clusters: Sequence[Hashable] | None,
    confidence: float,
) -> Summary:
    rated, names = _rated(ratings, clusters)
    return summarise(
        [measure(given) for given in rated],
        clusters=names,
        confidence=confidence,
        not_applicable=len(ratings) - len(rated),
    )


def cohen_kappa(
    a: Sequence[Rating],
    b: Sequence[Rating],
    *,
    weights: Literal["none", "linear", "quadratic"] = "none",
    clusters: Sequence[Hashable] | None = None,
    confidence: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> Coefficient:
    """Return Cohen's kappa of two raters, plain (1960) or weighted by distance (1968).

    Distances assume evenly spaced categories in sorted order.

    Raises:
        DatasetError: unequal lengths, or a NaN or infinite rating.
        ConfigError: unknown weights.

    >>> cohen_kappa(["yes", "no", "yes", "no"], ["yes", "no", "no", "no"]).value
    0.5
    """
    if len(a) != len(b):
        raise DatasetError(f"two raters rate the same items: found {len(a)} and {len(b)} ratings")
    if weights not in _POWERS:
        raise ConfigError(f"unknown weights {weights!r}; allowed: {', '.join(_POWERS)}")
    rated, names = _rated(list(zip(a, b, strict=True)), clusters)
    parts, kappa = _pairs_of_labels(rated, _POWERS[weights])
    return _agreement(parts, names, kappa, len(a), Bootstrap(confidence, resamples, seed))


def weighted_kappa(a: Sequence[Rating], b: Sequence[Rating]) -> Callable[[Floats], Floats]:
    """Return the function from item weights, shape (rows, n), to Cohen's kappas.

    >>> weighted_kappa(["yes", "no", "yes", "no"], ["yes", "no", "no", "no"])(np.ones((1, 4)))
    array([0.5])
    """
    parts, kappa = _pairs_of_labels(list(zip(a, b, strict=True)), _POWERS["none"])
    return lambda w: kappa(w @ parts)


def _pairs_of_labels(
    rated: Sequence[Sequence[Rating]], power: float
) -> tuple[Floats, Callable[[Floats], Floats]]:
    """Return a one-hot row per pair, and the kappa of sums of such rows.

    Disagreements weigh as much as their distance to a power; all the same if it is 0.
    """
    categories = _categories(rated)
    size = len(categories)
    distance = np.abs(np.subtract.outer(np.arange(size), np.arange(size))).astype(np.float64)
    penalty = np.where(distance == 0, 0.0, distance**power)
    parts = np.zeros((len(rated), size, size))
    for row, (first, second) in zip(parts, rated, strict=True):
        row[categories[first], categories[second]] = 1.0

    def kappa(sums: Floats) -> Floats:
        tables = sums.reshape(-1, size, size)
        chance = tables.sum(axis=2)[:, :, None] * tables.sum(axis=1)[:, None, :]
        observed = (tables * penalty).sum(axis=(1, 2)) * tables.sum(axis=(1, 2))
        return _less_than_chance(observed, (chance * penalty).sum(axis=(1, 2)))

    return parts.reshape(len(rated), size * size), kappa


def fleiss_kappa(
    ratings: Ratings,
    *,
    clusters: Sequence[Hashable] | None = None,
    confidence: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> Coefficient:
    """Return Fleiss' kappa (1971) of items with equally many ratings.

    Raises:
        DatasetError: items differ in their number of ratings, or a rating is NaN or infinite.

    >>> fleiss_kappa([["a", "a", "a"], ["b", "b", "b"], ["a", "b", "b"]]).value
    0.55
    """
    rated, names = _rated(ratings, clusters)
    raters = {len(given) for given in rated}
    if len(raters) > 1:
        raise DatasetError(
            f"Fleiss' kappa needs equally many ratings of each item, found {sorted(raters)}; "
            "krippendorff_alpha takes any number"
        )
    counts = _counts(rated)
    m = max(raters, default=2)
    agreeing = (counts * (counts - 1)).sum(axis=1, keepdims=True) / (m * (m - 1))
    parts = np.column_stack([np.ones(len(rated)), agreeing, counts / m])

    def kappa(sums: Floats) -> Floats:
        items = sums[:, :1]
        chance = ((sums[:, 2:] / items) ** 2).sum(axis=1)
        return _less_than_chance(1 - sums[:, 1] / items[:, 0], 1 - chance)

    return _agreement(parts, names, kappa, len(ratings), Bootstrap(confidence, resamples, seed))


def krippendorff_alpha(
    ratings: Ratings,
    *,
    level: Level = "nominal",
    clusters: Sequence[Hashable] | None = None,
    confidence: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> Coefficient:
    """Return Krippendorff's alpha, for any number of raters and with missing ratings.

    Krippendorff, "Computing Krippendorff's alpha-reliability", 2011: 1 - observed / expected
    disagreement, both from the coincidences of ratings within items. The distance of two ratings
    is 0 or 1 (nominal), from the ranks between them (ordinal, the same in all resamples), or the
    squared difference (interval).

    Raises:
        ConfigError: unknown level.
        DatasetError: a rating is NaN or infinite, or a text at a level of numbers.

    >>> round(krippendorff_alpha([[1, 1], [2, 2], [3, 3], [3, 2]], level="interval").value, 3)
    0.821
    """
    if level not in _LEVELS:
        raise ConfigError(f"unknown level {level!r}; allowed: {', '.join(_LEVELS)}")
    rated, names = _rated(ratings, clusters)
    if level != "nominal":
        rated = [_numbers(given).tolist() for given in rated]
    counts = _counts(rated)
    size = counts.shape[1]
    within = counts[:, :, None] * counts[:, None, :] - np.eye(size) * counts[:, :, None]
    each = counts.sum(axis=1)
    parts = (within / np.maximum(each - 1, 1)[:, None, None]).reshape(len(rated), size * size)
    distance = _distances(list(_categories(rated)), counts.sum(axis=0), level)

    def alpha(sums: Floats) -> Floats:
        coincidences = sums.reshape(-1, size, size)
        totals = coincidences.sum(axis=2)
        n = totals.sum(axis=1)
        observed = (coincidences * distance).sum(axis=(1, 2)) * (n - 1)
        expected = np.einsum("si,ij,sj->s", totals, distance, totals)
        return _less_than_chance(observed, expected)

    return _agreement(parts, names, alpha, len(ratings), Bootstrap(confidence, resamples, seed))


def _distances(categories: Sequence[Rating], totals: Floats, level: Level) -> Floats:
    if level == "nominal":
        return 1.0 - np.eye(len(categories))
    places = _numbers(categories) if level == "interval" else np.cumsum(totals) - totals / 2
    return np.asarray(np.subtract.outer(places, places) ** 2)


def _agreement(
    parts: Floats,
    clusters: Sequence[Hashable] | None,
    coefficient: Callable[[Floats], Floats],
    given: int,
    bootstrap: Bootstrap,
) -> Coefficient:
    """Return a coefficient of the column sums of `parts`, shape (items, sums)."""
    n = len(parts)
    value = float(coefficient(parts.sum(axis=0, keepdims=True))[0]) if n else float("nan")
    if not np.isfinite(value):
        return Coefficient(None, n, given - n, None)
    members = np.arange(n) if clusters is None else cluster_numbers(clusters)
    columns = [np.bincount(members, column).astype(np.float64) for column in parts.T]
    grouped = np.column_stack(columns)
    several = len(grouped) > 1
    interval = bootstrap.interval(coefficient(bootstrap.sums(grouped))) if several else None
    return Coefficient(value, n, given - n, interval)


def _less_than_chance(observed: Floats, expected: Floats) -> Floats:
    """Return 1 - observed / expected disagreement; NaN if no disagreement is expected."""
    safe = np.where(expected > 0, expected, 1.0)
    return np.where(expected > 0, 1 - observed / safe, np.nan)


def _rated(
    ratings: Ratings, clusters: Sequence[Hashable] | None
) -> tuple[list[list[Rating]], list[Hashable] | None]:
    """Return the present ratings of the items with two or more, and the items' clusters."""
    if clusters is not None and len(clusters) != len(ratings):
        raise DatasetError(f"{len(ratings)} items, but {len(clusters)} clusters; give one per item")
    held: list[list[Rating]] = [[r for r in given if r is not None] for given in ratings]
    present([r for given in held for r in given if isinstance(r, int | float)], "ratings")
    kept = [place for place, given in enumerate(held) if len(given) > 1]
    names = None if clusters is None else [clusters[place] for place in kept]
    return [held[place] for place in kept], names


def _numbers(given: Sequence[Rating]) -> Floats:
    wrong = [rating for rating in given if not isinstance(rating, int | float)]
    if wrong:
        raise DatasetError(f"rating {wrong[0]!r} is not a number; only nominal ratings may be text")
    return np.array(given, dtype=np.float64)


def _categories(rated: Sequence[Sequence[Rating]]) -> dict[Rating, int]:
    """Return category -> number: numbers by size, then texts by alphabet."""

    def order(rating: Any) -> tuple[bool, Any]:
        return isinstance(rating, str), rating

    found = sorted({rating for given in rated for rating in given}, key=order)
    return {rating: place for place, rating in enumerate(found)}


def _counts(rated: Sequence[Sequence[Rating]]) -> Floats:
    """Return the number of ratings of each item in each category, shape (items, categories)."""
    categories = _categories(rated)
    places = [categories[rating] for given in rated for rating in given]
    rows = np.repeat(np.arange(len(rated)), [len(given) for given in rated])
    cells = rows * len(categories) + np.array(places, dtype=np.int64)
    found = np.bincount(cells, minlength=len(rated) * len(categories))
    counts: Floats = found.reshape(len(rated), len(categories)).astype(np.float64)
    return counts
