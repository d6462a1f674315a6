"""A set of ratings: the ratings of people, and the texts and stored metrics of the rated items."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ragstone.data.readers.rating_scales import RatingScale
from ragstone.data.readers.ratings import HumanRating, RatedItem, check_unique
from ragstone.data.readers.rows import show
from ragstone.errors import ConfigError, DatasetError, did_you_mean
from ragstone.types import Query


@dataclass(frozen=True, slots=True)
class RatedText:
    """The texts of a rated item, as a judge reads them."""

    query: Query
    answer: str | None = ""
    """None if the system failed."""
    passages: tuple[str, ...] = ()
    """The context of the answer, or the rated passage."""
    other: str = ""
    """The other answer of a pair."""
    problem: str = ""
    """Why there is no answer."""


@dataclass(frozen=True)
class RatedSet:
    """People's ratings with all that their files or an experiment have about the rated items."""

    name: str
    ratings: tuple[HumanRating, ...]
    texts: Mapping[RatedItem, RatedText] = field(default_factory=dict)
    """Item -> its texts; empty if a file has the ratings alone."""
    scales: Mapping[str, RatingScale] = field(default_factory=dict)
    """Property -> the scale that the file declares."""
    metrics: Mapping[str, Mapping[RatedItem, float]] = field(default_factory=dict)
    """Metric -> item -> the stored value."""
    clusters: Mapping[str, str] = field(default_factory=dict)
    """Query id -> its conversation or document; queries without an entry are independent."""
    judges: Mapping[str, str] = field(default_factory=dict)
    """Property -> the judge with the same question."""
    questions: Mapping[str, str] = field(default_factory=dict)
    """Property -> the question that people answered."""
    shares: frozenset[str] = frozenset()
    """Properties whose values are already shares of comparisons that a rater let the system win."""
    first: str = ""
    """The property that a check uses unless another one is chosen."""
    other_queries: int = 0
    """Ratings of queries that an experiment or a data set does not have; they are left out."""
    parts: int = 0
    """Ratings of parts of answers, which no judge of answers can be compared with; left out."""

    @property
    def properties(self) -> tuple[str, ...]:
        """The rated properties, in order."""
        return tuple(dict.fromkeys(one.property for one in self.ratings))

    @property
    def source(self) -> str:
        """The file of the first rating, for messages."""
        paths = [one.path for one in self.ratings if one.path]
        return str(paths[0]) if paths else self.name

    @property
    def queries(self) -> dict[str, Query]:
        """Query id -> query, as far as the texts are known."""
        return {item.query_id: text.query for item, text in self.texts.items()}

    def chosen(self, rating: str = "") -> str:
        """Return the property to use: `rating`, or the set's first or only one.

        Raises:
            ConfigError: no property has this name, or several are rated and none is chosen.
        """
        known = self.properties
        name = rating or (self.first if self.first in known else "")
        if not name and len(known) == 1:
            return known[0]
        if not name:
            listed = ", ".join(known)
            raise ConfigError(f"{self.source} has the properties {listed}; choose with --property")
        if name not in known:
            raise ConfigError(
                f"{self.source} has no ratings of the property {name!r}{did_you_mean(name, known)}"
            )
        return name

    def only(self, properties: Collection[str]) -> RatedSet:
        """Return the set with the ratings of some properties; `ConfigError` for an unknown one."""
        names = {self.chosen(name) for name in properties}
        kept = tuple(one for one in self.ratings if not names or one.property in names)
        return replace(self, ratings=kept)

    def scale_of(self, rating: str, given: RatingScale | None = None) -> RatingScale:
        """Return the scale of a property: given, declared by the file, or seen.

        Raises:
            ConfigError: the scale is neither given nor declared, and the values do not show it.
            DatasetError: a rating is outside of the scale; it names file, line and value.
        """
        held = [one for one in self.ratings if one.property == rating]
        scale = given or self.scales.get(rating) or RatingScale.seen(one.value for one in held)
        check_scale(held, scale)
        return scale


def check_scale(ratings: Iterable[HumanRating], scale: RatingScale) -> None:
    """Raise `DatasetError` with file and line for the first rating outside of a scale."""
    for one in ratings:
        if one.value not in scale:
            raise one.error(
                f"the value {show(one.value)} of {show(one.property)} is outside of the scale "
                f"{scale}; "
                "correct it, or give the scale with --scale"
            )


def joined_sets(sets: Sequence[RatedSet]) -> RatedSet:
    """Return the ratings of several files as one set.

    Raises:
        DatasetError: two files have a rating of one rater for one item, or declare different
            scales of one property.
    """
    if len(sets) == 1:
        return sets[0]
    scales: dict[str, RatingScale] = {}
    metrics: dict[str, dict[RatedItem, float]] = {}
    for one in sets:
        for name, scale in one.scales.items():
            if scales.setdefault(name, scale) != scale:
                raise DatasetError(
                    f"{one.name} has the scale {scale} of {name!r}, another file {scales[name]}; "
                    "read them one by one"
                )
        for name, values in one.metrics.items():
            metrics.setdefault(name, {}).update(values)
    ratings = tuple(rating for one in sets for rating in one.ratings)
    check_unique(ratings)
    names = dict.fromkeys(one.name for one in sets)
    return RatedSet(
        name=", ".join(names),
        ratings=ratings,
        texts={item: text for one in sets for item, text in one.texts.items()},
        scales=scales,
        metrics=metrics,
        clusters={query: name for one in sets for query, name in one.clusters.items()},
        judges={name: judge for one in sets for name, judge in one.judges.items()},
        questions={name: asked for one in sets for name, asked in one.questions.items()},
        shares=frozenset(name for one in sets for name in one.shares),
        first=sets[0].first,
    )
