"""Means with their n, the counts of missing and failed items, and an interval."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ragstone.core.schemas import SUMMARIES, to_table
from ragstone.core.tables import Shown, TextTable
from ragstone.errors import ConfigError, DatasetError
from ragstone.statistics.bootstrap import Floats, ratio_interval
from ragstone.types import one_line

if TYPE_CHECKING:
    from arro3.core import Table

Numbers: TypeAlias = NDArray[np.int64]
HEADERS: Final = ("mean", "interval", "n", "missing", "failed", "n/a")


@dataclass(frozen=True, slots=True)
class Summary(Shown):
    """The mean of some values, with the numbers that a reader needs to judge it."""

    mean: float | None
    """None without values."""
    n: int
    """Values in the mean."""
    failed: int = 0
    """Items without a value because of an error; not in the mean."""
    not_applicable: int = 0
    """Items for which the metric is not defined; not in the mean."""
    missing: int = 0
    """Items that the system did not return; each counts as 0, within n."""
    interval: tuple[float, float] | None = None
    """None with fewer than two clusters."""

    __repr__ = one_line

    def parts(self) -> Iterator[TextTable]:
        """Yield the summary as a table of one row."""
        yield TextTable(HEADERS, [self.cells()])

    def cells(self) -> tuple[str, ...]:
        """Return the values below `HEADERS` as texts."""
        low_high = self.interval
        mean = "-" if self.mean is None else f"{self.mean:.4f}"
        interval = "-" if low_high is None else f"[{low_high[0]:.4f}, {low_high[1]:.4f}]"
        counts = (self.n, self.missing, self.failed, self.not_applicable)
        return mean, interval, *(f"{count:,}" for count in counts)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, numbers unrounded."""
        return asdict(self)


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
    clusters: Sequence[Hashable] | None = None,
    confidence: float = 0.95,
    failed: int = 0,
    not_applicable: int = 0,
    missing: int = 0,
) -> Summary:
    """Return the mean of `values` with its BCa bootstrap interval over clusters.

    The interval is computed exactly (`ragstone.statistics.bootstrap`): no resamples, no seed.

    Args:
        values: one number per item; None for a failed item, which is added to `failed`.
        clusters: one name per value, such as its conversation or source document. Whole clusters
            are drawn; if None, each item is drawn on its own.
        confidence: level of the interval, between 0 and 1.
        failed: number of failed items that are not in `values`.
        not_applicable: number of items for which the metric is undefined; not in `values`.
        missing: number of `values` that are zeros of items that the system did not return.

    Returns:
        A summary. Equal values have an interval of width 0: no item differed from another, but the
        mean is not certain.

    Raises:
        DatasetError: a value is NaN or infinite, or `clusters` differs in length.
        ConfigError: `confidence` is not between 0 and 1.

    >>> summarise([1.0, 0.0, 1.0, 1.0, None])
    Summary(mean=0.75, n=4, failed=1, interval=(0.25, 1.0))
    """
    check_confidence(confidence)
    numbers, held = present(values, "values")
    mean = math.fsum(numbers) / len(numbers) if len(numbers) else None
    return Summary(
        mean=mean,
        n=len(numbers),
        failed=failed + len(held) - len(numbers),
        not_applicable=not_applicable,
        missing=missing,
        interval=mean_interval(numbers, present_clusters(clusters, held), confidence),
    )


def mean_interval(
    values: Floats, clusters: Sequence[Hashable] | None, confidence: float
) -> tuple[float, float] | None:
    """Return the interval of the mean of finite `values`; None for fewer than two clusters."""
    sums, sizes = cluster_sums(values, clusters)
    if len(sums) < 2:  # noqa: PLR2004 - one cluster shows no spread
        return None
    # Rounding in the last place must not push a bound out of the values' range.
    low, high = np.clip(ratio_interval(sums, sizes, confidence), values.min(), values.max())
    return float(low), float(high)


def cluster_sums(values: Floats, clusters: Sequence[Hashable] | None) -> tuple[Floats, Floats]:
    """Return the sum and the size of each cluster, in order of first appearance."""
    if clusters is None:
        return values, np.ones(len(values))
    members = cluster_numbers(clusters)
    return np.bincount(members, values).astype(float), np.bincount(members).astype(float)


def cluster_numbers(clusters: Iterable[Hashable]) -> Numbers:
    """Return the number of each item's cluster, counted from 0 by first appearance."""
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


def present_clusters(
    clusters: Sequence[Hashable] | None, held: NDArray[np.bool_]
) -> Sequence[Hashable] | None:
    """Return the clusters of the values that are present.

    Raises:
        DatasetError: `clusters` and the values differ in number.
    """
    if clusters is None:
        return None
    if len(clusters) != len(held):
        raise DatasetError(f"{len(held)} values, but {len(clusters)} clusters; give one per value")
    return [cluster for cluster, here in zip(clusters, held, strict=True) if here]


def check_confidence(confidence: float) -> None:
    """Raise `ConfigError` if `confidence` is not between 0 and 1."""
    if not 0 < confidence < 1:
        raise ConfigError(f"confidence {confidence} is not between 0 and 1; usual is 0.95")
