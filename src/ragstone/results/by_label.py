"""Metrics broken down by a label, for each system and setting.

Settings are compared on the same queries. A setting that keeps all gold passages within k (mtRAG's
reference+RAG) restricts all settings to queries with few gold passages.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from ragstone.core import limits
from ragstone.errors import ConfigError, did_you_mean
from ragstone.results.reader import StoredResults
from ragstone.statistics.breakdown import TURNS, breakdown, groups_of
from ragstone.statistics.summary import Summary

PLACES: Final = frozenset({"conversation", "conversation_file", "collection"})
"""Labels that identify the origin of a query, which is not a category."""


@dataclass(frozen=True)
class LabelTable:
    """One metric by one label."""

    label: str
    metric: str
    columns: tuple[tuple[str, str], ...]
    """(system, setting); the setting is empty for ranking metrics."""
    rows: tuple[tuple[str, Mapping[tuple[str, str], Summary]], ...]
    """(value, column -> mean)."""


def label_table(results: StoredResults, label: str, metric: str) -> LabelTable:
    """Return one metric by one label.

    Raises `ConfigError` if no query has the label, or if the metric was not measured.
    """
    groups = groups_of(results.queries.values(), label)
    measured = [*results.trials, *results.rankings]
    bounds = results.record.metric(metric).range
    columns = {
        (rows.system, rows.setting): {group.value: group.summary for group in found}
        for rows in measured
        if (found := breakdown(rows.scores.get(metric, {}), groups, results.clusters, bounds))
    }
    if not columns:
        known = {name for rows in measured for name in rows.scores}
        raise ConfigError(f"no system was measured by {metric!r}{did_you_mean(metric, known)}")
    rows = [
        (value, {column: means[value] for column, means in columns.items() if value in means})
        for value in groups
    ]
    return LabelTable(label, metric, tuple(columns), tuple(row for row in rows if row[1]))


def label_document(table: LabelTable) -> list[dict[str, Any]]:
    """Return a table as plain data, one row per value and column (`show --by LABEL --json`)."""
    return [
        {"label": table.label, "value": value, "system": system, "setting": setting}
        | {"metric": table.metric, **asdict(summary)}
        for value, cells in table.rows
        for (system, setting), summary in cells.items()
    ]


def label_tables(results: StoredResults) -> list[LabelTable]:
    """Return the correctness metric by every label of `labels_of`, for the report."""
    metric = results.record.correctness_metric
    if not any(metric in trial.scores for trial in results.trials):
        return []
    return [label_table(results, label, metric) for label in labels_of(results)]


def labels_of(results: StoredResults) -> list[str]:
    """Return the labels that divide the queries into 2 to 24 groups, turns first."""
    queries = list(results.queries.values())
    names = dict.fromkeys(name for query in queries for name in query.labels)
    if "turn" in names:
        names = {"turn": None, TURNS: None} | names
    return [
        name
        for name in names
        if name not in PLACES and 1 < len(groups_of(queries, name)) <= limits.REPORT_LABEL_VALUES
    ]
