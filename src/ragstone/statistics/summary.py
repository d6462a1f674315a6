"""Means with their n, the counts of missing and failed items, and an interval."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ragstone.core.hashed_ids import numbered
from ragstone.core.schemas import SUMMARIES, to_table
from ragstone.core.tables import Shown, TextTable
from ragstone.errors import ConfigError, DatasetError
from ragstone.statistics.bootstrap import Floats, ratio_interval
from ragstone.statistics.proportions import agresti_coull, share_interval, t_quantile
from ragstone.types import one_line

if TYPE_CHECKING:
    from arro3.core import Table

Numbers: TypeAlias = NDArray[np.int64]
Clusters: TypeAlias = Sequence[Hashable] | Numbers
"""The cluster of each item."""
Policy: TypeAlias = Literal["wrong", "exclude", "bounds"]
"""The failure policy; see `ragstone.statistics.failures`."""
UNIT: Final = (0.0, 1.0)
"""The range of most metrics."""
_FEW: Final = 30
"""Number of clusters below which a bootstrap of graded values is too narrow."""
_FEW_CLUSTERS: Final = 15
_SHARE_OF_EQUALS: Final = 0.8
"""Share of equal values above which a bootstrap is too narrow."""


@dataclass(frozen=True, slots=True)
class Summary(Shown):
    """The mean of some values, with the numbers that a reader needs to judge it.

    The sources of its interval are in docs/statistics.md.
    """

    mean: float | None
    """None without values; that of the worst case under `bounds`."""
    n: int
    """Items in the mean, with the failed ones unless the policy is `exclude`."""
    failed: int = 0
    """Items that the system failed on."""
    not_applicable: int = 0
    """Items for which the metric is not defined; not in the mean."""
    missing: int = 0
    """Failed items that the system did not return at all."""
    interval: tuple[float, float] | None = None
    """None with fewer than two clusters, or with equal values of a metric without a range."""
    mean_of_answered: float | None = None
    """Mean of the items with a value."""
    mean_of_all: float | None = None
    """Mean if every failed item has the worst value; None if the metric has no worst value."""
    policy: Policy = "exclude"
    """The failure policy of the mean."""
    unscored: int = 0
    """Items that the metric or the judge failed on; not in the mean, except under `bounds`."""
    worst_and_best: tuple[float, float] | None = None
    """Under `bounds`, the means if all failed and unscored items have the worst or best value."""

    __repr__ = one_line

    def parts(self) -> Iterator[TextTable]:
        """Yield the summary as a table of one row."""
        yield summary_table([("", self)])

    @property
    def answered(self) -> int:
        """Items with a value."""
        without = {"wrong": self.failed, "bounds": self.failed + self.unscored}
        return self.n - without.get(self.policy, 0)

    @property
    def other_view(self) -> str:
        """The mean that the policy does not show, if items failed; else an empty text.

        >>> Summary(0.72, 100, failed=20, mean_of_answered=0.9, policy="wrong").other_view
        '0.900 of the 80 answered'
        >>> Summary(0.9, 80, failed=20, mean_of_all=0.72).other_view
        '0.720 of all 100'
        """
        if not self.failed:
            return ""
        if self.policy == "exclude":
            size = self.n + self.failed
            return "" if self.mean_of_all is None else f"{self.mean_of_all:.3f} of all {size:,}"
        mean = "-" if self.mean_of_answered is None else f"{self.mean_of_answered:.3f}"
        return f"{mean} of the {self.answered:,} answered"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, numbers unrounded."""
        return asdict(self)


def summary_table(
    named: Sequence[tuple[str, Summary]], title: str = "", head: str = "metric"
) -> TextTable:
    """Return a row per summary; columns in which every row is empty are left out."""
    rows = [[name, *_cells(summary)] for name, summary in named]
    headers = [head, *_ALWAYS, *_IF_ANY]
    always = 1 + len(_ALWAYS)
    shown = [i for i in range(len(headers)) if i < always or any(row[i] != "-" for row in rows)]
    shown = shown[0 if any(name for name, _ in named) else 1 :]
    return TextTable([headers[i] for i in shown], [[row[i] for i in shown] for row in rows], title)


_ALWAYS: Final = ("mean", "interval", "n", "failed", "n/a")
_IF_ANY: Final = ("missing", "unscored", "other view", "worst to best")


def _cells(one: Summary) -> tuple[str, ...]:
    low_high, cases = one.interval, one.worst_and_best
    return (
        "-" if one.mean is None else f"{one.mean:.4f}",
        "-" if low_high is None else f"[{low_high[0]:.4f}, {low_high[1]:.4f}]",
        f"{one.n:,}",
        f"{one.failed:,}",
        f"{one.not_applicable:,}",
        f"{one.missing:,}" if one.missing else "-",
        f"{one.unscored:,}" if one.unscored else "-",
        one.other_view or "-",
        f"{cases[0]:.4f} to {cases[1]:.4f}" if cases else "-",
    )


def summaries_table(summaries: Iterable[Summary]) -> Table:
    """Return the SUMMARIES table of some summaries."""
    rows = []
    for summary in summaries:
        low, high = summary.interval or (None, None)
        rows.append({**asdict(summary), "low": low, "high": high})
    return to_table(SUMMARIES, {name: [row[name] for row in rows] for name in SUMMARIES.names})


def summarise(
    values: Sequence[float | None] | NDArray[np.number],
    *,
    clusters: Clusters | None = None,
    confidence: float = 0.95,
    failed: int = 0,
    not_applicable: int = 0,
    bounds: tuple[float, float] | None = UNIT,
) -> Summary:
    """Return the mean of `values` with the interval of `mean_interval`: no resamples, no seed.

    Args:
        values: one number per item; None for a failed item, which is added to `failed`.
        clusters: one name or number per value, such as its conversation or source document. Whole
            clusters are drawn; if None, each item is drawn on its own.
        confidence: level of the interval, between 0 and 1.
        failed: number of failed items that are not in `values`.
        not_applicable: number of items for which the metric is undefined; not in `values`.
        bounds: range of a value; None if there is none. A range that a value exceeds is ignored.

    Raises:
        DatasetError: a value is NaN or infinite, or `clusters` differs in length.
        ConfigError: `confidence` is not between 0 and 1.

    >>> found = summarise([1.0, 0.0, 1.0, 1.0, None])
    >>> found.mean, found.n, found.failed, found.interval
    (0.75, 4, 1, (0.19412044968324343, 0.9936905367902902))
    """
    check_confidence(confidence)
    numbers, held = present(values, "values")
    mean = math.fsum(numbers) / len(numbers) if len(numbers) else None
    return Summary(
        mean=mean,
        n=len(numbers),
        failed=failed + len(held) - len(numbers),
        not_applicable=not_applicable,
        mean_of_answered=mean,
        interval=mean_interval(
            numbers, present_clusters(clusters, held), confidence, bounds=bounds
        ),
    )


def mean_interval(
    values: Floats,
    clusters: Clusters | None,
    confidence: float,
    *,
    bounds: tuple[float, float] | None = UNIT,
    exact: bool = False,
    other_variance: float = 0.0,
) -> tuple[float, float] | None:
    """Return the interval of the mean of finite `values`; None for fewer than two clusters.

    If the values have a range, the interval of 0/1 values, of fewer than 30 values or clusters, and
    of values of which over 80 % are equal is that of a share: of the sum of the scaled values, out
    of an effective number of items. Other intervals are BCa bootstrap intervals over clusters.

    Values without a range whose clusters are all equal have no interval.

    Args:
        values: one number per item.
        clusters: one name per value; None if each item is a cluster.
        confidence: level of the interval.
        bounds: range of a value; None if there is none. A range that a value exceeds is ignored.
        exact: whether 0/1 values have the interval of Clopper and Pearson.
        other_variance: variance of the mean from a source that `values` do not show, such as
            repeated answers or verdicts.
    """
    sums, sizes = cluster_sums(values, clusters)
    if len(sums) < 2:  # noqa: PLR2004 - one cluster shows no spread
        return None
    bounds = range_of(values, bounds)
    if bounds is None or not (exact or _is_discrete(values, len(sums), bounds)):
        found = _bootstrap(values, sums, sizes, confidence, other_variance)
        if found is not None or bounds is None:
            return found
    origin, span = bounds[0], bounds[1] - bounds[0]
    n = _effective_n(values, sums, sizes, confidence, other_variance)
    count = n * min(max((float(values.mean()) - origin) / span, 0.0), 1.0)
    if ((values == origin) | (values == bounds[1])).all():
        low, high = share_interval(count, n, confidence, exact=exact)
    else:
        low, high = agresti_coull(count, n, confidence)
    return origin + span * low, origin + span * high


def range_of(values: Floats, bounds: tuple[float, float] | None) -> tuple[float, float] | None:
    """Return `bounds` if all values are between them, else None."""
    within = bounds is not None and bounds[0] <= values.min() and values.max() <= bounds[1]
    return bounds if within else None


def _bootstrap(
    values: Floats, sums: Floats, sizes: Floats, confidence: float, other_variance: float
) -> tuple[float, float] | None:
    """Return the BCa interval; None if all clusters are equal."""
    # Rounding in the last place must not push a bound out of the values' range.
    low, high = np.clip(ratio_interval(sums, sizes, confidence), values.min(), values.max())
    if low == high:
        return None
    if not other_variance:
        return float(low), float(high)
    mean, error = float(values.mean()), standard_error(sums, sizes) or math.inf
    wider = math.sqrt(1 + other_variance / error**2)
    return float(mean - wider * (mean - low)), float(mean + wider * (high - mean))


def _is_discrete(values: Floats, clusters: int, bounds: tuple[float, float]) -> bool:
    """Whether a bootstrap of ranged values would be too narrow: few or mostly equal values."""
    if clusters < _FEW or ((values == bounds[0]) | (values == bounds[1])).all():
        return True
    _, counts = np.unique(values, return_counts=True)
    return int(counts.max()) > _SHARE_OF_EQUALS * len(values)


def _effective_n(
    values: Floats, sums: Floats, sizes: Floats, confidence: float, other_variance: float
) -> float:
    """Return the number of independent values with the information of these values, at most n.

    Without a difference between values this is the number of clusters. Otherwise n is divided by
    the design effect, the variance of the mean over clusters relative to single values, and
    reduced for the few degrees of freedom of that variance (Korn and Graubard, Survey Methodology
    24, 1998).
    """
    n, groups = len(values), len(sums)
    variance = float(values.var()) / n
    if not variance:
        return float(groups)
    if groups == n:
        return n * variance / (variance + other_variance)
    level = (1 + confidence) / 2
    error = standard_error(sums, sizes) or 0.0
    few = (NormalDist().inv_cdf(level) / t_quantile(level, groups - 1)) ** 2
    ratio = variance * few / max(error**2, variance * few)
    return n / (1 / ratio + other_variance / variance)


def standard_error(sums: Floats, sizes: Floats) -> float | None:
    """Return the standard error of `sums.sum() / sizes.sum()` over clusters, by linearisation."""
    if len(sums) < 2:  # noqa: PLR2004 - one cluster shows no spread
        return None
    total = float(sizes.sum())
    residuals = sums - sums.sum() / total * sizes
    return math.sqrt(len(sums) / (len(sums) - 1) * float((residuals**2).sum())) / total


def cluster_sums(values: Floats, clusters: Clusters | None) -> tuple[Floats, Floats]:
    """Return the sum and the size of each cluster, in order of first appearance."""
    if clusters is None:
        return values, np.ones(len(values))
    members = cluster_numbers(clusters)
    return np.bincount(members, values).astype(float), np.bincount(members).astype(float)


def cluster_numbers(clusters: Iterable[Hashable] | Numbers) -> Numbers:
    """Return the number of each item's cluster, counted from 0 by first appearance."""
    if isinstance(clusters, np.ndarray) and clusters.dtype.kind == "i":
        return numbered(clusters)[-1]
    numbers: dict[Hashable, int] = {}
    found = [numbers.setdefault(cluster, len(numbers)) for cluster in clusters]
    return np.array(found, dtype=np.int64)


def clusters_of(
    query_ids: Iterable[str], clusters: Mapping[str, Hashable] | None
) -> list[Hashable] | None:
    """Return the clusters of some queries; a query without one is a cluster on its own.

    >>> clusters_of(["a", "b"], {"a": "c"})
    ['c', ('', 'b')]
    """
    return [clusters.get(q, ("", q)) for q in query_ids] if clusters else None


def few_clusters(clusters: Iterable[Hashable]) -> str:
    """Return a warning if items are in fewer than 15 clusters, else an empty text.

    >>> few_clusters(["a", "a", "b"])
    'The queries are in only 2 clusters: with fewer than 15, intervals and tests are approximate.'
    >>> few_clusters(["a", "b"])
    ''
    """
    names = list(clusters)
    found = len(set(names))
    if found >= _FEW_CLUSTERS or found == len(names):
        return ""
    return (
        f"The queries are in only {found} cluster{'s' if found > 1 else ''}: with fewer than "
        f"{_FEW_CLUSTERS}, intervals and tests are approximate."
    )


def present(
    values: Sequence[float | None] | NDArray[np.number], name: str
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the values that are not None, and a mask over all of them.

    Raises:
        DatasetError: a value is NaN or infinite.
    """
    if isinstance(values, np.ndarray):
        held = np.ones(len(values), dtype=np.bool_)
        numbers = values.astype(np.float64)
    else:
        held = np.array([value is not None for value in values], dtype=np.bool_)
        numbers = np.array([value for value in values if value is not None], dtype=np.float64)
    if not np.isfinite(numbers).all():
        place = int(np.flatnonzero(held)[~np.isfinite(numbers)][0])
        raise DatasetError(
            f"{name}: place {place} is {values[place]}; every value must be a finite number or None"
        )
    return numbers, held


def present_clusters(clusters: Clusters | None, held: NDArray[np.bool_]) -> Clusters | None:
    """Return the clusters of the values that are present.

    Raises:
        DatasetError: `clusters` and the values differ in number.
    """
    if clusters is None:
        return None
    if len(clusters) != len(held):
        raise DatasetError(f"{len(held)} values, but {len(clusters)} clusters; give one per value")
    if isinstance(clusters, np.ndarray):
        return clusters[held]
    return [cluster for cluster, here in zip(clusters, held, strict=True) if here]


def check_confidence(confidence: float) -> None:
    """Raise `ConfigError` if `confidence` is not between 0 and 1."""
    if not 0 < confidence < 1:
        raise ConfigError(f"confidence {confidence} is not between 0 and 1; usual is 0.95")
