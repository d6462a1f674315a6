"""Prediction-powered inference: a system's score from a few human labels and many judged items.

A judge's mean is off by the judge's bias. On the items that people labelled too the bias is known,
with its uncertainty; taking it off gives a mean whose interval covers the truth whatever the judge
is like, and is narrower than that of the human labels alone as far as the judge is right.

Angelopoulos et al., "Prediction-powered inference", Science 382 (2023), and "PPI++" (2023) for the
tuning: the judge is trusted by the factor that makes the interval shortest, 0 to 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ragstone.errors import DatasetError
from ragstone.statistics.bootstrap import Floats
from ragstone.statistics.proportions import t_quantile
from ragstone.statistics.summary import check_confidence, present

FEWEST: Final = 5
"""Human labels below which no interval is given."""
_PSEUDO: Final = 1
"""Pseudo-observations of an error: among few labels, no error seen is not no error."""


@dataclass(frozen=True, slots=True)
class Calibrated:
    """A system's score, corrected for the judge's bias."""

    mean: float
    interval: tuple[float, float]
    judge_mean: float
    """The raw mean of the judge over all items: to be shown beside, not instead."""
    human_mean: float
    human_interval: tuple[float, float]
    """From the human labels alone."""
    bias: float
    """Judge less people, on the items that both graded."""
    trust: float
    """From 0 (the judge's values are of no use) to 1."""
    labelled: int
    judged: int
    """Items that only the judge graded."""
    left_out: int
    """Items that lack a value of the judge, or of people where they should have one."""


def calibrated_mean(
    human: Sequence[float | None],
    judge: Sequence[float | None],
    judge_only: Sequence[float | None],
    *,
    confidence: float = 0.95,
    bounds: tuple[float, float] | None = (0.0, 1.0),
) -> Calibrated:
    """Return the mean that people would give, from labels of some items and verdicts on all.

    Args:
        human: people's values of the labelled items, drawn at random from all items.
        judge: the judge's values of the same items.
        judge_only: the judge's values of the other items.
        confidence: of the intervals.
        bounds: what a value can be; the mean and its interval are kept within.

    Raises:
        DatasetError: unequal lengths, fewer than five labelled items, no other item.

    >>> found = calibrated_mean([1, 0, 1, 1, 0, 1], [1, 1, 1, 1, 0, 1], [1, 1, 0, 1] * 50)
    >>> round(found.judge_mean, 3), round(found.mean, 3), found.labelled, found.judged
    (0.752, 0.618, 6, 200)
    """
    check_confidence(confidence)
    labelled, verdicts = _both(human, judge)
    others, _ = present(judge_only, "judge_only")
    if len(labelled) < FEWEST or not len(others):
        raise DatasetError(
            f"{len(labelled)} items that people and the judge graded and {len(others)} that only "
            f"the judge did; at least {FEWEST} and 1 are needed"
        )
    span = bounds[1] - bounds[0] if bounds else 0.0
    trust = _trust(labelled, verdicts, others)
    rectified = labelled - trust * verdicts
    mean = float(trust * others.mean() + rectified.mean())
    spread = _variance(rectified, span) / len(labelled)
    spread += trust**2 * float(others.var()) / len(others)
    half = t_quantile((1 + confidence) / 2, len(labelled) - 1) * math.sqrt(spread)
    alone = t_quantile((1 + confidence) / 2, len(labelled) - 1) * math.sqrt(
        _variance(labelled, span) / len(labelled)
    )
    human_mean = float(labelled.mean())
    return Calibrated(
        mean=_within(mean, bounds),
        interval=(_within(mean - half, bounds), _within(mean + half, bounds)),
        judge_mean=float(np.concatenate([verdicts, others]).mean()),
        human_mean=human_mean,
        human_interval=(_within(human_mean - alone, bounds), _within(human_mean + alone, bounds)),
        bias=float((verdicts - labelled).mean()),
        trust=trust,
        labelled=len(labelled),
        judged=len(others),
        left_out=len(human) - len(labelled) + len(judge_only) - len(others),
    )


def _both(human: Sequence[float | None], judge: Sequence[float | None]) -> tuple[Floats, Floats]:
    if len(human) != len(judge):
        raise DatasetError(f"{len(human)} human values, but {len(judge)} of the judge")
    pairs = [(y, f) for y, f in zip(human, judge, strict=True) if y is not None and f is not None]
    first, _ = present([y for y, _ in pairs], "human")
    second, _ = present([f for _, f in pairs], "judge")
    return first, second


def _trust(labelled: Floats, verdicts: Floats, others: Floats) -> float:
    """Return PPI++'s tuning: cov(Y, f) / ((1 + n / N) var f), kept between 0 and 1."""
    variance = float(np.concatenate([verdicts, others]).var())
    if variance <= 0:
        return 0.0
    covariance = float(((labelled - labelled.mean()) * (verdicts - verdicts.mean())).mean())
    found = covariance / ((1 + len(labelled) / len(others)) * variance)
    return min(max(found, 0.0), 1.0)


def _variance(values: Floats, span: float) -> float:
    """Return the variance with a pseudo-observation that is a whole span off."""
    squares = float(((values - values.mean()) ** 2).sum())
    if not span:
        return squares / (len(values) - 1)
    return (squares + _PSEUDO * span**2) / (len(values) - 1 + _PSEUDO)


def _within(value: float, bounds: tuple[float, float] | None) -> float:
    return value if bounds is None else min(max(value, bounds[0]), bounds[1])
