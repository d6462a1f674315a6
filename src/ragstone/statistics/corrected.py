"""People's mean over all items, from a judge's values of all and people's labels of some.

The judge's bias is estimated on the labelled items and subtracted (prediction-powered inference:
Angelopoulos et al., Science 382, 2023), so that the estimate is unbiased for any judge. With labels
Y, the judge's values f, weights w (inverse inclusion probabilities) and strata of shares W it is

    mean of trust * f over all items + sum over strata of W * weighted mean of (Y - trust * f)

`trust` minimises the variance (PPI++: Angelopoulos, Duchi and Zrnic, 2023). The trust of a label is
tuned on the labels of the other folds. With inclusion probabilities this is active statistical
inference (Zrnic and Candes, ICML 2024).

The standard error is that of the sum of all items' influences on the estimate, over clusters. The
influence of an item on the difference of two estimates is the difference of its influences. A query
that two systems answered is thus paired, even if people labelled only one of the answers.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ragstone.errors import DatasetError
from ragstone.statistics.bootstrap import Floats
from ragstone.statistics.proportions import t_exact
from ragstone.statistics.summary import Numbers, cluster_numbers

Method: TypeAlias = Literal["labels alone", "prediction-powered", "unpaired", "rogan-gladen"]

FEWEST: Final = 10
"""Minimum number of labelled items of a correction."""
_FOLDS: Final = 20
_PER_STRATUM: Final = 5
"""Minimum number of labels of a stratum."""
_DIFFERING: Final = 6
"""Labels that differ from the usual one, below which their variance may miss rare errors."""
_NEGLIGIBLE: Final = 1e-12


@dataclass(frozen=True)
class LabelledItems:
    """Columns with one entry per item; every item has a value of the judge."""

    judge: Floats
    human: Floats
    """NaN if people did not label the item."""
    weights: Floats
    """1 / inclusion probability of a labelled item; not used for other items."""
    clusters: Numbers
    strata: Numbers

    @property
    def labelled(self) -> Numbers:
        """The places of the labelled items."""
        return np.flatnonzero(~np.isnan(self.human))


@dataclass(frozen=True)
class CorrectedEstimate:
    """A corrected mean, or the difference of two."""

    method: Method
    value: float
    influence: Floats
    """Influence of each item; the error of the estimate is the sum."""
    clusters: Numbers
    labelled: int
    freedom: int
    """Degrees of freedom of the standard error."""
    trust: float = 0.0
    unseen: float = 0.0
    """Error that the labels may have missed, as a share of a value's range."""

    def error(self, span: float = 1.0) -> float:
        """Return the standard error of values with a range of `span`."""
        sums = np.bincount(self.clusters, self.influence)
        more = (self.freedom + 1) / self.freedom
        return math.sqrt(more * float((sums**2).sum()) + (self.unseen * span) ** 2)

    def half_width(self, confidence: float, span: float = 1.0) -> float:
        """Return half of the interval's width, by Student's t."""
        return t_exact(confidence, self.freedom) * self.error(span)

    def interval(
        self, confidence: float, bounds: tuple[float, float], span: float
    ) -> tuple[float, float]:
        """Return the interval within the bounds, of values with a range of `span`."""
        half = self.half_width(confidence, span)
        return max(self.value - half, bounds[0]), min(self.value + half, bounds[1])

    def minus(
        self, other: CorrectedEstimate, method: Method, least_unseen: float = 0.0
    ) -> CorrectedEstimate:
        """Return the difference from an estimate over the same items."""
        return CorrectedEstimate(
            method,
            self.value - other.value,
            self.influence - other.influence,
            self.clusters,
            min(self.labelled, other.labelled),
            min(self.freedom, other.freedom),
            (self.trust + other.trust) / 2,
            max(self.unseen, other.unseen, least_unseen),
        )


def labelled_items(
    judge: Floats,
    human: Floats,
    *,
    weights: Floats | None = None,
    clusters: Sequence[Hashable] | None = None,
    strata: Sequence[Hashable] | None = None,
) -> LabelledItems:
    """Return the columns of some items, of which people labelled a random sample.

    Args:
        judge: the judge's value of each item.
        human: people's value; NaN if they did not label the item.
        weights: 1 / inclusion probability of each labelled item; equal by default.
        clusters: one name per item; by default each item is a cluster.
        strata: one name per item. Strata with fewer than five labels are one stratum.

    Raises:
        DatasetError: unequal lengths, or fewer than ten labelled items or two labelled clusters.
    """
    given = [one for one in (judge, human, weights, clusters, strata) if one is not None]
    if len({len(one) for one in given}) > 1:
        raise DatasetError(f"columns of unequal lengths: {[len(one) for one in given]}")
    size, known = len(judge), ~np.isnan(human)
    check_enough(int(known.sum()))
    groups = np.arange(size) if clusters is None else cluster_numbers(clusters)
    if len(set(groups[known].tolist())) < 2:  # noqa: PLR2004 - one cluster shows no spread
        raise DatasetError("all labelled items are in one cluster; label items of others too")
    names = np.zeros(size, dtype=np.int64) if strata is None else cluster_numbers(strata)
    weighted = np.ones(size) if weights is None else weights
    return LabelledItems(judge, human, weighted, groups, _pooled(names, known))


def check_enough(labelled: int, what: str = "labels") -> None:
    """Raise `DatasetError` with the missing number if there are fewer than ten labels."""
    if labelled < FEWEST:
        raise DatasetError(
            f"{labelled:,} {what}, at least {FEWEST} are needed ({FEWEST - labelled} more)"
        )


def _pooled(strata: Numbers, known: NDArray[np.bool_]) -> Numbers:
    """Return the strata, those with too few labels joined to the one with the fewest others."""
    counts = np.bincount(strata, known)
    order = np.argsort(counts, kind="stable")
    few = int((counts < _PER_STRATUM).sum())
    while 0 < few < len(order) and counts[order[:few]].sum() < _PER_STRATUM:
        few += 1
    joined = strata.copy()
    joined[np.isin(strata, order[:few])] = -1
    return cluster_numbers(joined.tolist())


def corrected(items: LabelledItems) -> CorrectedEstimate:
    """Return people's mean over all items, from the labels and the judge's values.

    >>> judge, human = np.tile([1.0, 0.0], 50), np.full(100, np.nan)
    >>> human[:12] = [1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 0]
    >>> found = corrected(labelled_items(judge, human))
    >>> round(found.value, 3), round(found.trust, 2), found.labelled
    (0.417, 0.83, 12)
    """
    known = items.labelled
    y, f, w = items.human[known], items.judge[known], items.weights[known]
    of = items.strata[known]
    totals = np.bincount(of, w)

    def centred(values: Floats) -> Floats:
        means: Floats = np.bincount(of, w * values) / totals
        return values - means[of]

    groups = cluster_numbers(items.clusters[known].tolist())
    trusts = _trusts(centred(f), centred(y), w, groups)
    return _estimate(items, trusts, unseen_error(y, y - f), "prediction-powered")


def labels_alone(items: LabelledItems) -> CorrectedEstimate:
    """Return people's mean over all items from the labels, without the judge's values."""
    y = items.human[items.labelled]
    return _estimate(items, np.zeros(len(y)), unseen_error(y), "labels alone")


def _estimate(
    items: LabelledItems, trusts: Floats, unseen: float, method: Method
) -> CorrectedEstimate:
    known, strata, size = items.labelled, items.strata, len(items.judge)
    of, w = strata[known], items.weights[known]
    sizes = np.bincount(strata)
    judge_means = np.bincount(strata, items.judge) / sizes
    # The labels' shares in the estimate. A fold's trust counts for as much of the judge's mean.
    part = w / np.bincount(of, w)[of] * (sizes / size)[of]
    trust = float((part * trusts).sum())
    rectified = items.human[known] - trusts * (items.judge[known] - judge_means[of])
    means = np.bincount(of, part * rectified) / np.bincount(of, part)
    value = float((part * rectified).sum())
    influence = (trust * (items.judge - judge_means[strata]) + means[strata] - value) / size
    influence[known] += part * (rectified - means[of])
    clusters = len(set(items.clusters[known].tolist()))
    return CorrectedEstimate(
        method, value, influence, items.clusters, len(known), clusters - 1, trust, unseen
    )


def _trusts(f: Floats, y: Floats, w: Floats, clusters: Numbers) -> Floats:
    """Return each label's trust: the slope of Y on f in the other folds, at least 0."""
    folds = clusters % _FOLDS
    both, squares = np.bincount(folds, w * f * y), np.bincount(folds, w * f * f)
    both, squares = both.sum() - both, squares.sum() - squares
    varied = squares > _NEGLIGIBLE
    slopes = np.where(varied, both / np.where(varied, squares, 1.0), 0.0)
    return np.maximum(slopes, 0.0)[folds]


def unseen_error(*columns: Floats) -> float:
    """Return the error that the labels may have missed, if few of them differ from the usual one.

    Labels without an error do not exclude errors: their variance alone is too small. It gets one
    to three further labels with an error.

    >>> [round((20 * unseen_error(np.repeat([1.0, 0.0], [20 - n, n]))) ** 2) for n in (0, 1, 9)]
    [3, 1, 0]
    """
    usual = max(int(np.unique(c.round(9), return_counts=True)[1].max()) for c in columns)
    n = len(columns[0])
    differing = n - usual
    return math.sqrt(1 if differing else 3) / n if differing < _DIFFERING else 0.0
