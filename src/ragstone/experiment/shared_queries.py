"""The queries that an experiment answers, and those to which one of its settings does not apply.

Means under two settings can be compared only over the same queries: a query with too many gold
passages for one setting is left out of all. A query without a gold passage is left out of the
settings that need one.
"""

from __future__ import annotations

import random
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ragstone.core.schemas import COLLECTIONS, to_table
from ragstone.core.stored_table import SelectedTable, StoredTable
from ragstone.data.readers.rows import listed
from ragstone.errors import ConfigError, did_you_mean
from ragstone.results.wording import left_out_text, not_applicable_text

if TYPE_CHECKING:
    from ragstone.data.dataset import Dataset
    from ragstone.experiment.config import Sample
    from ragstone.protocols import ContextSetting


@dataclass(frozen=True)
class QuerySelection:
    """The queries to which all settings apply, and why others are left out."""

    dataset: Dataset
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Reason -> number of queries, each counted under its first reason."""


def select_queries(dataset: Dataset, settings: Sequence[ContextSetting]) -> QuerySelection:
    """Return the data set with the queries to which every setting applies.

    Raises:
        ConfigError: there is no such query.
    """
    reasons = [_reason(dataset, query_id, settings) for query_id in dataset.query_ids]
    left_out = Counter(filter(None, reasons))
    if not left_out:
        return QuerySelection(dataset)
    kept = [place for place, reason in enumerate(reasons) if not reason]
    if not kept:
        raise ConfigError(f"no query is left: {left_out_text(left_out)}")
    return QuerySelection(dataset.select(kept), left_out)


def _reason(dataset: Dataset, query_id: str, settings: Sequence[ContextSetting]) -> str:
    relevant = _relevant(dataset, query_id)
    return next(filter(None, (setting.not_applicable(relevant) for setting in settings)), "")


def _relevant(dataset: Dataset, query_id: str) -> int:
    return sum(grade > 0 for grade in dataset.qrels.get(query_id, {}).values())


@dataclass(frozen=True)
class OwnQueries:
    """The queries of a setting that does not apply to all of the experiment's."""

    table: StoredTable
    not_applicable: Mapping[str, str]
    """Query id -> why it is not among them."""


def own_queries(dataset: Dataset, settings: Sequence[ContextSetting]) -> dict[str, OwnQueries]:
    """Return setting -> its queries, for the settings that do not apply to the whole data set.

    Raises:
        ConfigError: a setting applies to no query.
    """
    found = {}
    relevant = [_relevant(dataset, query.query_id) for query in dataset.queries]
    for setting in settings:
        kept, named = array("q"), dict[str, str]()
        for place, query in enumerate(dataset.queries):
            if reason := setting.inapplicable(query, relevant[place]):
                named[query.query_id] = reason
            else:
                kept.append(place)
        if not kept:
            problem = not_applicable_text({setting.setting: Counter(named.values())})
            raise ConfigError(
                f"{problem}; remove the setting, or sample other queries", key="settings"
            )
        if named:
            places = np.frombuffer(kept, np.int64)
            found[setting.setting] = OwnQueries(SelectedTable(dataset.query_table, places), named)
    return found


def collection_table(dataset: Dataset) -> StoredTable | None:
    """Return the collection of each query; None if all queries search all passages."""
    named = dataset.collections
    columns = {"query_id": list(named), "collection": list(named.values())}
    return StoredTable.in_memory(to_table(COLLECTIONS, columns)) if named else None


def drawn(dataset: Dataset, sample: Sample) -> Dataset:
    """Return the data set with a random sample of its queries, or of the values of a label.

    With `per`, a value keeps all its queries, and a query without the label is one value.
    """
    if sample.limit is None or sample.per is None:
        return dataset if sample.limit is None else dataset.sample(sample.limit, sample.seed)
    _check_label(dataset, sample.per, "sample.per")
    groups: dict[tuple[bool, object], list[int]] = {}
    for place, query in enumerate(dataset.queries):
        value = query.labels.get(sample.per)
        key = (True, query.query_id) if value is None else (False, value)
        groups.setdefault(key, []).append(place)
    if sample.limit >= len(groups):
        return dataset
    chosen = random.Random(sample.seed).sample(list(groups.values()), sample.limit)  # noqa: S311
    return dataset.select(sorted(place for places in chosen for place in places))


def _check_label(dataset: Dataset, label: str, key: str) -> None:
    known = {label for query in dataset.queries for label in query.labels}
    if label not in known:
        raise ConfigError(
            f"{key}: no query has the label {label!r}{did_you_mean(label, known)}",
            key=key,
            value=label,
        )


def matching(dataset: Dataset, sample: Sample) -> Dataset:
    """Return the data set with the queries that have the labels of `sample.where`."""
    if not sample.where:
        return dataset
    for label in sample.where:
        _check_label(dataset, label, "sample.where")
    kept = [
        position for position, query in enumerate(dataset.queries) if query.has_labels(sample.where)
    ]
    if not kept:
        found = {k: {str(query.labels.get(k)) for query in dataset.queries} for k in sample.where}
        values = "; ".join(f"{k}: {listed(sorted(v))}" for k, v in found.items())
        raise ConfigError(
            f"sample.where: no query has the labels {sample.where!r}; the values are {values}",
            key="sample.where",
        )
    return dataset.select(kept)
