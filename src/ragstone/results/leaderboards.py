"""Means, leads, adaptability and cost of an experiment as plain records.

These are pure functions of `StoredResults`, which the terminal, the report and `--json` use.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from ragstone.results.reader import Cell, StoredResults, TrialResults
from ragstone.results.record import MetricEntry
from ragstone.statistics.adaptability import Adaptability, Share
from ragstone.statistics.summary import Summary, summarise
from ragstone.types import Score

PART_NAMES: Final[Mapping[str, tuple[str, str]]] = {
    "acceptability": ("Context acceptability", "acceptability"),
    "noise": ("Noise vulnerability: noise", "vulnerable: noise"),
    "miss": ("Noise vulnerability: miss", "vulnerable: miss"),
    "unknown": ("Noise vulnerability: gold unknown", "vulnerable: unknown"),
    "insensitivity": ("Context insensitivity", "insensitivity"),
    "misinterpretation": ("Context misinterpretation", "misinterpretation"),
}
"""Part of an adaptability bar -> its name, and a short name for the header of a column."""


@dataclass(frozen=True)
class BoardRow:
    """The means of one system: metric -> mean."""

    system: str
    cells: Mapping[str, Summary]

    def mean(self, metric: str) -> float | None:
        """Return the mean of a metric, or None if there is none."""
        return self.cells[metric].mean if metric in self.cells else None


@dataclass(frozen=True)
class Board:
    """Systems x metrics under one setting; the setting is empty for retrieval."""

    setting: str
    metrics: tuple[str, ...]
    rows: tuple[BoardRow, ...]
    best: Mapping[str, frozenset[str]]
    """Metric -> the systems with the best mean; empty if there is no other system."""


@dataclass(frozen=True)
class Lead:
    """The best system by one metric, and its lead over the second best."""

    setting: str
    metric: str
    best: str
    summary: Summary
    runner_up: str = ""
    difference: Summary | None = None
    """Mean of the paired differences over the queries that both systems have a value for."""

    @property
    def is_clear(self) -> bool:
        """Whether the interval of the difference is above 0 in the three decimals shown.

        If a single conversation differs, the lower bound is about 1e-7, which is no evidence.
        """
        interval = self.difference.interval if self.difference else None
        return interval is not None and round(interval[0], 3) > 0


@dataclass(frozen=True)
class Usage:
    """Time and tokens of one system under one setting.

    `timed` and `counted` are the numbers of calls that report their time and their tokens.
    """

    system: str
    setting: str
    answered: int
    failed: int
    cut: int
    """Predictions whose prompt omits history or passages because they did not fit."""
    timed: int
    seconds_p50: float | None
    seconds_p95: float | None
    counted: int
    tokens_in: int | None
    tokens_out: int | None
    cost: float | None
    """Sum of the known costs; None if no price is known."""


def leaderboard(results: StoredResults) -> list[Board]:
    """Return one board per setting; systems and metrics are in the experiment's order."""
    return [
        _board(results, setting, [c for c in results.answer_cells if c.setting == setting])
        for setting in results.settings
    ]


def retrieval_board(results: StoredResults) -> Board | None:
    """Return the board of ranking metrics, or None if there are no rankings or metrics."""
    cells = results.ranking_cells
    return _board(results, "", cells) if cells else None


def _board(results: StoredResults, setting: str, cells: Sequence[Cell]) -> Board:
    by_system: dict[str, dict[str, Summary]] = {}
    for cell in cells:
        by_system.setdefault(cell.system, {})[cell.metric] = cell.summary
    metrics = tuple(dict.fromkeys(cell.metric for cell in cells))
    rows = tuple(BoardRow(system, found) for system, found in by_system.items())
    best = {metric: _best(results.record.metric(metric), rows) for metric in metrics}
    return Board(setting, metrics, rows, best)


def _best(metric: MetricEntry, rows: Iterable[BoardRow]) -> frozenset[str]:
    means = {row.system: mean for row in rows if (mean := row.mean(metric.name)) is not None}
    if not means or metric.direction == "neutral":
        return frozenset()
    top = (max if metric.direction == "higher" else min)(means.values())
    best = frozenset(system for system, mean in means.items() if mean == top)
    return best if len(best) < len(means) else frozenset()


def leads(results: StoredResults) -> list[Lead]:
    """Return the best system under each setting by the correctness metric."""
    metric = results.record.correctness_metric
    found = []
    for board in leaderboard(results):
        trials = [trial for trial in results.trials if trial.setting == board.setting]
        scores = {trial.system: trial.scores.get(metric, {}) for trial in trials}
        found.append(_lead(results, board, metric, scores))
    return [lead for lead in found if lead is not None]


def retrieval_lead(results: StoredResults) -> Lead | None:
    """Return the best retrieval by nDCG@10, or by the first ranking metric without it."""
    board = retrieval_board(results)
    if board is None:
        return None
    ranked = [m for m in board.metrics if results.record.metric(m).direction != "neutral"]
    if not ranked:
        return None
    metric = "nDCG@10" if "nDCG@10" in ranked else ranked[0]
    scores = {run.system: run.scores.get(metric, {}) for run in results.rankings}
    return _lead(results, board, metric, scores)


def _lead(
    results: StoredResults, board: Board, metric: str, scores: Mapping[str, Mapping[str, Score]]
) -> Lead | None:
    means = {row.system: mean for row in board.rows if (mean := row.mean(metric)) is not None}
    if not means:
        return None
    lower = results.record.metric(metric).direction == "lower"
    first, *others = sorted(means, key=means.__getitem__, reverse=not lower)
    summary = next(row.cells[metric] for row in board.rows if row.system == first)
    if not others:
        return Lead(board.setting, metric, first, summary)
    gap = paired_difference(results, scores[first], scores[others[0]])
    return Lead(board.setting, metric, first, summary, others[0], gap)


def context_gains(results: StoredResults) -> list[Lead]:
    """Return the gain of each system from the gold context over no context.

    In each record `best` is the system and `difference` is `gold` minus `none`, paired by query.
    """
    metric = results.record.correctness_metric
    scores = {(t.system, t.setting): t.scores.get(metric, {}) for t in results.trials}
    gains = []
    for cell in results.answer_cells:
        none, gold = (cell.system, "none"), (cell.system, "gold")
        if (cell.setting, cell.metric) == ("gold", metric) and none in scores:
            gap = paired_difference(results, scores[gold], scores[none])
            gains.append(Lead("gold", metric, cell.system, cell.summary, difference=gap))
    return gains


def paired_difference(
    results: StoredResults, first: Mapping[str, Score], second: Mapping[str, Score]
) -> Summary:
    """Return the mean of `first - second` over the queries that both have a value for."""
    gaps = {
        query_id: score.value - other
        for query_id, score in first.items()
        if score.value is not None
        and query_id in second
        and (other := second[query_id].value) is not None
    }
    return summarise(list(gaps.values()), clusters=[results.clusters[q] for q in gaps])


def bar_parts(found: Adaptability) -> dict[str, Share]:
    """Return the parts of an adaptability bar by the keys of `PART_NAMES`; they sum to 1."""
    noise, miss = found.vulnerability_noise, found.vulnerability_miss
    unknown = found.noise_vulnerability.count - noise.count - miss.count
    parts = {
        "acceptability": found.context_acceptability,
        "noise": noise,
        "miss": miss,
        "unknown": Share(unknown, unknown / found.n if found.n else None, None),
        "insensitivity": found.context_insensitivity,
        "misinterpretation": found.context_misinterpretation,
    }
    return {key: share for key, share in parts.items() if key != "unknown" or unknown}


def usage_rows(results: StoredResults) -> list[Usage]:
    """Return time and tokens of every trial."""
    return [_usage(trial) for trial in results.trials]


def _usage(trial: TrialResults) -> Usage:
    import numpy as np

    predictions = list(trial.predictions.values())
    seconds = [p.seconds for p in predictions if p.seconds is not None]
    tokens_in = [p.tokens_in for p in predictions if p.tokens_in is not None]
    tokens_out = [p.tokens_out for p in predictions if p.tokens_out is not None]
    costs = [p.cost for p in predictions if p.cost is not None]
    median, high = np.percentile(seconds, (50, 95)).tolist() if seconds else (None, None)
    return Usage(
        system=trial.system,
        setting=trial.setting,
        answered=sum(p.answer is not None for p in predictions),
        failed=sum(p.answer is None for p in predictions),
        cut=sum(bool(p.dropped) for p in predictions),
        timed=len(seconds),
        seconds_p50=median,
        seconds_p95=high,
        counted=min(len(tokens_in), len(tokens_out)),
        tokens_in=sum(tokens_in) if tokens_in else None,
        tokens_out=sum(tokens_out) if tokens_out else None,
        cost=sum(costs) if costs else None,
    )


def results_document(results: StoredResults) -> dict[str, Any]:
    """Return the tables as plain data, numbers unrounded (`--json`; docs/report.md)."""
    return {
        "name": results.name,
        "finished": results.record.finished,
        "data": asdict(results.record.data),
        "systems": results.systems,
        "settings": results.settings,
        "correct": results.record.correctness_metric,
        "leaderboard": [_cell_document(cell) for cell in results.answer_cells],
        "retrieval": [_cell_document(cell) for cell in results.ranking_cells],
        "adaptability": [
            {"system": row.system, "setting": row.setting, **_document(row.adaptability)}
            for row in results.adaptability
        ],
        "usage": [asdict(row) for row in usage_rows(results)],
        "notes": [asdict(note) for note in results.notes],
    }


def _cell_document(cell: Cell) -> dict[str, Any]:
    head = {"system": cell.system, "setting": cell.setting, "metric": cell.metric}
    return head | asdict(cell.summary)


def _document(found: Adaptability) -> dict[str, Any]:
    document = asdict(found) | {"left_out": found.reasons}
    return {key: value for key, value in document.items() if key not in ("overall", "items")}
