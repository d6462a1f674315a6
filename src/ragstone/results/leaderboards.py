"""Means, leads, adaptability and cost of an experiment as plain records.

These are pure functions of `StoredResults`, which the terminal, the report and `--json` use.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from ragstone.core import limits
from ragstone.results.by_label import collection_rows
from ragstone.results.reader import Cell, StoredResults, TrialResults
from ragstone.results.record import Attempt, CallsEntry, MetricEntry
from ragstone.results.wording import calls_text, plain_reason, signed
from ragstone.statistics.adaptability import Adaptability, Share
from ragstone.statistics.failures import difference_between
from ragstone.statistics.summary import Summary, few_clusters
from ragstone.types import ANSWER_STATUSES

PART_NAMES: Final[Mapping[str, tuple[str, str]]] = {
    "acceptability": ("Context acceptability", "acceptability"),
    "noise": ("Noise vulnerability: noise", "vulnerable: noise"),
    "miss": ("Noise vulnerability: miss", "vulnerable: miss"),
    "unknown": ("Noise vulnerability: gold unknown", "vulnerable: unknown"),
    "insensitivity": ("Context insensitivity", "insensitivity"),
    "misinterpretation": ("Context misinterpretation", "misinterpretation"),
}
"""Part of an adaptability bar -> its name, and a short name for the header of a column."""

NUMBER_TABLES: Final = ("leaderboard", "retrieval", "adaptability", "usage", "collections")


@dataclass(frozen=True)
class BoardRow:
    """The means of one system: metric -> mean."""

    system: str
    cells: Mapping[str, Summary]
    statuses: Mapping[str, int] = field(default_factory=dict)
    """Status of an answer -> number of queries; empty for retrieval."""
    other_code: bool = False
    """Whether the means rest on steps of other code."""

    @property
    def label(self) -> str:
        """The system, marked if its means rest on steps of other code."""
        return f"{self.system} \N{DAGGER}" if self.other_code else self.system

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
    """Metric -> the systems with the best mean; empty if all are equal or no mean is better."""


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

        If a single conversation differs, the lower bound is about 1e-7, which is not evidence.
        """
        interval = self.difference.interval if self.difference else None
        return interval is not None and round(interval[0], 3) > 0

    @property
    def sentence(self) -> str:
        """The lead over the second best, and whether it may be chance."""
        gap = self.difference
        if gap is None:
            return "No other system was measured."
        if gap.mean is None:
            return f"No query has a value for both this system and {self.runner_up}."
        if gap.interval == (0.0, 0.0):
            return f"Equal to {self.runner_up}: the same value on all of the {gap.n} queries."
        difference = f"{signed(gap)} compared with {self.runner_up} on the same {gap.n} queries"
        if gap.interval is None:
            return f"{difference}: too few for an interval."
        if self.is_clear:
            return f"{difference}; the interval excludes 0."
        return f"{difference}; the interval includes 0, so the difference may be chance."


@dataclass(frozen=True)
class UsageRow:
    """Time and tokens of one system under one setting.

    `timed` and `counted` are the numbers of calls that report their time and their tokens.
    """

    system: str
    setting: str
    answered: int
    failed: int
    cut: int
    """Predictions whose prompt omits history or passages because they did not fit."""
    statuses: Mapping[str, int]
    """Status of an answer (`ragstone.types.ANSWER_STATUSES`) -> number of predictions."""
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
    return [_board(results, setting, results.answer_cells) for setting in results.settings]


def retrieval_board(results: StoredResults) -> Board | None:
    """Return the board of ranking metrics, or None if there are no rankings or metrics."""
    return _board(results, "", results.ranking_cells) if results.ranking_cells else None


def _board(results: StoredResults, setting: str, cells: Sequence[Cell]) -> Board:
    by_system: dict[str, dict[str, Summary]] = {}
    for cell in cells:
        if cell.setting == setting:
            by_system.setdefault(cell.system, {})[cell.metric] = cell.summary
    metrics = tuple(dict.fromkeys(metric for found in by_system.values() for metric in found))
    answers = {t.system: answer_statuses(t) for t in results.trials if t.setting == setting}
    marked = {name for step in results.trusted_code for name in step.results}
    rows = tuple(
        BoardRow(
            system, found, answers.get(system, {}), f"{system} ({setting or 'retrieval'})" in marked
        )
        for system, found in by_system.items()
    )
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
    found = (_lead(results, board, metric) for board in leaderboard(results))
    return [lead for lead in found if lead is not None]


def retrieval_lead(results: StoredResults) -> Lead | None:
    """Return the best retrieval by nDCG@10, or by the first ranking metric without it."""
    board = retrieval_board(results)
    metrics = board.metrics if board else ()
    ranked = [m for m in metrics if results.record.metric(m).direction != "neutral"]
    if board is None or not ranked:
        return None
    return _lead(results, board, "nDCG@10" if "nDCG@10" in ranked else ranked[0])


def _lead(results: StoredResults, board: Board, metric: str) -> Lead | None:
    means = {row.system: mean for row in board.rows if (mean := row.mean(metric)) is not None}
    if not means:
        return None
    lower = results.record.metric(metric).direction == "lower"
    first, *others = sorted(means, key=means.__getitem__, reverse=not lower)
    summary = next(row.cells[metric] for row in board.rows if row.system == first)
    if not others:
        return Lead(board.setting, metric, first, summary)
    setting, second = board.setting, others[0]
    difference = paired_difference(results, metric, (first, setting), (second, setting))
    return Lead(setting, metric, first, summary, second, difference)


def context_gains(results: StoredResults) -> list[Lead]:
    """Return the gain of each system from the gold context over no context.

    In each record `best` is the system and `difference` is `gold` minus `none`, paired by query.
    """
    metric = results.record.correctness_metric
    without = {trial.system for trial in results.trials if trial.setting == "none"}
    gains = []
    for cell in results.answer_cells:
        if (cell.setting, cell.metric) == ("gold", metric) and cell.system in without:
            gap = paired_difference(results, metric, (cell.system, "gold"), (cell.system, "none"))
            gains.append(Lead("gold", metric, cell.system, cell.summary, difference=gap))
    return gains


def gain_sentences(results: StoredResults) -> list[str]:
    """Return the effect of gold context over no context, for the systems with the best means."""
    gains = [gain for gain in context_gains(results) if gain.difference and gain.difference.n]
    best = sorted(gains, key=lambda gain: -(gain.summary.mean or 0.0))[: limits.MAX_GAIN_SENTENCES]
    return [
        f"{gain.best}: gold context changes {gain.metric} by {signed(gap)} compared with no "
        f"context ({gap.n} queries)."
        for gain in gains
        if gain in best and (gap := gain.difference)
    ]


def paired_difference(
    results: StoredResults, metric: str, first: tuple[str, str], second: tuple[str, str]
) -> Summary:
    """Return the mean of `first - second` over the queries that both have a value for.

    `first` and `second` are (system, setting); the setting is empty for ranking metrics.
    """
    measured = {(rows.system, rows.setting): rows for rows in (*results.trials, *results.rankings)}
    mine, others = (measured[key].scores.get(metric, {}) for key in (first, second))
    found = difference_between(others, mine, results.record.scale(metric), results.clusters)
    if found is None:
        return Summary(None, 0)
    return Summary(found.difference, found.n, interval=found.interval)


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


def answer_statuses(trial: TrialResults) -> dict[str, int]:
    """Return status -> number of answers of a trial, for every status."""
    found = Counter(prediction.status for prediction in trial.predictions.values())
    return {status: found[status] for status in ANSWER_STATUSES}


def shown_statuses(rows: Iterable[BoardRow | UsageRow]) -> list[str]:
    """Return the statuses that a table has columns for, besides `answered` and `failed`."""
    listed = list(rows)
    others = (status for status in ANSWER_STATUSES if status not in {"answered", "failed"})
    return [s for s in others if any(row.statuses.get(s) for row in listed)]


def warnings(results: StoredResults) -> list[str]:
    """Return sentences on few clusters and on failures per system and judge, with reasons."""
    return [*_warnings(results), *_judge_warnings(results)]


def _judge_warnings(results: StoredResults) -> Iterator[str]:
    made = [
        m
        for m in results.manifests.values()
        if m["step"] == "judge" and m.get("reasons") and m["failed"]
    ]
    for name in dict.fromkeys(m["made_by"]["component"] for m in made):
        mine = [m for m in made if m["made_by"]["component"] == name]
        failed = sum(m["failed"] for m in mine)
        reasons = sum((Counter(m["reasons"]) for m in mine), Counter[str]())
        reason = plain_reason(max(reasons, key=reasons.__getitem__))
        yield f"{failed:,} verdicts of `{name.rpartition('/')[2]}` failed: {reason}"


def _warnings(results: StoredResults) -> Iterator[str]:
    if sentence := few_clusters(results.clusters.values()):
        yield sentence
    for system in results.systems:
        given = [p for t in results.trials if t.system == system for p in t.predictions.values()]
        reasons = Counter(plain_reason(p.reason) for p in given if p.answer is None)
        missing = reasons.total()
        if missing:
            reason, count = reasons.most_common(1)[0]
            share = "" if count == missing else f" ({count:,} of them)"
            yield (
                f"{missing:,} of {len(given):,} calls of `{system}` have no answer: {reason}{share}"
            )


def usage_rows(results: StoredResults) -> list[UsageRow]:
    """Return time and tokens of every trial."""
    return [_usage(trial) for trial in results.trials]


def _usage(trial: TrialResults) -> UsageRow:
    import numpy as np

    predictions = list(trial.predictions.values())
    seconds = [p.seconds for p in predictions if p.seconds is not None]
    tokens_in = [p.tokens_in for p in predictions if p.tokens_in is not None]
    tokens_out = [p.tokens_out for p in predictions if p.tokens_out is not None]
    costs = [p.cost for p in predictions if p.cost is not None]
    median, high = np.percentile(seconds, (50, 95)).tolist() if seconds else (None, None)
    return UsageRow(
        system=trial.system,
        setting=trial.setting,
        answered=sum(p.answer is not None for p in predictions),
        failed=sum(p.answer is None for p in predictions),
        cut=sum(bool(p.dropped) for p in predictions),
        statuses=answer_statuses(trial),
        timed=len(seconds),
        seconds_p50=median,
        seconds_p95=high,
        counted=min(len(tokens_in), len(tokens_out)),
        tokens_in=sum(tokens_in) if tokens_in else None,
        tokens_out=sum(tokens_out) if tokens_out else None,
        cost=sum(costs) if costs else None,
    )


def calls_lines(results: StoredResults) -> list[str]:
    """Return a line per system that is called: the replies asked for, kept and failed."""
    calls: dict[str, list[CallsEntry]] = {}
    for entry in results.record.calls:
        calls.setdefault(entry.system, []).append(entry)
    return [calls_text(entries) for entries in calls.values()]


def results_document(results: StoredResults) -> dict[str, Any]:
    """Return the tables as plain data, numbers unrounded (`--json`; docs/report.md)."""
    return {
        "name": results.name,
        "finished": results.record.finished,
        "attempt": _attempt_document(results.attempt),
        "data": asdict(results.record.data),
        "systems": results.systems,
        "settings": results.settings,
        "correct": results.record.correctness_metric,
        **{name: number_table(results, name) for name in NUMBER_TABLES},
        "warnings": warnings(results),
        "calls": [asdict(entry) for entry in results.record.calls],
        "notes": [asdict(note) for note in results.notes],
        "trusted_code": [asdict(step) for step in results.trusted_code],
        "steps": [asdict(entry) for entry in results.record.steps],
        "failures": [asdict(note) for note in results.failures],
    }


def number_table(results: StoredResults, name: str) -> list[dict[str, Any]]:
    """Return one of `NUMBER_TABLES`, unrounded."""
    if name == "adaptability":
        return [
            {"system": row.system, "setting": row.setting, **_document(row.adaptability)}
            for row in results.adaptability
        ]
    if name == "collections":
        return collection_rows(results)
    if name == "usage":
        return [asdict(row) for row in usage_rows(results)]
    cells = results.answer_cells if name == "leaderboard" else results.ranking_cells
    return [_cell_document(cell) for cell in cells]


def _cell_document(cell: Cell) -> dict[str, Any]:
    head = {"system": cell.system, "setting": cell.setting, "metric": cell.metric}
    return head | asdict(cell.summary)


def _attempt_document(attempt: Attempt | None) -> dict[str, Any] | None:
    facts = asdict(attempt).items() if attempt else ()
    return {key: value for key, value in facts if key not in ("after", "format")} or None


def _document(found: Adaptability) -> dict[str, Any]:
    document = asdict(found) | {"left_out": found.reasons}
    return {key: value for key, value in document.items() if key not in ("overall", "items")}
