"""The calls of an experiment: statuses of the answers, time, tokens and cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from ragstone.results.reader import StoredResults
from ragstone.results.record import CallsEntry
from ragstone.results.scored_rows import TrialResults
from ragstone.results.wording import calls_text
from ragstone.types import ANSWER_STATUSES


class _WithStatuses(Protocol):
    @property
    def statuses(self) -> Mapping[str, int]: ...


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


def answer_statuses(trial: TrialResults) -> dict[str, int]:
    """Return status -> number of answers of a trial, for every status."""
    found = Counter(prediction.status for prediction in trial.predictions.values())
    return {status: found[status] for status in ANSWER_STATUSES}


def shown_statuses(rows: Iterable[_WithStatuses]) -> list[str]:
    """Return the statuses that a table has columns for, besides `answered` and `failed`."""
    listed = list(rows)
    others = (status for status in ANSWER_STATUSES if status not in {"answered", "failed"})
    return [s for s in others if any(row.statuses.get(s) for row in listed)]


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
