"""Prediction-powered inference: a system's score from a few human labels and many judged items.

A judge's mean differs from people's by the judge's bias. The items with human labels give an
estimate of the bias, with its uncertainty. The interval of the corrected mean covers the truth for
any judge, and the better the judge, the narrower it is than that of the human labels alone.

Angelopoulos et al., "Prediction-powered inference", Science 382 (2023), and "PPI++" (2023) for the
tuning: the weight of the judge, from 0 to 1, is the one that makes the interval shortest.
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
"""Minimum number of human labels."""
_PSEUDO: Final = 1
"""Pseudo-observations of an error, because few labels without an error do not exclude errors."""


@dataclass(frozen=True, slots=True)
class Calibrated:
    """A system's score, corrected for the judge's bias."""

    mean: float
    interval: tuple[float, float]
    judge_mean: float
    """The uncorrected mean of the judge over all items."""
    human_mean: float
    human_interval: tuple[float, float]
    """From the human labels alone."""
    bias: float
    """Mean of the judge minus people, on the items that both graded."""
    trust: float
    """Weight of the judge's values, from 0 (not used) to 1."""
    labelled: int
    judged: int
    """Items that only the judge graded."""
    left_out: int
    """Items with a missing value, of the judge or of people."""


def calibrated_mean(
    human: Sequence[float | None],
    judge: Sequence[float | None],
    judge_only: Sequence[float | None],
    *,
    confidence: float = 0.95,
    bounds: tuple[float, float] | None = (0.0, 1.0),
) -> Calibrated:
    """Estimate people's mean over all items, from labels of some items and verdicts on all.

    Args:
        human: people's values of the labelled items, drawn at random from all items.
        judge: the judge's values of the same items.
        judge_only: the judge's values of the other items.
        confidence: of the intervals.
        bounds: range of a value; the mean and its interval are clipped to it.

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
            f"{len(labelled)} items have values from people and the judge, {len(others)} from the "
            f"judge only; at least {FEWEST} and 1 are needed"
        )
    low, high = bounds or (-math.inf, math.inf)
    trust = _trust(labelled, verdicts, others)
    rectified = labelled - trust * verdicts
    quantile = t_quantile((1 + confidence) / 2, len(labelled) - 1)

    def interval(mean: float, values: Floats, further: float = 0.0) -> tuple[float, float]:
        spread = _variance(values, high - low) / len(values) + further
        half = quantile * math.sqrt(spread)
        return min(max(mean - half, low), high), min(max(mean + half, low), high)

    mean = float(trust * others.mean() + rectified.mean())
    human_mean = float(labelled.mean())
    return Calibrated(
        mean=min(max(mean, low), high),
        interval=interval(mean, rectified, trust**2 * float(others.var()) / len(others)),
        judge_mean=float(np.concatenate([verdicts, others]).mean()),
        human_mean=human_mean,
        human_interval=interval(human_mean, labelled),
        bias=float((verdicts - labelled).mean()),
        trust=trust,
        labelled=len(labelled),
        judged=len(others),
        left_out=len(human) - len(labelled) + len(judge_only) - len(others),
    )


def _both(human: Sequence[float | None], judge: Sequence[float | None]) -> tuple[Floats, Floats]:
    if len(human) != len(judge):
        raise DatasetError(f"{len(human)} human values, but {len(judge)} values of the judge")
    (first, labelled), (second, judged) = present(human, "human"), present(judge, "judge")
    return first[judged[labelled]], second[labelled[judged]]


def _trust(labelled: Floats, verdicts: Floats, others: Floats) -> float:
    """Return PPI++'s tuning: cov(Y, f) / ((1 + n / N) var f), clipped to 0 to 1."""
    variance = float(np.concatenate([verdicts, others]).var())
    if variance <= 0:
        return 0.0
    covariance = float(((labelled - labelled.mean()) * (verdicts - verdicts.mean())).mean())
    found = covariance / ((1 + len(labelled) / len(others)) * variance)
    return min(max(found, 0.0), 1.0)


def _variance(values: Floats, span: float) -> float:
    """Return the variance with a pseudo-observation of an error of `span`, if that is finite."""
    squares = float(((values - values.mean()) ** 2).sum())
    if math.isinf(span):
        return squares / (len(values) - 1)
    return (squares + _PSEUDO * span**2) / (len(values) - 1 + _PSEUDO)
