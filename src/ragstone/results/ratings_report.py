"""People's ratings as tables: agreement, means, win rates, and correlations of stored metrics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from ragstone.core.tables import Shown, TextTable
from ragstone.data.readers.rated_set import RatedSet
from ragstone.data.readers.rating_scales import RatingScale
from ragstone.data.readers.ratings import HumanRating
from ragstone.evaluation.human_grades import Combined
from ragstone.evaluation.rated_data import groups_by
from ragstone.evaluation.rated_properties import RatedProperty, rated_properties, together
from ragstone.evaluation.rating_correlations import RatingCorrelation, rating_correlations
from ragstone.results.wording import ABSENT, interval_text, number
from ragstone.statistics.resampling import Coefficient
from ragstone.statistics.summary import Summary

ALL: Final = "All"
"""The column of the harmonic mean."""
_COMPARED: Final = (
    "Share of comparisons that a system wins: of rated pairs, or of one rater's ratings of the "
    "same query; a tie is half a win."
)


@dataclass(frozen=True)
class RatedGroup:
    """The ratings of all queries, or of those with one value of a label."""

    value: str
    """The value of the label; "" for all queries."""
    properties: Mapping[str, RatedProperty]
    all_of: tuple[str, ...]
    """The properties whose harmonic mean is `all`."""
    all: Mapping[str, Summary]
    """System -> mean over answers of the harmonic mean of `all_of`."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, numbers unrounded."""
        return {
            "properties": {name: _property(of) for name, of in self.properties.items()},
            "all": {"properties": self.all_of, "systems": _means(self.all)},
        }


@dataclass(frozen=True)
class RatingsReport(Shown):
    """The tables of some ratings."""

    name: str
    ratings: int
    other_queries: int
    """Ratings of queries that the data set does not have."""
    combine: Combined
    where: Mapping[str, Sequence[str]]
    whole: RatedGroup
    by: str
    """The label of `groups`."""
    groups: tuple[RatedGroup, ...]
    correlations: tuple[RatingCorrelation, ...]
    balance: str
    """The metric whose values count the same in weighted correlations; "" for the ratings."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, numbers unrounded."""
        return {
            **self.whole.to_dict(),
            "ratings": self.ratings,
            "other_queries": self.other_queries,
            "combine": self.combine,
            "where": self.where,
            "by": {"label": self.by, "values": {one.value: one.to_dict() for one in self.groups}},
            "correlations": list(map(_correlation, self.correlations)),
        }

    def parts(self) -> Iterator[str | TextTable]:
        """Yield the paragraphs and tables in order."""
        yield self.sentence
        yield _agreement(self.whole)
        for group in (self.whole, *self.groups):
            title = f" ({self.by} {group.value})" if group.value else ""
            yield from _system_tables(group, title, self.combine)
        if self.correlations:
            yield from self._correlations()
        yield from _pairs(self.whole)

    @property
    def sentence(self) -> str:
        """The ratings that were read, and those that were left out."""
        chosen = "; ".join(f"{axis}: {', '.join(of)}" for axis, of in self.where.items())
        lines = [f"{self.ratings:,} ratings of {self.name}" + (f" ({chosen})" if chosen else "")]
        if self.other_queries:
            lines.append(f"{self.other_queries:,} ratings of other queries are left out")
        return "; ".join(lines)

    def _correlations(self) -> Iterator[TextTable]:
        what = f"value of {self.balance}" if self.balance else "rating"
        columns: dict[str, dict[str, RatingCorrelation]] = {}
        for one in self.correlations:
            columns.setdefault(one.property, {})[one.metric] = one
        plain = {name: {m: one.plain for m, one in of.items()} for name, of in columns.items()}
        yield _wide("metric", plain, "Metrics with people's ratings (Spearman, 95 % intervals)")
        weighted = {n: {m: one.weighted for m, one in of.items()} for n, of in columns.items()}
        title = f"The same, weighted so that each {what} counts the same"
        yield _wide("metric", weighted, title)


def make_ratings(
    rated: RatedSet,
    *,
    by: str = "",
    where: Mapping[str, Sequence[str]] | None = None,
    all_of: Sequence[str] = (),
    combine: Combined = "median",
    level: Literal["ordinal", "interval"] = "interval",
    scale: RatingScale | None = None,
    balance: str = "",
    seed: int = 0,
) -> RatingsReport:
    """Return the report of some ratings.

    Args:
        rated: the ratings, already those that are to be shown.
        by: label of the queries, or system, setting or rater, by whose values tables are repeated.
        where: the choice behind `rated`, for the report.
        all_of: properties whose harmonic mean is All.
        combine: how the values of several raters for an answer become one.
        level: level of measurement of numbers, for alpha.
        scale: scale of all ratings; by default as the file declares.
        balance: as for `rating_correlations`.
        seed: seed of the resampled intervals.

    Raises:
        ConfigError: a label, property or metric is unknown.
        DatasetError: a rating is outside of the scale; it names file and line.
    """
    if scale is not None:
        for name in rated.properties:
            rated.scale_of(name, scale)
        rated = replace(rated, scales=dict.fromkeys(rated.properties, scale))
    rated = replace(rated, scales={**dict(_word_scales(rated)), **rated.scales})
    options: dict[str, Any] = {"combine": combine, "clusters": rated.clusters}
    of_set: dict[str, Any] = {
        "scales": rated.scales,
        "shares": rated.shares,
        "level": level,
        "seed": seed,
    }

    def group(value: str, ratings: Sequence[HumanRating]) -> RatedGroup:
        found = rated_properties(ratings, **of_set, **options)
        wanted = [name for name in all_of if not value or name in found]
        return RatedGroup(value, found, *together(ratings, wanted, **options))

    groups = groups_by(rated, by) if by else {}
    return RatingsReport(
        name=rated.name,
        ratings=len(rated.ratings),
        other_queries=rated.other_queries,
        combine=combine,
        where=where or {},
        whole=group("", rated.ratings),
        by=by,
        groups=tuple(group(value, held) for value, held in groups.items() if held),
        correlations=tuple(rating_correlations(rated, combine=combine, balance=balance, seed=seed)),
        balance=balance,
    )


def _word_scales(rated: RatedSet) -> Iterator[tuple[str, RatingScale]]:
    """Yield the scale of each property whose values are words with a known order."""
    for name in rated.properties:
        values = [one.value for one in rated.ratings if one.property == name]
        words = [value for value in values if isinstance(value, str)]
        scale = RatingScale.of_words(words) if len(words) == len(values) else None
        if scale is not None:
            yield name, scale


def _property(of: RatedProperty) -> dict[str, Any]:
    return {
        "n": of.n,
        "raters": of.raters,
        "level": of.level,
        "alpha": of.alpha.value,
        "alpha_interval": of.alpha.interval,
        "pairwise": [
            {"a": one.a, "b": one.b, "kappa": one.kappa.value, "n": one.kappa.n}
            for one in of.pairwise
        ],
        "equal_pairs": of.equal_pairs.mean,
        "absolute": of.absolute.mean,
        "absolute_or_high": of.high.mean if of.high else None,
        "systems": _means(of.systems),
        "win_rates": _means(of.win_rates),
    }


def _correlation(one: RatingCorrelation) -> dict[str, Any]:
    return {
        "metric": one.metric,
        "property": one.property,
        "n": one.plain.n,
        "value": one.plain.value,
        "interval": one.plain.interval,
        "weighted": one.weighted.value,
        "weighted_interval": one.weighted.interval,
    }


def _means(found: Mapping[str, Summary]) -> dict[str, Any]:
    return {
        name: {"mean": one.mean, "interval": one.interval, "n": one.n}
        for name, one in found.items()
    }


def _agreement(group: RatedGroup) -> TextTable:
    rows = [
        [
            *(name, of.n, len(of.raters), of.level),
            _cell(of.alpha),
            *map(
                number, (of.equal_pairs.mean, of.absolute.mean, of.high.mean if of.high else None)
            ),
        ]
        for name, of in group.properties.items()
    ]
    headers = ["property", "items", "raters", "level", "alpha", "equal pairs", "equal"]
    headers.append("equal or high")
    return TextTable(headers, rows, "Agreement of the raters")


def _system_tables(group: RatedGroup, title: str, combine: Combined) -> Iterator[TextTable]:
    """Yield the means and the win rates of the systems, a column per property."""
    means = {name: of.systems for name, of in group.properties.items() if of.systems}
    if group.all:
        means[ALL] = group.all
    # The means of rated pairs are win rates already.
    rates = {
        name: of.win_rates
        for name, of in group.properties.items()
        if of.win_rates and of.win_rates != of.systems
    }
    note = f"Mean of the raters' {combine} per answer (of pairs: win rate), with 95 % intervals."
    below = [note]
    if group.all:
        below.append(f"{ALL}: harmonic mean of each rater's {', '.join(group.all_of)}.")
    if means:
        yield _wide("system", means, f"Systems{title}", below)
    if rates:
        yield _wide("system", rates, f"Win rates{title}", [_COMPARED])


def _pairs(group: RatedGroup) -> Iterator[TextTable]:
    columns = {
        name: {f"{one.a}, {one.b}": one.kappa for one in of.pairwise}
        for name, of in group.properties.items()
        if of.pairwise
    }
    if columns:
        yield _wide("raters", columns, "Pairs of raters (Cohen's kappa, quadratic for numbers)")


def _wide(
    head: str,
    columns: Mapping[str, Mapping[str, Coefficient | Summary]],
    title: str,
    below: Sequence[str] = (),
) -> TextTable:
    """Return a table with a row per name, n of its cells, and a column per property."""
    rows = []
    for name in dict.fromkeys(name for of in columns.values() for name in of):
        cells = [of.get(name) for of in columns.values()]
        sizes = sorted({one.n for one in cells if one})
        n = " to ".join(f"{size:,}" for size in dict.fromkeys((*sizes[:1], *sizes[-1:])))
        rows.append([name, n, *(ABSENT if one is None else _cell(one) for one in cells)])
    return TextTable([head, "n", *columns], rows, title, below)


def _cell(one: Coefficient | Summary) -> str:
    value = one.mean if isinstance(one, Summary) else one.value
    return f"{number(value)}{interval_text(one.interval)}"
