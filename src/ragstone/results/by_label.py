"""Answers taken apart by a label: value by value, every system under every setting.

Settings are compared over the queries that all of them could answer alike: a setting that keeps all
gold passages within k (mtRAG's reference+RAG) does so only for queries with few gold passages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from ragstone.core import limits
from ragstone.errors import ConfigError, did_you_mean
from ragstone.statistics.breakdown import TURNS, breakdown, groups_of

if TYPE_CHECKING:
    from ragstone.results.reader import StoredResults
    from ragstone.statistics.summary import Summary

PLACES: Final = frozenset({"conversation", "conversation_file", "collection"})
"""Labels that say where a query is from, and are no kinds of query."""


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

    Raises:
        ConfigError: no query has the label, or nothing was measured by the metric.
    """
    groups = groups_of(results.queries.values(), label)
    columns = {
        (system, setting): {group.value: group.summary for group in found}
        for system, setting, scores in _measured(results, metric)
        if (found := breakdown(scores, groups, results.clusters))
    }
    if not columns:
        known = {m for trial in results.trials for m in trial.scores}
        known |= {m for run in results.rankings for m in run.scores}
        raise ConfigError(f"nothing was measured by {metric!r}{did_you_mean(metric, known)}")
    rows = [
        (value, {column: held[value] for column, held in columns.items() if value in held})
        for value in groups
    ]
    return LabelTable(label, metric, tuple(columns), tuple(row for row in rows if row[1]))


def _measured(results: StoredResults, metric: str) -> Iterator[tuple[str, str, Any]]:
    for trial in results.trials:
        if metric in trial.scores:
            yield trial.system, trial.setting, trial.scores[metric]
    for run in results.rankings:
        if metric in run.scores:
            yield run.system, "", run.scores[metric]


def label_document(table: LabelTable) -> list[dict[str, Any]]:
    """Return a table as plain data, one row per value and column (`show --by LABEL --json`)."""
    return [
        {"label": table.label, "value": value, "system": system, "setting": setting}
        | {"metric": table.metric, **asdict(summary)}
        for value, cells in table.rows
        for (system, setting), summary in cells.items()
    ]


def label_tables(results: StoredResults) -> list[LabelTable]:
    """Return the metric that says what is right by every label worth it, for the report."""
    metric = results.record.correctness_metric
    if not any(metric in trial.scores for trial in results.trials):
        return []
    return [label_table(results, label, metric) for label in labels_of(results)]


def labels_of(results: StoredResults) -> list[str]:
    """Return the labels that sort the queries into two to 24 kinds, turns first."""
    queries = list(results.queries.values())
    names = dict.fromkeys(name for query in queries for name in query.labels)
    if "turn" in names:
        names = {"turn": None, TURNS: None} | names
    return [
        name
        for name in names
        if name not in PLACES and 1 < len(groups_of(queries, name)) <= limits.REPORT_LABEL_VALUES
    ]
