"""Agreement of the raters of one property, of one value of it, and of each rater with the others.

The report of ratings and the live page of an annotation project both compute it here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal, TypeAlias

from ragstone.statistics.agreement import (
    absolute_agreement,
    cohen_kappa,
    high_agreement,
    krippendorff_alpha,
    percentage_agreement,
)
from ragstone.statistics.resampling import Coefficient
from ragstone.statistics.summary import Summary

Level: TypeAlias = Literal["nominal", "ordinal", "interval"]
RaterValues: TypeAlias = Sequence[Mapping[str, float | str]]
"""Rater -> value, per item."""


@dataclass(frozen=True, slots=True)
class RaterPair:
    """The agreement of two raters on the items that both rated."""

    a: str
    b: str
    kappa: Coefficient
    """Cohen's kappa; with quadratic weights if the values are numbers."""


@dataclass(frozen=True)
class RaterAgreement:
    """The ratings of one property, and how far their raters agree."""

    n: int
    """Rated items."""
    ratings: int
    raters: tuple[str, ...]
    level: Level
    """`nominal` if a value is a text."""
    alpha: Coefficient
    """Krippendorff's alpha, with its interval over conversations or queries."""
    pairwise: tuple[RaterPair, ...]
    equal_pairs: Summary
    """Mean over items of the share of pairs of raters with equal ratings."""
    absolute: Summary
    """Share of the items with equal ratings."""
    high: Summary | None
    """Share of the items with absolute or high agreement, as in mtRAG; None for texts."""


@dataclass(frozen=True, slots=True)
class RatedValues:
    """The values of one property."""

    items: RaterValues
    clusters: Sequence[Hashable]
    """The conversation, document or query of each item."""
    level: Literal["ordinal", "interval"] = "interval"
    """Level of measurement of numbers."""
    seed: int = 0
    raters: tuple[str, ...] = ()
    """The raters in order; by default that of the items."""

    @property
    def is_text(self) -> bool:
        """Whether a value is a text."""
        return any(isinstance(value, str) for of in self.items for value in of.values())

    def agreement(self, most_pairs: int | None = None) -> RaterAgreement:
        """Return the agreement of the raters.

        Args:
            most_pairs: only the pairs of raters with the most common items; all if it is None.

        >>> items = [{"ann": 1, "ben": 1}, {"ann": 2, "ben": 2}, {"ann": 2}]
        >>> found = RatedValues(items, ["q", "r", "s"]).agreement()
        >>> found.alpha.value, found.pairwise[0].kappa.value, found.equal_pairs.n
        (1.0, 1.0, 2)
        """
        given = [list(of.values()) for of in self.items]
        level: Level = "nominal" if self.is_text else self.level
        seen = dict.fromkeys(rater for of in self.items for rater in of)
        raters = self.raters or tuple(seen)
        return RaterAgreement(
            n=len(given),
            ratings=sum(map(len, given)),
            raters=raters,
            level=level,
            alpha=self.alpha(),
            pairwise=tuple(self._pairs(raters, level, most_pairs)),
            equal_pairs=percentage_agreement(given, clusters=self.clusters),
            absolute=absolute_agreement(given, clusters=self.clusters),
            high=None if self.is_text else high_agreement(given, clusters=self.clusters),
        )

    def alpha(self) -> Coefficient:
        """Return Krippendorff's alpha, nominal if a value is a text."""
        level: Level = "nominal" if self.is_text else self.level
        given = [list(of.values()) for of in self.items]
        return krippendorff_alpha(given, level=level, clusters=self.clusters, seed=self.seed)

    def _pairs(self, raters: Sequence[str], level: Level, most: int | None) -> Iterator[RaterPair]:
        """Yield the kappa of each pair of raters with a common item."""
        weights: Literal["none", "quadratic"] = "none" if level == "nominal" else "quadratic"
        for (a, b), places in self._common(raters, most).items():
            first, second = ([self.items[place][rater] for place in places] for rater in (a, b))
            names = [self.clusters[place] for place in places]
            yield RaterPair(
                a, b, cohen_kappa(first, second, weights=weights, clusters=names, seed=self.seed)
            )

    def _common(self, raters: Sequence[str], most: int | None) -> dict[tuple[str, str], list[int]]:
        """Return pair of raters -> places of their common items, in the order of the raters."""
        order = {rater: place for place, rater in enumerate(raters)}
        found: dict[tuple[str, str], list[int]] = {}
        for place, of in enumerate(self.items):
            for pair in combinations(sorted(of, key=order.__getitem__), 2):
                found.setdefault(pair, []).append(place)
        kept = sorted(found, key=lambda pair: -len(found[pair]))[:most]
        kept.sort(key=lambda pair: tuple(map(order.__getitem__, pair)))
        return {pair: found[pair] for pair in kept}

    def pairs_in_common(self) -> int:
        """Return the number of pairs of raters with a common item."""
        return len({pair for of in self.items for pair in combinations(sorted(of), 2)})

    def by_value(self) -> dict[float | str, Coefficient]:
        """Return value -> alpha of this value against the rest, from the lowest value on.

        >>> items = [{"a": "x", "b": "x"}, {"a": "y", "b": "z"}, {"a": "z", "b": "y"}]
        >>> {v: one.value for v, one in RatedValues(items, "qrs").by_value().items()}["x"]
        1.0
        """
        counts = Counter(value for of in self.items for value in of.values())
        return {
            value: replace(
                self, items=[{r: str(v == value) for r, v in of.items()} for of in self.items]
            ).alpha()
            for value in sorted(counts, key=lambda one: (isinstance(one, str), one))
        }

    def with_others(self) -> dict[str, tuple[float | None, int]]:
        """Return rater -> share of other raters' values that are equal to this rater's, and n.

        >>> RatedValues([{"a": 1, "b": 1, "c": 2}], ["q"]).with_others()["a"]
        (0.5, 2)
        """
        equal: Counter[str] = Counter()
        every: Counter[str] = Counter()
        for of in self.items:
            counts = Counter(of.values())
            for rater, value in of.items():
                equal[rater] += counts[value] - 1
                every[rater] += len(of) - 1
        return {r: (equal[r] / n if n else None, n) for r, n in every.items()}
