"""People's ratings, property by property: agreement of the raters, and means of the systems."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Final, Literal, TypeAlias

from ragstone.data.readers.inspector_raget import read_inspection
from ragstone.data.readers.ratings import HumanRating, RatedItem, read_ratings
from ragstone.data.readers.rows import has_end
from ragstone.errors import DatasetError
from ragstone.statistics.agreement import (
    absolute_agreement,
    cohen_kappa,
    high_agreement,
    krippendorff_alpha,
)
from ragstone.statistics.human_ratings import Preference, win_rates
from ragstone.statistics.resampling import Coefficient
from ragstone.statistics.summary import Summary, summarise

Level: TypeAlias = Literal["nominal", "ordinal", "interval"]
Combined: TypeAlias = Literal["mean", "median"]
_ALGORITHMS: Final = frozenset({"system", "composite"})
"""Raters of InspectorRAGet's files that are no people."""
_COMBINE: Final[Mapping[Combined, Callable[[Sequence[float]], float]]] = {
    "mean": statistics.fmean,
    "median": statistics.median,
}


@dataclass(frozen=True, slots=True)
class RaterPair:
    """The agreement of two raters on the items that both rated."""

    a: str
    b: str
    kappa: Coefficient
    """Cohen's kappa; with quadratic weights if the values are numbers."""


@dataclass(frozen=True)
class RatedProperty:
    """The ratings of one property."""

    n: int
    """Rated items."""
    ratings: int
    raters: tuple[str, ...]
    level: Level
    """`nominal` if a value is a text."""
    alpha: Coefficient
    """Krippendorff's alpha, with its interval over queries."""
    pairwise: tuple[RaterPair, ...]
    absolute: Summary
    """Share of the items with equal ratings."""
    high: Summary | None
    """Share of the items with absolute or high agreement, as in mtRAG; None for texts."""
    systems: Mapping[str, Summary]
    """System -> mean over items of the raters' combined value, or its win rate; {} for texts."""


def read_rating_files(paths: Sequence[Path]) -> list[HumanRating]:
    """Return the ratings of some files: JSON lines of ratings, or InspectorRAGet's JSON.

    Raises:
        DatasetError: a file is malformed, or two files have a rating of one rater for one item.
    """
    found: dict[tuple[RatedItem, str, str], Path] = {}
    ratings: list[HumanRating] = []
    for path in paths:
        for one in read_ratings(path) if not has_end(path, ".json") else _inspected(path):
            key = (one.item, one.property, one.rater)
            if key in found:
                raise DatasetError(
                    f"{path}: a second rating of {one.property!r} by {one.rater!r} for query "
                    f"{one.item.query_id!r}; the first is in {found[key]}",
                    path=path,
                )
            found[key] = path
            ratings.append(one)
    return ratings


def _inspected(path: Path) -> Iterator[HumanRating]:
    """Yield people's ratings of an InspectorRAGet file."""
    for one in read_inspection(path).ratings:
        if one.rater not in _ALGORITHMS:
            item = RatedItem(one.query_id, one.system)
            yield HumanRating(item, one.metric, one.rater, one.value)


def rated_properties(
    ratings: Sequence[HumanRating],
    *,
    combine: Combined = "median",
    level: Literal["ordinal", "interval"] = "interval",
    seed: int = 0,
) -> dict[str, RatedProperty]:
    """Return property -> agreement of its raters and means of its systems.

    Args:
        ratings: as `read_rating_files` returns them.
        combine: how the values of several raters for an answer become one.
        level: level of measurement of numbers, for alpha.
        seed: seed of the resampled intervals.

    >>> item = RatedItem("q", "s")
    >>> given = [HumanRating(item, "fluency", rater, 4) for rater in ("ann", "ben")]
    >>> rated_properties(given)["fluency"].systems["s"].mean
    4.0
    """
    found: dict[str, list[HumanRating]] = {}
    for one in ratings:
        found.setdefault(one.property, []).append(one)
    return {name: _property(of, combine, level, seed) for name, of in found.items()}


def _property(
    ratings: Sequence[HumanRating], combine: Combined, numbers: Level, seed: int
) -> RatedProperty:
    items: dict[RatedItem, dict[str, float | str]] = {}
    for one in ratings:
        items.setdefault(one.item, {})[one.rater] = one.value
    given = [list(values.values()) for values in items.values()]
    clusters = [item.query_id for item in items]
    is_text = any(isinstance(one.value, str) for one in ratings)
    level: Level = "nominal" if is_text else numbers
    raters = tuple(dict.fromkeys(one.rater for one in ratings))
    return RatedProperty(
        n=len(items),
        ratings=len(ratings),
        raters=raters,
        level=level,
        alpha=krippendorff_alpha(given, level=level, clusters=clusters, seed=seed),
        pairwise=tuple(_pairs(items, raters, level, seed)),
        absolute=absolute_agreement(given, clusters=clusters),
        high=None if is_text else high_agreement(given, clusters=clusters),
        systems=_systems(ratings, items, combine),
    )


def _pairs(
    items: Mapping[RatedItem, Mapping[str, float | str]],
    raters: Sequence[str],
    level: Level,
    seed: int,
) -> Iterator[RaterPair]:
    """Yield the kappa of each pair of raters with a common item."""
    weights: Literal["none", "quadratic"] = "none" if level == "nominal" else "quadratic"
    for a, b in combinations(raters, 2):
        both = {item: of for item, of in items.items() if a in of and b in of}
        if both:
            first, second = ([of[rater] for of in both.values()] for rater in (a, b))
            clusters = [item.query_id for item in both]
            kappa = cohen_kappa(first, second, weights=weights, clusters=clusters, seed=seed)
            yield RaterPair(a, b, kappa)


def _systems(
    ratings: Sequence[HumanRating],
    items: Mapping[RatedItem, Mapping[str, float | str]],
    combine: Combined,
) -> dict[str, Summary]:
    """Return the mean of each system, or its win rate if pairs were rated."""
    if all(item.against for item in items):
        return win_rates(_preference(one) for one in ratings)
    held: dict[str, tuple[list[str], list[float]]] = {}
    for item, of in items.items():
        values = [value for value in of.values() if not isinstance(value, str)]
        if item.system and values:
            ids, means = held.setdefault(item.system, ([], []))
            ids.append(item.query_id)
            means.append(_COMBINE[combine](values))
    return {system: summarise(means, clusters=ids) for system, (ids, means) in held.items()}


def _preference(one: HumanRating) -> Preference:
    winner = {"a": one.item.system, "b": one.item.against}.get(str(one.value), "")
    return Preference(one.item.query_id, one.rater, one.item.system, one.item.against, winner)
