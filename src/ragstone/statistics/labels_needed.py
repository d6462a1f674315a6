"""How many more labels an interval of a wanted width needs, with and without a model's labels.

The half width of an estimate (`ragstone.statistics.corrected`) comes from the sum over clusters of
squared influences. The influence of a labelled item has two parts: a, which it has without a label
too (the model's value, times the trust), and b, which its label adds. With n' labels instead of n
there are n'/n as many parts b, each n/n' as large, so that

    sum of squares = sum a^2 + 2 sum a b + (n / n') sum b^2

Student's t and the unseen error follow n'. For n' = n this is the half width of the estimate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ragstone.statistics.bootstrap import Floats
from ragstone.statistics.corrected import (
    FEWEST,
    CorrectedEstimate,
    LabelledItems,
    corrected,
    labelled_items,
    labels_alone,
)
from ragstone.statistics.proportions import t_exact


@dataclass(frozen=True, slots=True)
class WidthForecast:
    """The half width of an interval now, and the labels that a wanted one needs."""

    value: float
    half_width: float
    more: int | None
    """More labels that are needed; 0 if none; None if the labels of all items are too few."""
    at_most: float
    """The half width with the labels of all items."""


@dataclass(frozen=True, slots=True)
class LabelsNeeded:
    """The labels that an interval of a mean needs, with labels alone and with a model's labels."""

    labelled: int
    items: int
    missing: int
    """Labels without which nothing is known yet; 0 if there are enough."""
    alone: WidthForecast | None
    with_model: WidthForecast | None
    """None without a model's labels of all items."""


def labels_needed(
    human: Floats,
    wanted: float,
    *,
    model: Floats | None = None,
    clusters: list[str] | None = None,
    confidence: float = 0.95,
) -> LabelsNeeded:
    """Return how many more items people must label for an interval of a mean of values in [0, 1].

    Args:
        human: people's value of each item; NaN if they did not label the item.
        wanted: half of the wanted width.
        model: the model's value of each item; NaN if it has none.
        clusters: one name per item; whole clusters are drawn.
        confidence: of the interval.

    >>> found = labels_needed(np.array([1.0, 0] * 20 + [np.nan] * 960), 0.1)
    >>> found.labelled, round(found.alone.half_width, 3), found.alone.more
    (40, 0.162, 60)
    >>> labels_needed(np.array([1.0, 0, 1, np.nan]), 0.1).missing
    7
    """
    known = int((~np.isnan(human)).sum())
    names = range(len(human)) if clusters is None else clusters
    labelled = [name for name, value in zip(names, human, strict=True) if not math.isnan(value)]
    missing = max(FEWEST - known, 0)
    # One cluster shows no spread.
    missing = missing or int(len(set(labelled)) == 1)
    if missing:
        return LabelsNeeded(known, len(human), missing, None, None)
    of_model = None
    if model is not None and len(model) and not np.isnan(model).any():
        items = labelled_items(model, human, clusters=clusters)
        of_model = _forecast(items, corrected(items), wanted, confidence)
    items = labelled_items(np.zeros(len(human)), human, clusters=clusters)
    alone = _forecast(items, labels_alone(items), wanted, confidence)
    return LabelsNeeded(known, len(human), 0, alone, of_model)


def half_width_with(
    items: LabelledItems, estimate: CorrectedEstimate, labels: int, confidence: float
) -> float:
    """Return the half width of an estimate of values in [0, 1] if it had another number of labels.

    >>> human = np.array([1.0, 0] * 20 + [np.nan] * 60)
    >>> items = labelled_items(np.zeros(100), human)
    >>> found = labels_alone(items)
    >>> half_width_with(items, found, 40, 0.95) == found.half_width(0.95)
    True
    """
    a, b = _parts(items, estimate)
    return _half_width(estimate, a, b, labels, confidence)


def _parts(items: LabelledItems, estimate: CorrectedEstimate) -> tuple[Floats, Floats]:
    """Return the sums per cluster of the items' parts without a label, and of the labels' parts."""
    without = estimate.trust * (items.judge - items.judge.mean()) / len(items.judge)
    size = int(items.clusters.max()) + 1
    a: Floats = np.bincount(items.clusters, without, size).astype(np.float64)
    b: Floats = np.bincount(items.clusters, estimate.influence - without, size).astype(np.float64)
    return a, b


def _half_width(
    estimate: CorrectedEstimate, a: Floats, b: Floats, labels: int, confidence: float
) -> float:
    share = estimate.labelled / labels
    squares = float((a**2).sum() + 2 * (a * b).sum() + share * (b**2).sum())
    freedom = max(1, round((estimate.freedom + 1) / share) - 1)
    variance = (freedom + 1) / freedom * max(squares, 0.0)
    error = math.sqrt(variance + (estimate.unseen * share) ** 2)
    return t_exact(confidence, freedom) * error


def _forecast(
    items: LabelledItems, estimate: CorrectedEstimate, wanted: float, confidence: float
) -> WidthForecast:
    a, b = _parts(items, estimate)

    def width(labels: int) -> float:
        return _half_width(estimate, a, b, labels, confidence)

    low, high = estimate.labelled, len(items.judge)
    at_most, now = width(high), width(low)
    if now <= wanted:
        return WidthForecast(estimate.value, now, 0, at_most)
    if at_most > wanted:
        return WidthForecast(estimate.value, now, None, at_most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if width(middle) <= wanted else (middle, high)
    return WidthForecast(estimate.value, now, high - estimate.labelled, at_most)
