"""`ragstone sensitivity`: the spread over prompts or judges, and whether the order changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from ragstone.core.tables import TextTable
from ragstone.core.text_plot import plot_intervals
from ragstone.errors import ConfigError
from ragstone.results.crossed.notes import cluster_note, status_notes
from ragstone.results.crossed.report import PLOT, CrossedReport
from ragstone.results.crossed.scores import JUDGE, METRIC, CrossedScores
from ragstone.results.wording import interval_text, number
from ragstone.statistics.effects import DATA
from ragstone.statistics.ranking_agreement import PERSISTENCE
from ragstone.statistics.sensitivity import Sensitivity, sensitivity
from ragstone.types import brief

DEFAULT_OVER: Final = ("prompt", JUDGE, METRIC, DATA)
"""Factors on which the order of systems should not depend."""


@dataclass(frozen=True)
class SensitivityReport(CrossedReport):
    """How much a metric depends on choices."""

    found: tuple[Sensitivity, ...]
    persistence: float

    def __repr__(self) -> str:
        """Return one line: the metric and the choices."""
        over = ", ".join(one.factor for one in self.found)
        return brief(self, self.scores.metric, f"over {over}")

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, numbers unrounded; docs/effects.md lists the keys."""
        return {
            "metric": self.scores.metric,
            "confidence": self.confidence,
            "persistence": self.persistence,
            **self.without_value,
            "over": [_document(one) for one in self.found],
            "notes": list(self.notes),
        }

    def tables(self) -> Iterator[str | TextTable]:
        """Yield the spread and the agreement of each choice."""
        for one in self.found:
            yield (
                f"{self.scores.metric} over {one.factor}: {len(one.levels)} levels, "
                f"{len(one.systems)} systems, {one.n:,} queries"
            )
            if one.spreads:
                yield _spread_table(one)
            if one.agreements:
                yield _agreement_table(one)
                yield _order_table(one)


def make_sensitivity(
    scores: CrossedScores,
    over: Sequence[str] = (),
    *,
    persistence: float = PERSISTENCE,
    confidence: float = 0.95,
    seed: int = 0,
) -> SensitivityReport:
    """Return the report on some scores; by default over all of `DEFAULT_OVER` that vary.

    Raises:
        ConfigError: nothing of `over` varies, or a probability is not between 0 and 1.
        DatasetError: no query has a score in every cell, or no system is under all levels.
    """
    varied = [*scores.factors, *([DATA] if len(set(scores.data)) > 1 else [])]
    chosen = over or [name for name in DEFAULT_OVER if name in varied]
    unknown = [name for name in chosen if name not in varied]
    if unknown or not chosen:
        wanted = ", ".join(unknown or DEFAULT_OVER)
        raise ConfigError(
            f"these results have not two levels of {wanted}; what varies: "
            f"{', '.join(varied) or 'nothing'}. Name one: --over NAME",
            key="over",
        )
    several = {METRIC, JUDGE} & set(scores.factors)
    found = []
    for name in chosen:
        # A system has one score per query: other choices are compared by the first metric alone.
        of = scores if name in several else scores.first()
        pooled = name == DATA and of.same_queries
        one = sensitivity(
            of.design(pooled=pooled),
            name,
            higher_is_better=_directions(scores, name),
            persistence=persistence,
            confidence=confidence,
            seed=seed,
        )
        # A mean of one metric cannot be subtracted from that of another one.
        found.append(replace(one, spreads=()) if name == METRIC else one)
    notes = tuple(dict.fromkeys((*_notes(scores, found), *scores.notes)))
    return SensitivityReport(scores, confidence, notes, tuple(found), persistence)


def _directions(scores: CrossedScores, name: str) -> dict[str, bool]:
    """Return level -> whether a higher score is better; only metrics and judges differ in that."""
    if name in (METRIC, JUDGE):
        return dict(scores.higher)
    levels = scores.data if name == DATA else scores.factors[name]
    return dict.fromkeys(levels, scores.higher[scores.metrics[0]])


def _notes(scores: CrossedScores, found: Sequence[Sensitivity]) -> Iterator[str]:
    """Yield the notes on the numbers."""
    for one in found:
        if one.left_out:
            yield (
                f"{one.factor}: {one.left_out:,} queries are left out, because some cell has no "
                "score of them."
            )
        if one.factor == METRIC:
            yield "Metrics have different scales: only the orders of the systems are compared."
        if one.factor == DATA and not one.spreads:
            yield "The data sets have different queries: only the orders are compared."
    if {METRIC, JUDGE} & set(scores.factors) and len(found) > 1:
        yield f"Other choices are compared by {scores.metrics[0]} alone."
    if "setting" in scores.factors and not any(one.factor == "setting" for one in found):
        yield "The settings are part of the systems; --setting chooses one."
    yield from status_notes(scores)
    if warning := cluster_note(scores):
        yield warning


def _document(one: Sensitivity) -> dict[str, Any]:
    return {
        "factor": one.factor,
        "levels": list(one.levels),
        "systems": list(one.systems),
        "n": one.n,
        "left_out": one.left_out,
        "spread": [
            {
                "system": spread.system,
                "means": [
                    dict(zip(("level", "mean", "interval"), m, strict=True)) for m in spread.means
                ],
                "range": spread.range,
                "range_interval": spread.range_interval,
                "sd": spread.deviation,
                "sd_interval": spread.deviation_interval,
            }
            for spread in one.spreads
        ],
        "agreements": [asdict(pair) for pair in one.agreements],
        "samples": [asdict(sample) for sample in one.samples],
        "orders": {level: list(order) for level, order in one.orders},
    }


def _spread_table(one: Sensitivity) -> TextTable:
    drawn = plot_intervals([(s.range, s.range_interval) for s in one.spreads], width=PLOT)
    headers = ["system", "lowest", "highest", "range", drawn.axis, "SD"]
    rows = []
    for spread, line in zip(one.spreads, drawn.rows, strict=True):
        low = min(spread.means, key=lambda level: level[1])
        high = max(spread.means, key=lambda level: level[1])
        rows.append(
            [
                spread.system,
                f"{number(low[1])} {low[0]}",
                f"{number(high[1])} {high[0]}",
                f"{number(spread.range)}{interval_text(spread.range_interval)}",
                line,
                f"{number(spread.deviation)}{interval_text(spread.deviation_interval)}",
            ]
        )
    return TextTable(headers, rows, f"Spread over {one.factor}", drawn=4)


def _agreement_table(one: Sensitivity) -> TextTable:
    pairs = one.agreements
    values = [None if pair.tau is None else (pair.tau, pair.tau_interval) for pair in pairs]
    values += [(sample.tau, sample.tau_interval) for sample in one.samples]
    drawn = plot_intervals(values, marks=(0.0, 1.0), width=PLOT)
    headers = [one.factor, "and", "tau", drawn.axis, "RBO", "pairs in another order"]
    rows: list[list[object]] = [
        [
            pair.a,
            pair.b,
            f"{number(pair.tau)}{interval_text(pair.tau_interval)}",
            line,
            f"{number(pair.rbo)}{interval_text(pair.rbo_interval)}",
            f"{pair.swapped} of {pair.systems * (pair.systems - 1) // 2}",
        ]
        for pair, line in zip(pairs, drawn.rows, strict=False)
    ]
    rows += [
        [
            sample.level,
            "another sample of queries",
            f"{number(sample.tau)}{interval_text(sample.tau_interval)}",
            line,
            f"{number(sample.rbo)}{interval_text(sample.rbo_interval)}",
            "",
        ]
        for sample, line in zip(one.samples, drawn.rows[len(pairs) :], strict=True)
    ]
    title = "Agreement of the orders of systems (Kendall's tau-b, rank-biased overlap)"
    return TextTable(headers, rows, title, drawn=3)


def _order_table(one: Sensitivity) -> TextTable:
    orders = [order for _, order in one.orders]
    rows = [[rank, *names] for rank, names in enumerate(zip(*orders, strict=True), 1)]
    return TextTable(["rank", *(level for level, _ in one.orders)], rows, "The orders, best first")
