"""Which queries an experiment answers: those for which every one of its settings is defined.

Means under two settings can be compared only over the same queries.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ragstone.errors import ConfigError
from ragstone.protocols import PartialBuilder
from ragstone.results.wording import left_out_text

if TYPE_CHECKING:
    from ragstone.data.dataset import Dataset
    from ragstone.protocols import ContextBuilder


@dataclass(frozen=True)
class Common:
    """The queries that all settings are defined for, and why others are left out."""

    dataset: Dataset
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Reason -> queries, each counted under its first reason."""


def common_queries(dataset: Dataset, builders: Sequence[ContextBuilder]) -> Common:
    """Return the data set with the queries for which every setting is defined.

    Raises:
        ConfigError: there is none.
    """
    partial = [builder for builder in builders if isinstance(builder, PartialBuilder)]
    if not partial:
        return Common(dataset)
    reasons = [_reason(dataset, query.query_id, partial) for query in dataset.queries]
    kept = [place for place, reason in enumerate(reasons) if not reason]
    left_out = Counter(reason for reason in reasons if reason)
    if not kept:
        raise ConfigError(f"no query is left: {left_out_text(left_out)}")
    return Common(dataset.select(kept), left_out) if left_out else Common(dataset)


def _reason(dataset: Dataset, query_id: str, builders: Sequence[PartialBuilder]) -> str:
    gold = sum(grade > 0 for grade in dataset.qrels.get(query_id, {}).values())
    return next(filter(None, (builder.undefined(gold) for builder in builders)), "")
