"""Differences between systems, drawn as text; metrics with one range share a scale."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING

from ragstone.core.tables import TextTable
from ragstone.core.text_plot import plot_intervals

if TYPE_CHECKING:
    from ragstone.evaluation.metric_comparison import MetricComparison
    from ragstone.statistics.paired import Difference
    from ragstone.statistics.significance import SystemPair


def by_range(metrics: Sequence[MetricComparison]) -> list[list[MetricComparison]]:
    """Return the metrics in groups that can share a scale: those with the same range."""
    groups: dict[Hashable, list[MetricComparison]] = {}
    for one in metrics:
        groups.setdefault(one.scale.range or one.metric, []).append(one)
    return list(groups.values())


def difference_plots(metrics: Sequence[MetricComparison]) -> Iterator[TextTable]:
    """Yield a table per range of metrics: each difference, its interval drawn, and its outcome."""
    for group in by_range(metrics):
        rows = [row for one in group for row in _rows(one)]
        if not rows:
            continue
        plot = plot_intervals([(found.difference, found.interval) for _, found, _ in rows])
        lines = [
            [name, f"{found.difference:+.4f}", drawn, outcome]
            for (name, found, outcome), drawn in zip(rows, plot.rows, strict=True)
        ]
        pairs = {(pair.a, pair.b) for one in group for pair in one.pairs}
        what = "{1} minus {0}".format(*pairs.pop()) if len(pairs) == 1 else "second minus first"
        headers = ["metric", "difference", plot.axis, "outcome"]
        yield TextTable(headers, lines, f"Differences, {what}, with their intervals")


def _rows(one: MetricComparison) -> Iterator[tuple[str, Difference, str]]:
    """Yield name, difference and outcome of each pair, then of each value of a label."""
    for pair in one.pairs:
        name = one.metric if len(one.pairs) == 1 else f"{one.metric}: {pair.a}, {pair.b}"
        yield name, pair.difference, outcome_text(pair)
        for group in one.by.get((pair.a, pair.b), ()):
            p = f"p={group.p_adjusted:.2g}"
            yield f"{name}, {group.value}", group.difference, p


def outcome_text(pair: SystemPair) -> str:
    """Return the outcome of the second system in words."""
    return "not shown to differ" if pair.outcome == "undecided" else pair.outcome
