"""Prediction-powered inference: a system's score from a few human labels and many judged items.

A judge's mean differs from people's by the judge's bias. The items with human labels give an
estimate of the bias, with its uncertainty. The interval of the corrected mean covers the truth for
any judge, and the better the judge, the narrower it is than that of the human labels alone
(`ragstone.statistics.corrected`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ragstone.errors import DatasetError
from ragstone.statistics.bootstrap import Floats
from ragstone.statistics.corrected import (
    LabelledItems,
    Method,
    corrected,
    labelled_items,
    labels_alone,
)
from ragstone.statistics.rogan_gladen import rogan_gladen
from ragstone.statistics.summary import check_confidence, present


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
    """Weight of the judge's values; 0 if they are not used."""
    labelled: int
    judged: int
    """Items that only the judge graded."""
    left_out: int
    """Items with a missing value, of the judge or of people."""
    method: Method = "prediction-powered"
    """The estimate with the narrowest interval."""


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
        DatasetError: unequal lengths, fewer than ten labelled items, no other item.

    >>> people, verdicts = [1, 0, 1, 1, 0, 1] * 2, [1, 1, 1, 1, 0, 1] * 2
    >>> found = calibrated_mean(people, verdicts, [1, 1, 0, 1] * 50)
    >>> round(found.judge_mean, 3), round(found.mean, 3), found.labelled, found.judged
    (0.755, 0.604, 12, 200)
    """
    labelled, verdicts = _both(human, judge)
    others, _ = present(judge_only, "judge_only")
    if not len(others):
        raise DatasetError("every item has a value of people: take their mean")
    items = labelled_items(
        np.concatenate([verdicts, others]),
        np.concatenate([labelled, np.full(len(others), np.nan)]),
    )
    left_out = len(human) - len(labelled) + len(judge_only) - len(others)
    return calibrated(items, confidence=confidence, bounds=bounds, left_out=left_out)


def calibrated(
    items: LabelledItems,
    *,
    confidence: float = 0.95,
    bounds: tuple[float, float] | None = (0.0, 1.0),
    left_out: int = 0,
) -> Calibrated:
    """Return people's mean over all items by the estimate with the narrowest interval."""
    check_confidence(confidence)
    low, high = bounds or (-math.inf, math.inf)
    span = high - low if bounds else float(np.ptp(items.judge))
    alone = labels_alone(items)
    estimates = [alone, corrected(items), rogan_gladen(items)]
    best = min((e for e in estimates if e), key=lambda one: one.half_width(confidence, span))
    known = items.labelled
    gaps = items.judge[known] - items.human[known]
    return Calibrated(
        mean=min(max(best.value, low), high),
        interval=best.interval(confidence, (low, high), span),
        judge_mean=float(items.judge.mean()),
        human_mean=alone.value,
        human_interval=alone.interval(confidence, (low, high), span),
        bias=float(np.average(gaps, weights=items.weights[known])),
        trust=best.trust,
        labelled=len(known),
        judged=len(items.judge) - len(known),
        left_out=left_out,
        method=best.method,
    )


def _both(human: Sequence[float | None], judge: Sequence[float | None]) -> tuple[Floats, Floats]:
    if len(human) != len(judge):
        raise DatasetError(f"{len(human)} human values, but {len(judge)} values of the judge")
    (first, labelled), (second, judged) = present(human, "human"), present(judge, "judge")
    return first[judged[labelled]], second[labelled[judged]]
