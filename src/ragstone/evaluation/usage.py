"""Time, tokens, cost and statuses of a system's answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from ragstone.core import limits
from ragstone.types import ANSWER_STATUSES, Prediction

_Number = TypeVar("_Number", int, float)


@dataclass(frozen=True, slots=True)
class UsageRow:
    """Time, tokens, cost and statuses of one system's answers under one setting.

    `timed` and `counted` are the numbers of answers that report their time and their tokens.
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
    tokens_reasoning: int | None = None
    """Tokens of reasoning among `tokens_out`; None if no answer reports them."""
    queued_p50: float | None = None
    queued_p95: float | None = None
    """Seconds that calls waited in this process before they were sent; None if not known."""
    not_measurable: str = ""
    """Why `seconds_p50` and `seconds_p95` are None although calls were timed; "" if they count."""


def usage_of(predictions: Iterable[Prediction], system: str = "", setting: str = "") -> UsageRow:
    """Return time, tokens, cost and statuses of some answers.

    >>> found = usage_of([Prediction("a", "Lima", seconds=2.0), Prediction("b", None)])
    >>> found.answered, found.failed, found.timed, found.seconds_p50, found.cost
    (1, 1, 1, 2.0, None)
    """
    import numpy as np

    counts, failed, cut = Counter[str](), 0, 0
    seconds, queued, costs = list[float](), list[float](), list[float]()
    tokens_in, tokens_out, reasoning = list[int](), list[int](), list[int]()
    for one in predictions:
        counts[one.status] += 1
        failed += one.answer is None
        cut += bool(one.dropped)
        _add(seconds, one.seconds)
        _add(queued, one.queued)
        _add(costs, one.cost)
        _add(tokens_in, one.tokens_in)
        _add(tokens_out, one.tokens_out)
        _add(reasoning, one.tokens_reasoning)
    median, high = np.percentile(seconds, (50, 95)).tolist() if seconds else (None, None)
    waited, longest = np.percentile(queued, (50, 95)).tolist() if queued else (None, None)
    reason = unmeasurable(median, longest)
    return UsageRow(
        system=system,
        setting=setting,
        answered=counts.total() - failed,
        failed=failed,
        cut=cut,
        statuses={status: counts[status] for status in ANSWER_STATUSES},
        timed=len(seconds),
        seconds_p50=None if reason else median,
        seconds_p95=None if reason else high,
        counted=min(len(tokens_in), len(tokens_out)),
        tokens_in=sum(tokens_in) if tokens_in else None,
        tokens_out=sum(tokens_out) if tokens_out else None,
        cost=sum(costs) if costs else None,
        tokens_reasoning=sum(reasoning) if reasoning else None,
        queued_p50=waited,
        queued_p95=longest,
        not_measurable=reason,
    )


def unmeasurable(median: float | None, queued_p95: float | None) -> str:
    """Return why a latency cannot be told: calls waited too long in this process; "" if it can.

    >>> unmeasurable(0.2, 0.004)
    ''
    >>> unmeasurable(0.2, 0.15)
    'not measurable: calls waited up to 150 ms (p95) in this process, and took 200 ms (median)'
    """
    if median is None or queued_p95 is None:
        return ""
    if queued_p95 <= max(limits.MAX_QUEUED_SHARE * median, limits.MIN_QUEUED_SECONDS):
        return ""
    return (
        f"not measurable: calls waited up to {1000 * queued_p95:,.0f} ms (p95) in this process, "
        f"and took {1000 * median:,.0f} ms (median)"
    )


def _add(values: list[_Number], value: _Number | None) -> None:
    if value is not None:
        values.append(value)
