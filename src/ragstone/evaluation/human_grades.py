"""Answers with grades of people from 0 to 1, for the check of a judge and of metrics."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from ragstone.components.judges.verdict import Item
from ragstone.data.readers.rated_layouts import read_rated
from ragstone.data.readers.rated_set import RatedSet, RatedText
from ragstone.data.readers.rating_scales import RatingScale
from ragstone.data.readers.ratings import HumanRating, Inclusion, RatedItem
from ragstone.errors import DatasetError

Combined: TypeAlias = Literal["mean", "median"]
COMBINE: Final[Mapping[Combined, Callable[[Sequence[float]], float]]] = {
    "mean": statistics.fmean,
    "median": statistics.median,
}
"""How the values of several raters become one."""
_MIDDLE: Final = 0.5
_BINARY: Final = frozenset({0.0, _MIDDLE, 1.0})


@dataclass(frozen=True, slots=True)
class Labelled:
    """An item and people's grade of it."""

    item: Item
    value: float
    """The grade from 0 to 1, over all raters."""
    label: str = ""
    """The verdict in a judge's words, if people chose among a few words."""
    raters: tuple[float, ...] = ()
    """Each rater's value."""
    system: str = ""
    """The system that answered."""
    cluster: str = ""
    """Items that depend on each other: answers to one question, turns of one conversation."""
    inclusion: Inclusion | None = None
    """How the item was drawn; None for a random sample."""

    @property
    def group(self) -> str:
        """The cluster, else the query."""
        return self.cluster or self.item.item_id


@dataclass(frozen=True)
class HumanSet:
    """Graded answers, and the judge with the same question."""

    name: str
    items: tuple[Labelled, ...]
    judge: str
    question: str
    """The question that people answered."""
    values: Mapping[str, tuple[float | None, ...]]
    """Further values of the data, such as the scores of published metrics."""
    rated: tuple[RatedItem, ...] = ()
    """Query, system, setting, ... of each item; empty for items made in Python."""

    def sample(self, limit: int, seed: int) -> HumanSet:
        """Return a random sample of at most `limit` items."""
        return self._at(sampled_places(len(self.items), limit, seed))

    def answered(self) -> HumanSet:
        """Return the items that have an answer: no judge can grade a system's failure."""
        return self._at([n for n, one in enumerate(self.items) if one.item.answer is not None])

    def _at(self, places: Sequence[int]) -> HumanSet:
        return replace(
            self,
            items=tuple(self.items[i] for i in places),
            values={name: tuple(column[i] for i in places) for name, column in self.values.items()},
            rated=tuple(self.rated[i] for i in places) if self.rated else (),
        )


def sampled_places(size: int, limit: int, seed: int) -> list[int]:
    """Return the places of a random sample of at most `limit` of `size` items, in order."""
    import numpy as np

    return sorted(np.random.default_rng(seed).permutation(size)[:limit].tolist())


def read_human_set(
    written: str,
    *,
    rating: str = "",
    language: str = "",
    scale: RatingScale | None = None,
    combine: Combined = "mean",
) -> HumanSet:
    """Return the graded answers of a file or a folder in a published layout.

    Args:
        written: a file, a folder, or `layout:path`; see `read_rated`.
        rating: the property, such as `faithfulness`; by default the first one of the layout.
        language: language of truthfulqa's file in a folder, such as en or es.
        scale: scale of the ratings; by default the one that the file declares or shows.
        combine: how the values of several raters for an item become one.

    Raises:
        ConfigError: the layout or the property is unknown, or does not have an option.
        DatasetError: a file is missing or malformed, has no grades, or has no answers.
    """
    rated = read_rated(written, language=language)
    if not rated.texts:
        raise DatasetError(
            f"{written} has ratings without the rated answers; give the experiment that has them, "
            "and these ratings with --labels"
        )
    return human_set(rated, rating, scale=scale, combine=combine)


def human_set(
    rated: RatedSet,
    rating: str = "",
    *,
    scale: RatingScale | None = None,
    combine: Combined = "mean",
) -> HumanSet:
    """Return the graded answers of one property of a rated set whose texts are known.

    Values are mapped to 0 to 1 by their scale. If people chose between yes and no, or rated 0 or 1,
    the label is yes for a value above 0.5 and no for one below; of pairs it is win, tie or loss;
    of other words it is the one that more than half of the raters chose.

    Raises:
        ConfigError: the property is unknown, or its scale is.
        DatasetError: a rating is outside of the scale.
    """
    name = rated.chosen(rating)
    scale = rated.scale_of(name, scale)
    given: dict[RatedItem, list[HumanRating]] = {}
    for one in rated.ratings:
        if one.property == name and one.item in rated.texts:
            given.setdefault(one.item, []).append(one)
    kind = _kind(scale, given)
    items = []
    for item, ratings in given.items():
        raters = tuple(scale.share(one.value) for one in ratings)
        value = COMBINE[combine](raters)
        label = _label(kind, value, [one.value for one in ratings])
        system = f"{item.system} / {item.against}" if item.against else item.system
        cluster = rated.clusters.get(item.query_id, item.query_id)
        judged = _item(rated.texts[item])
        drawn = next((one.inclusion for one in ratings if one.inclusion), None)
        items.append(Labelled(judged, value, label, raters, system, cluster, drawn))
    return HumanSet(
        rated.name,
        tuple(items),
        rated.judges.get(name) or _JUDGES[kind],
        rated.questions.get(name) or f"people's {name}",
        {
            metric: tuple(map(values.get, given))
            for metric, values in rated.metrics.items()
            if not values.keys().isdisjoint(given)
        },
        tuple(given),
    )


_Kind: TypeAlias = Literal["pair", "passage", "binary", "words", "numbers"]
_JUDGES: Final[Mapping[_Kind, str]] = {
    "pair": "pairwise",
    "passage": "context-relevance",
    "binary": "equivalence",
    "words": "choices",
    "numbers": "RB_llm",
}
"""Kind of ratings -> a judge with that kind of verdict."""


def _kind(scale: RatingScale, given: Mapping[RatedItem, Sequence[HumanRating]]) -> _Kind:
    if any(item.against for item in given):
        return "pair"
    if any(item.passage_id for item in given):
        return "passage"
    if scale.words:
        return "binary" if scale.words == ("no", "yes") else "words"
    values = {one.value for ratings in given.values() for one in ratings}
    return "binary" if scale == RatingScale() and values <= _BINARY else "numbers"


def _label(kind: _Kind, value: float, given: Sequence[float | str]) -> str:
    """Return people's verdict in words; "" if there is none."""
    side = (value > _MIDDLE) - (value < _MIDDLE)
    if kind == "pair":
        return {1: "win", 0: "tie", -1: "loss"}[side]
    texts = [one.casefold() for one in given if isinstance(one, str)]
    if kind == "binary" or (texts and {"no", "yes"} >= set(texts)):
        return {1: "yes", 0: "", -1: "no"}[side]
    word, count = Counter(texts).most_common(1)[0] if texts else ("", 0)
    return word if 2 * count > len(given) else ""


def _item(text: RatedText) -> Item:
    return Item(text.query, text.answer, text.passages, text.other, text.problem)
