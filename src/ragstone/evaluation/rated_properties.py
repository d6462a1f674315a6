"""People's ratings, property by property: agreement of the raters, means, win rates, harmonic mean.

mtRAG (Katsis et al., 2025) reports each property as the mean over answers of the raters' median,
"All" as the harmonic mean of four properties (Table 6), and agreement as in its appendix E.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, TypeAlias

from ragstone.data.readers.inspector_raget import AnswerRating
from ragstone.data.readers.rated_inspection import MTRAG_RATINGS
from ragstone.data.readers.rating_scales import RatingScale
from ragstone.data.readers.ratings import HumanRating, RatedItem
from ragstone.errors import ConfigError, did_you_mean
from ragstone.evaluation.human_grades import COMBINE, Combined
from ragstone.evaluation.rater_agreement import RatedValues, RaterAgreement
from ragstone.statistics.human_ratings import Preference, preferences_of, win_rates
from ragstone.statistics.summary import Summary, clusters_of, summarise

Clusters: TypeAlias = Mapping[str, str]
"""Query id -> its conversation or document."""
FANC: Final = MTRAG_RATINGS
"""The properties whose harmonic mean mtRAG's Table 6 calls All."""


@dataclass(frozen=True)
class RatedProperty(RaterAgreement):
    """The ratings of one property: agreement, and the means and win rates of the systems."""

    systems: Mapping[str, Summary]
    """System -> mean over items of the raters' combined value, or its win rate if pairs were rated.

    Of texts with a known order, such as no and yes, it is the mean place from 0 to 1; else {}.
    """
    win_rates: Mapping[str, Summary]
    """System -> share of comparisons won: rated pairs, or one rater's numbers for two systems.

    A tie is half a win. If the values are shares of comparisons already, it is their mean over
    answers of the mean over raters. {} if no rater compared two systems.
    """


def rated_properties(
    ratings: Sequence[HumanRating],
    *,
    combine: Combined = "median",
    level: Literal["ordinal", "interval"] = "interval",
    clusters: Clusters | None = None,
    scales: Mapping[str, RatingScale] | None = None,
    shares: frozenset[str] = frozenset(),
    seed: int = 0,
) -> dict[str, RatedProperty]:
    """Return property -> agreement of its raters, means and win rates of its systems.

    Args:
        ratings: people's ratings.
        combine: how the values of several raters for an answer become one.
        level: level of measurement of numbers, for alpha.
        clusters: conversations or documents, over which intervals are; by default over queries.
        scales: property -> scale; needed for the means of texts, and for `shares`.
        shares: properties whose values are shares of comparisons, such as mtRAG's win rate.
        seed: seed of the resampled intervals.

    >>> item = RatedItem("q", "s")
    >>> given = [HumanRating(item, "fluency", rater, 4) for rater in ("ann", "ben")]
    >>> rated_properties(given)["fluency"].systems["s"].mean
    4.0
    """
    found: dict[str, list[HumanRating]] = {}
    for one in ratings:
        found.setdefault(one.property, []).append(one)
    how = _How(combine, level, clusters or {}, scales or {}, shares, seed)
    return {name: _property(of, how) for name, of in found.items()}


@dataclass(frozen=True, slots=True)
class _How:
    combine: Combined
    level: Literal["ordinal", "interval"]
    clusters: Clusters
    scales: Mapping[str, RatingScale] = field(default_factory=dict)
    shares: frozenset[str] = frozenset()
    seed: int = 0

    def names(self, items: Mapping[RatedItem, object]) -> list[object]:
        """Return the cluster of each item."""
        ids = [item.query_id for item in items]
        return list(clusters_of(ids, self.clusters) or ids)


_Values: TypeAlias = Mapping[RatedItem, Mapping[str, float | str]]
"""Item -> rater -> value."""


def _property(ratings: Sequence[HumanRating], how: _How) -> RatedProperty:
    items = _by_item(ratings)
    raters = tuple(dict.fromkeys(one.rater for one in ratings))
    values = RatedValues(list(items.values()), how.names(items), how.level, how.seed, raters)
    return RatedProperty(
        **vars(values.agreement()),
        systems=_systems(ratings, items, how),
        win_rates=_win_rates(ratings, items, how),
    )


def _by_item(ratings: Sequence[HumanRating]) -> dict[RatedItem, dict[str, float | str]]:
    items: dict[RatedItem, dict[str, float | str]] = {}
    for one in ratings:
        items.setdefault(one.item, {})[one.rater] = one.value
    return items


def _systems(ratings: Sequence[HumanRating], items: _Values, how: _How) -> dict[str, Summary]:
    """Return the mean of each system, or its win rate if pairs were rated."""
    if all(item.against for item in items):
        return win_rates(preferences(ratings), how.clusters)
    scale = how.scales.get(ratings[0].property)
    named = _system_names(items)
    held: dict[str, dict[RatedItem, float]] = {}
    for item, of in items.items():
        values = [_number(value, scale) for value in of.values()]
        known = [value for value in values if value is not None]
        if named[item] and known and not item.against:
            held.setdefault(named[item], {})[item] = COMBINE[how.combine](known)
    return {name: _mean(values, how) for name, values in held.items()}


def _win_rates(ratings: Sequence[HumanRating], items: _Values, how: _How) -> Mapping[str, Summary]:
    name = ratings[0].property
    if name not in how.shares:
        return win_rates(preferences(ratings), how.clusters)
    scale = how.scales[name]
    given = {item: {r: scale.share(v) for r, v in of.items()} for item, of in items.items()}
    return _systems(ratings, given, replace(how, combine="mean"))


def _number(value: float | str, scale: RatingScale | None) -> float | None:
    if not isinstance(value, str):
        return value
    return scale.share(value) if scale is not None and scale.words else None


def _mean(values: Mapping[RatedItem, float], how: _How, not_applicable: int = 0) -> Summary:
    return summarise(
        list(values.values()),
        clusters=how.names(values),
        not_applicable=not_applicable,
        bounds=None,
    )


def _system_names(items: Mapping[RatedItem, object]) -> dict[RatedItem, str]:
    """Return the system of each item, with its setting if several settings are rated."""
    several = len({item.setting for item in items}) > 1
    return {
        item: f"{item.system} ({item.setting})" if several and item.setting else item.system
        for item in items
    }


def preferences(ratings: Sequence[HumanRating]) -> list[Preference]:
    """Return who of two systems was preferred: rated pairs, or numbers of one rater for a query.

    The value of a pair is a, b or tie, or a number: above 0 if the answer of `system` is better,
    below 0 if that of `against` is. Equal numbers for two systems are a tie.

    >>> pair = RatedItem("q", "s", against="t")
    >>> [one.winner for one in preferences([HumanRating(pair, "overall", "ann", "b")])]
    ['t']
    """
    names = _system_names({one.item: None for one in ratings})
    pairs = [one for one in ratings if one.item.against]
    single = [
        AnswerRating(one.item.query_id, names[one.item], one.property, one.rater, one.value)
        for one in ratings
        if names[one.item] and not (one.item.against or one.item.passage_id or one.item.part)
        if not isinstance(one.value, str)
    ]
    compared = (preferences_of(single, name) for name in dict.fromkeys(x.metric for x in single))
    return [*map(_preference, pairs), *(one for of in compared for one in of)]


def _preference(one: HumanRating) -> Preference:
    item, value = one.item, one.value
    if not isinstance(value, str):
        value = "a" if value > 0 else "b" if value < 0 else "tie"
    winner = {"a": item.system, "b": item.against}.get(value, "")
    return Preference(item.query_id, one.rater, item.system, item.against, winner)


def together(
    ratings: Sequence[HumanRating],
    properties: Sequence[str] = (),
    *,
    combine: Combined = "median",
    clusters: Clusters | None = None,
) -> tuple[tuple[str, ...], dict[str, Summary]]:
    """Return properties, and system -> mean over answers of their harmonic mean ("All").

    The harmonic mean is that of the values that one rater gave an answer. Those of several raters
    are combined as any other rating: this gives the All of mtRAG's Table 6.

    Args:
        ratings: people's ratings.
        properties: the properties; by default the four of mtRAG if all of them are rated.
        combine: how the values of several raters for an answer become one.
        clusters: as for `rated_properties`.

    An answer that no rater rated by all properties is not applicable. Without properties, there
    are no means.

    Raises:
        ConfigError: a property is unknown, or has a value that is a text or below 0.

    >>> item = RatedItem("q", "s")
    >>> given = [HumanRating(item, name, "ann", value) for name, value in (("f", 2), ("c", 4))]
    >>> round(together(given, ["f", "c"])[1]["s"].mean, 3)
    2.667
    """
    known = dict.fromkeys(one.property for one in ratings)
    names = tuple(properties) or (FANC if known.keys() >= set(FANC) else ())
    for name in names:
        if name not in known:
            raise ConfigError(f"no ratings of the property {name!r}{did_you_mean(name, known)}")
    values: dict[RatedItem, dict[str, dict[str, float]]] = {}
    for one in ratings:
        if one.property in names:
            if isinstance(one.value, str) or one.value < 0:
                raise ConfigError(
                    f"{one.where()}: {one.value!r} of {one.property!r} has no harmonic mean, which "
                    "numbers of 0 or more have"
                )
            values.setdefault(one.item, {}).setdefault(one.rater, {})[one.property] = one.value
    how = _How(combine, "interval", clusters or {})
    systems = _system_names(values)
    held: dict[str, dict[RatedItem, float]] = {}
    incomplete: dict[str, int] = {}
    for item, of in values.items():
        whole = [
            statistics.harmonic_mean(list(v.values())) for v in of.values() if len(v) == len(names)
        ]
        if not whole:
            incomplete[systems[item]] = incomplete.get(systems[item], 0) + 1
        elif systems[item]:
            held.setdefault(systems[item], {})[item] = COMBINE[combine](whole)
    means = {name: _mean(of, how, incomplete.get(name, 0)) for name, of in held.items()}
    return names, means
