"""Ratings with the labels of a data set, and the part of them that labels choose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ragstone.data.dataset import Dataset
from ragstone.data.readers.rated_set import RatedSet, RatedText
from ragstone.data.readers.ratings import HumanRating
from ragstone.data.readers.scores import CLUSTER_LABELS
from ragstone.errors import ConfigError, DatasetError, did_you_mean
from ragstone.statistics.breakdown import groups_of

_FIELDS = ("system", "setting", "rater")
"""Fields of ratings by which they can be chosen, beside labels of the queries."""


def with_dataset(rated: RatedSet, dataset: Dataset) -> RatedSet:
    """Return the ratings of the queries of a data set, with its queries.

    Raises:
        DatasetError: no rating is of a query of the data set, or one is of an unknown passage.
    """
    queries = {query.query_id: query for query in dataset.queries}
    kept = [one for one in rated.ratings if one.item.query_id in queries]
    if not kept:
        raise DatasetError(
            f"{rated.source}: 0 % of the {len(rated.ratings):,} ratings are of queries of "
            f"{dataset.name!r}; give the data set of these ratings"
        )
    for one in kept:
        passage_id = one.item.passage_id
        if passage_id and len(dataset.corpus) and passage_id not in dataset.corpus:
            near = did_you_mean(passage_id, dataset.corpus.passage_ids)
            raise one.error(f"{dataset.name!r} has no passage {passage_id!r}{near}")
    texts = {
        one.item: replace(
            rated.texts.get(one.item) or RatedText(queries[one.item.query_id]),
            query=queries[one.item.query_id],
        )
        for one in kept
    }
    label = next((n for n in CLUSTER_LABELS if any(n in q.labels for q in queries.values())), "")
    clusters = {q: str(one.labels[label]) for q, one in queries.items() if label in one.labels}
    others = len(rated.ratings) - len(kept)
    return replace(rated, ratings=tuple(kept), texts=texts, clusters=clusters, other_queries=others)


def groups_by(rated: RatedSet, axis: str) -> dict[str, list[HumanRating]]:
    """Return value -> ratings, by a label of the queries, system, setting, rater or stored metric.

    Items without a value of the metric are in no group.

    Raises:
        ConfigError: no query has the label, or the queries are unknown.
    """
    found: dict[str, list[HumanRating]] = {}
    if axis in _FIELDS:
        for one in rated.ratings:
            value = one.rater if axis == "rater" else getattr(one.item, axis)
            found.setdefault(value, []).append(one)
        return found
    if axis in rated.metrics:
        for one in rated.ratings:
            if one.item in rated.metrics[axis]:
                found.setdefault(f"{rated.metrics[axis][one.item]:g}", []).append(one)
        return found
    if not rated.queries:
        raise ConfigError(
            f"{rated.source} has no labels of queries, such as {axis!r}; give the data set with "
            "--data"
        )
    groups = groups_of(rated.queries.values(), axis)
    by_query = {value: set(ids) for value, ids in groups.items()}
    return {
        value: [one for one in rated.ratings if one.item.query_id in ids]
        for value, ids in by_query.items()
    }


def chosen_by(rated: RatedSet, where: Mapping[str, Sequence[str]]) -> RatedSet:
    """Return the ratings whose label or field has one of some values, for each axis.

    Raises:
        ConfigError: an axis or a value is unknown.
    """
    for axis, values in where.items():
        groups = groups_by(rated, axis)
        for value in values:
            if value not in groups:
                raise ConfigError(f"no {axis} {value!r} is rated{did_you_mean(value, groups)}")
        kept = {id(one) for value in values for one in groups[value]}
        rated = replace(rated, ratings=tuple(one for one in rated.ratings if id(one) in kept))
    return rated
