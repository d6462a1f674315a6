"""What is shown of results, as plain records: boards of means, shares, leads, and cost.

Pure functions of `StoredResults`; the terminal, the report and `--json` all show these.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from ragstone.statistics.summary import Summary, summarise

if TYPE_CHECKING:
    from ragstone.results.reader import AdaptabilityRow, Cell, StoredResults, TrialResults
    from ragstone.results.record import MetricEntry
    from ragstone.statistics.adaptability import Share
    from ragstone.types import Prediction, Score

PART_NAMES: Final[Mapping[str, tuple[str, str]]] = {
    "acceptability": ("Context acceptability", "acceptability"),
    "noise": ("Noise vulnerability: noise", "vulnerable: noise"),
    "miss": ("Noise vulnerability: miss", "vulnerable: miss"),
    "unknown": ("Noise vulnerability: gold unknown", "vulnerable: unknown"),
    "insensitivity": ("Context insensitivity", "insensitivity"),
    "misinterpretation": ("Context misinterpretation", "misinterpretation"),
}
"""Segment of an adaptability bar -> its name, and its name where there is little room."""


@dataclass(frozen=True)
class BoardRow:
    """One system's means; a metric that it was not measured by is absent."""

    system: str
    cells: Mapping[str, Summary]


@dataclass(frozen=True)
class Board:
    """Systems x metrics under one setting; the setting is empty for retrieval."""

    setting: str
    metrics: tuple[str, ...]
    rows: tuple[BoardRow, ...]
    best: Mapping[str, frozenset[str]]
    """Metric -> the systems with the highest mean; empty where there is nothing to compare."""


@dataclass(frozen=True)
class Part:
    """One segment of an adaptability bar."""

    key: str
    label: str
    short: str
    share: Share


@dataclass(frozen=True)
class SharesRow:
    """The adaptability of one system under one mixed setting, as parts that sum to 1."""

    system: str
    setting: str
    n: int
    left_out: int
    reasons: Mapping[str, int]
    parts: tuple[Part, ...]
    row: AdaptabilityRow


@dataclass(frozen=True)
class Lead:
    """The best system by one metric, and how far ahead of the next one it is."""

    setting: str
    metric: str
    best: str
    summary: Summary
    runner_up: str = ""
    difference: Summary | None = None
    """Mean of the paired differences on the queries that both have a score for."""

    @property
    def tells_apart(self) -> bool:
        """Whether the interval of the difference leaves out 0, to the three decimals shown.

        Where one conversation alone differs, the lower bound is some 1e-7: that tells nothing.
        """
        interval = self.difference.interval if self.difference else None
        return interval is not None and round(interval[0], 3) > 0


@dataclass(frozen=True)
class Usage:
    """Time and tokens of one system under one setting, over the calls that say them."""

    system: str
    setting: str
    answered: int
    failed: int
    cut: int
    """Predictions that say something was dropped: history or passages for want of room."""
    timed: int
    seconds_p50: float | None
    seconds_p95: float | None
    counted: int
    tokens_in: int | None
    tokens_out: int | None
    cost: float | None
    """Sum of the known costs; None where no price is known."""


def leaderboard(results: StoredResults) -> list[Board]:
    """Return one board per setting, systems and metrics in the experiment's order."""
    return [
        _board(results, setting, [c for c in results.answer_cells if c.setting == setting])
        for setting in results.settings
    ]


def retrieval_board(results: StoredResults) -> Board | None:
    """Return the board of ranking metrics; None where no system retrieves or none was measured."""
    cells = results.ranking_cells
    return _board(results, "", cells) if cells else None


def _board(results: StoredResults, setting: str, cells: Sequence[Cell]) -> Board:
    held: dict[str, dict[str, Summary]] = {}
    for cell in cells:
        held.setdefault(cell.system, {})[cell.metric] = cell.summary
    metrics = tuple(dict.fromkeys(cell.metric for cell in cells))
    rows = tuple(BoardRow(system, found) for system, found in held.items())
    best = {metric: _best(results.record.metric(metric), rows) for metric in metrics}
    return Board(setting, metrics, rows, best)


def _best(metric: MetricEntry, rows: Iterable[BoardRow]) -> frozenset[str]:
    means = {
        row.system: mean
        for row in rows
        if metric.name in row.cells and (mean := row.cells[metric.name].mean) is not None
    }
    if len(means) < 2 or metric.direction == "neutral":  # noqa: PLR2004 - one has no rival
        return frozenset()
    top = (max if metric.direction == "higher" else min)(means.values())
    best = frozenset(system for system, mean in means.items() if mean == top)
    return best if len(best) < len(means) else frozenset()


def leads(results: StoredResults) -> list[Lead]:
    """Return the best system under each setting by the metric that says what is right."""
    metric = results.record.correctness_metric
    found = []
    for setting in results.settings:
        trials = [t for t in results.trials if t.setting == setting and metric in t.scores]
        lead = _lead(results, setting, metric, {t.system: t.scores[metric] for t in trials})
        if lead is not None:
            found.append(lead)
    return found


def retrieval_lead(results: StoredResults) -> Lead | None:
    """Return the best retrieval by the chief ranking metric: nDCG@10, else the first one."""
    board = retrieval_board(results)
    ranked = [
        metric
        for metric in (board.metrics if board else ())
        if results.record.metric(metric).direction != "neutral"
    ]
    if not ranked:
        return None
    metric = "nDCG@10" if "nDCG@10" in ranked else ranked[0]
    scores = {r.system: r.scores[metric] for r in results.rankings if metric in r.scores}
    return _lead(results, "", metric, scores)


def _lead(
    results: StoredResults, setting: str, metric: str, scores: Mapping[str, Mapping[str, Score]]
) -> Lead | None:
    cells = results.answer_cells if setting else results.ranking_cells
    means = {
        cell.system: cell.summary
        for cell in cells
        if cell.setting == setting and cell.metric == metric and cell.summary.mean is not None
    }
    sign = 1 if results.record.metric(metric).direction == "lower" else -1
    order = sorted(means, key=lambda system: sign * (means[system].mean or 0.0))
    if not order:
        return None
    if len(order) == 1:
        return Lead(setting, metric, order[0], means[order[0]])
    first, second = order[:2]
    gap = paired_difference(results, scores[first], scores[second])
    return Lead(setting, metric, first, means[first], second, gap)


def context_gains(results: StoredResults, setting: str = "gold") -> list[Lead]:
    """Return, per system, how much better it answers under `setting` than without context.

    In each record `best` is the system; `difference` is `setting` minus `none`, pair by pair.
    """
    metric = results.record.correctness_metric
    held = {(t.system, t.setting): t.scores.get(metric, {}) for t in results.trials}
    summaries = {
        c.system: c.summary
        for c in results.answer_cells
        if c.setting == setting and c.metric == metric
    }
    return [
        Lead(
            setting,
            metric,
            system,
            summaries[system],
            difference=paired_difference(results, held[(system, setting)], held[(system, "none")]),
        )
        for system in results.systems
        if system in summaries and (system, "none") in held
    ]


def paired_difference(
    results: StoredResults, first: Mapping[str, Score], second: Mapping[str, Score]
) -> Summary:
    """Return the mean of `first - second` over the queries that both have a value for."""
    pairs = [
        (query_id, score.value - second[query_id].value)  # type: ignore[operator]  # both checked
        for query_id, score in first.items()
        if score.value is not None and query_id in second and second[query_id].value is not None
    ]
    return summarise(
        [gap for _, gap in pairs], clusters=[results.clusters[query_id] for query_id, _ in pairs]
    )


def shares_rows(results: StoredResults) -> list[SharesRow]:
    """Return the adaptability rows, each with the segments of its bar."""
    return [
        SharesRow(
            row.system,
            row.setting,
            row.adaptability.n,
            len(row.adaptability.left_out),
            row.adaptability.reasons,
            _parts(row),
            row,
        )
        for row in results.adaptability
    ]


def _parts(row: AdaptabilityRow) -> tuple[Part, ...]:
    from ragstone.statistics.adaptability import Share

    found = row.adaptability
    vulnerable = found.noise_vulnerability
    unknown = vulnerable.count - found.vulnerability_miss.count - found.vulnerability_noise.count
    parts = [
        ("acceptability", found.context_acceptability),
        ("noise", found.vulnerability_noise),
        ("miss", found.vulnerability_miss),
        ("unknown", Share(unknown, unknown / found.n if found.n else None, None)),
        ("insensitivity", found.context_insensitivity),
        ("misinterpretation", found.context_misinterpretation),
    ]
    return tuple(
        Part(key, *PART_NAMES[key], share) for key, share in parts if key != "unknown" or unknown
    )


def usage_rows(results: StoredResults) -> list[Usage]:
    """Return time and tokens of every trial."""
    return [_usage(trial) for trial in results.trials]


def _usage(trial: TrialResults) -> Usage:
    held: list[Prediction] = list(trial.predictions.values())
    seconds = [p.seconds for p in held if p.seconds is not None]
    tokens_in = [p.tokens_in for p in held if p.tokens_in is not None]
    tokens_out = [p.tokens_out for p in held if p.tokens_out is not None]
    costs = [p.cost for p in held if p.cost is not None]
    return Usage(
        system=trial.system,
        setting=trial.setting,
        answered=sum(p.answer is not None for p in held),
        failed=sum(p.answer is None for p in held),
        cut=sum(bool(p.dropped) for p in held),
        timed=len(seconds),
        seconds_p50=_percentile(seconds, 50),
        seconds_p95=_percentile(seconds, 95),
        counted=min(len(tokens_in), len(tokens_out)),
        tokens_in=sum(tokens_in) if tokens_in else None,
        tokens_out=sum(tokens_out) if tokens_out else None,
        cost=sum(costs) if costs else None,
    )


def _percentile(values: Sequence[float], level: float) -> float | None:
    import numpy as np

    return float(np.percentile(values, level)) if values else None


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
        "adaptability": [_shares_document(row) for row in shares_rows(results)],
        "usage": [asdict(row) for row in usage_rows(results)],
        "notes": [asdict(note) for note in results.notes],
    }


def _cell_document(cell: Cell) -> dict[str, Any]:
    head = {"system": cell.system, "setting": cell.setting, "metric": cell.metric}
    return head | asdict(cell.summary)


def _shares_document(row: SharesRow) -> dict[str, Any]:
    found = row.row.adaptability
    split = (
        "vulnerability_miss",
        "vulnerability_noise",
        "acceptability_grounded",
        "acceptability_without_gold",
    )
    return {
        "system": row.system,
        "setting": row.setting,
        "n": row.n,
        "left_out": dict(row.reasons),
        **{name: asdict(share) for name, share in found.shares.items()},
        **{name: asdict(getattr(found, name)) for name in split},
        "gold_unknown": found.gold_unknown,
    }
