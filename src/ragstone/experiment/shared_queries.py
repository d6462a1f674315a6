"""The queries that an experiment answers: those to which all of its settings apply.

Means under two settings can be compared only over the same queries.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ragstone.data.readers.rows import listed
from ragstone.errors import ConfigError, did_you_mean
from ragstone.results.wording import left_out_text

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
    reasons = [_reason(dataset, query.query_id, settings) for query in dataset.queries]
    left_out = Counter(filter(None, reasons))
    if not left_out:
        return QuerySelection(dataset)
    kept = [place for place, reason in enumerate(reasons) if not reason]
    if not kept:
        raise ConfigError(f"no query is left: {left_out_text(left_out)}")
    return QuerySelection(dataset.select(kept), left_out)


def _reason(dataset: Dataset, query_id: str, settings: Sequence[ContextSetting]) -> str:
    relevant = sum(grade > 0 for grade in dataset.qrels.get(query_id, {}).values())
    return next(filter(None, (setting.not_applicable(relevant) for setting in settings)), "")


def matching(dataset: Dataset, sample: Sample) -> Dataset:
    """Return the data set with the queries that have the labels of `sample.where`."""
    if not sample.where:
        return dataset
    wanted = {k: v if isinstance(v, list) else [v] for k, v in sample.where.items()}
    known = {label for query in dataset.queries for label in query.labels}
    for label in wanted:
        if label not in known:
            raise ConfigError(
                f"sample.where: no query has the label {label!r}{did_you_mean(label, known)}",
                key="sample.where",
                value=label,
            )
    kept = [
        position
        for position, query in enumerate(dataset.queries)
        if all(query.labels.get(label) in values for label, values in wanted.items())
    ]
    if not kept:
        found = {k: {str(query.labels.get(k)) for query in dataset.queries} for k in wanted}
        values = "; ".join(f"{k}: {listed(sorted(v))}" for k, v in found.items())
        raise ConfigError(
            f"sample.where: no query has the labels {sample.where!r}; the values are {values}",
            key="sample.where",
        )
    return dataset.select(kept)
