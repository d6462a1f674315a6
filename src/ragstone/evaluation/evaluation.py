"""The result of `evaluate_run` and `evaluate_answers`: means, and the score of every query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ragstone.components.metrics.parse import parse_metric
from ragstone.core.schemas import columns, with_texts
from ragstone.core.tables import Tabular, TextTable
from ragstone.errors import ConfigError
from ragstone.evaluation.answered import Answered
from ragstone.statistics.failures import (
    Scale,
    without_worst,
)
from ragstone.statistics.summary import (
    Summary,
    clusters_of,
    few_clusters,
    summaries_table,
    summary_table,
)
from ragstone.types import brief

if TYPE_CHECKING:
    from arro3.core import Table


@dataclass(frozen=True, repr=False)
class Evaluation(Tabular):
    """The means of some metrics, and the scores per query."""

    summaries: Mapping[str, Summary]
    """Metric name -> mean, n, missing, failed, not applicable, interval."""
    table: Table
    """One row per query and metric, of `ragstone.core.schemas.SCORES`."""
    missing: tuple[str, ...] = ()
    """Queries without a ranking or answer; they count as failed."""
    extra: tuple[str, ...] = ()
    """Queries without qrels or gold answers; they are left out."""
    ceilings: Mapping[str, float] = field(default_factory=dict)
    """Metric -> mean of perfect rankings, if less than 1."""
    clusters: Mapping[str, str] = field(default_factory=dict)
    """Query id -> conversation or document; a query without one is a cluster on its own."""
    beside: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Metric -> figures of all answers together, such as the macro-F1 of `label`."""
    scales: Mapping[str, Scale] = field(default_factory=dict)
    """Metric -> its range and direction, and the failure policy."""
    corpus_digest: str = ""
    """The corpus of the answers; empty if unknown."""
    gold_answers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Query id -> its gold answers; empty if unknown."""
    answered: Answered = field(default_factory=Answered)
    """The queries, answers and contexts behind the scores."""
    judge_notes: Mapping[str, str] = field(default_factory=dict)
    """Metric -> the gains of its judge by flagged probes."""
    headline: str = ""
    """The metric that the experiment ranks its systems by; empty without an experiment."""

    def __repr__(self) -> str:
        """Return one line: the means and the number of queries."""
        means = (
            f"{name} {'-' if summary.mean is None else f'{summary.mean:.4f}'}"
            for name, summary in self.summaries.items()
        )
        queries = len(set(self.table.column("query_id").to_pylist()))
        return brief(self, f"{queries:,} queries", *means)

    def __getitem__(self, metric: str) -> Summary:
        """Return the summary of a metric, by any of its spellings."""
        name = metric if metric in self.summaries else str(parse_metric(metric))
        if name not in self.summaries:
            raise ConfigError(f"no scores of {name}, only of {', '.join(self.summaries)}")
        return self.summaries[name]

    def to_dict(self, asked: Mapping[str, str] | None = None) -> dict[str, dict[str, Any]]:
        """Return the summaries as plain data, numbers unrounded.

        `asked` maps metric names to other keys; the metric's name is then added to its values.
        """
        found = {}
        for name, summary in self.summaries.items():
            key, values = (asked or {}).get(name, name), summary.to_dict()
            values |= self.beside.get(name, {})
            found[key] = values | ({"metric": name} if key != name else {})
        return found

    def parts(self) -> Iterator[TextTable | str]:
        """Yield the summaries as a table, with ceilings if there are any, and a warning."""
        table = summary_table(list(self.summaries.items()))
        if self.ceilings:
            best = [self.ceilings.get(name) for name in self.summaries]
            ends = ["-" if value is None else f"{value:.4f}" for value in best]
            rows = [[*row, end] for row, end in zip(table.rows, ends, strict=True)]
            table = TextTable([*table.headers, "ceiling"], rows)
        yield table
        if without := without_worst(self.summaries, self.scales):
            yield without
        if self.beside:
            rows = [
                [m, key, f"{v:.4g}"] for m, held in self.beside.items() for key, v in held.items()
            ]
            yield TextTable(["metric", "of all answers", "value"], rows)
        if not self.clusters:
            return
        queries = dict.fromkeys(self.table.column("query_id").to_pylist())
        if warning := few_clusters(clusters_of(queries, self.clusters) or ()):
            yield warning

    def to_arrow(self, *, summary: bool = False) -> Table:
        """Return one row per query and metric, or one row per metric with `summary`."""
        if not summary:
            return self.table
        return with_texts(summaries_table(self.summaries.values()), metric=list(self.summaries))

    @cached_property
    def scores(self) -> dict[str, dict[str, float | None]]:
        """Metric -> query id -> value in the range of the metric, or None."""
        found: dict[str, dict[str, float | None]] = {}
        held = columns(self.table)
        for metric, query_id, value in zip(
            held["metric"], held["query_id"], held["value"], strict=True
        ):
            found.setdefault(metric, {})[query_id] = value
        return found
