"""A mean never stands alone: with it stand its n, what is lacking, and an interval."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from ragstone.core.schemas import SUMMARIES, to_table
from ragstone.core.tables import Shown, TextTable
from ragstone.errors import ConfigError, DatasetError
from ragstone.statistics.bootstrap import Floats, ratio_interval
from ragstone.types import one_line

if TYPE_CHECKING:
    from arro3.core import Table

HEADERS: Final = ("mean", "interval", "n", "missing", "failed", "n/a")


@dataclass(frozen=True, slots=True)
class Summary(Shown):
    """The mean of some values, and what a reader must know to judge it."""

    mean: float | None
    """None where there is no value."""
    n: int
    """Values in the mean."""
    failed: int = 0
    """Items without a value because something went wrong; not in the mean."""
    not_applicable: int = 0
    """Items for which the metric is not defined; not in the mean."""
    missing: int = 0
    """Items that the system did not deliver: 0 each, and within n."""
    interval: tuple[float, float] | None = None
    """None where fewer than two clusters leave nothing to judge the spread by."""

    __repr__ = one_line

    def parts(self) -> Iterator[TextTable]:
        """Yield the table that `print` shows."""
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
    rows = [{**asdict(s), **_bounds(s.interval)} for s in summaries]
    return to_table(SUMMARIES, {name: [row[name] for row in rows] for name in SUMMARIES.names})


def _bounds(interval: tuple[float, float] | None) -> dict[str, float | None]:
    return dict(zip(("low", "high"), interval or (None, None), strict=True))


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
        values: one number per item; a None is an item that failed, and is added to `failed`.
        clusters: one name per value, the items of one conversation or source document sharing
            one; whole clusters are drawn. Without it each item is drawn on its own.
        confidence: of the interval, between 0 and 1.
        failed: items that failed and are not among `values`.
        not_applicable: items for which the metric is not defined, not among `values`.
        missing: how many of the values are zeros of items that the system did not deliver.

    Returns:
        For no value at all: mean None and interval None; for fewer than two clusters: interval
        None; for equal values: an interval of width 0, which says that no item differed from
        another, not that the mean is certain.

    Raises:
        DatasetError: a value is NaN or infinite, or `clusters` has another length.
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
        interval=mean_interval(numbers, held_clusters(clusters, held), confidence),
    )


def mean_interval(
    values: Floats, clusters: Sequence[Hashable] | None, confidence: float
) -> tuple[float, float] | None:
    """Return the interval of the mean of finite `values`; None for fewer than two clusters."""
    sums, sizes = cluster_sums(values, clusters)
    if len(sums) < 2:  # noqa: PLR2004 - one cluster shows no spread
        return None
    low, high = ratio_interval(sums, sizes, confidence)
    return _within(low, values), _within(high, values)


def _within(bound: float, values: Floats) -> float:
    """Keep rounding in the last place from pushing a bound out of the values' range."""
    return float(min(max(bound, values.min()), values.max()))


def cluster_sums(values: Floats, clusters: Sequence[Hashable] | None) -> tuple[Floats, Floats]:
    """Return the sum and the size of each cluster, in order of first appearance."""
    if clusters is None:
        return values, np.ones(len(values))
    places: dict[Hashable, int] = {}
    member = np.array([places.setdefault(c, len(places)) for c in clusters], dtype=np.int64)
    sums = np.bincount(member, values, len(places)).astype(np.float64)
    return sums, np.bincount(member).astype(np.float64)


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
            f"{name}: place {place} holds {values[place]}; a value is a finite number, or None "
            "with a reason where there is none"
        )
    return numbers, held


def held_clusters(
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
    """Raise `ConfigError` unless `confidence` lies between 0 and 1."""
    if not 0 < confidence < 1:
        raise ConfigError(f"confidence {confidence} is not between 0 and 1; usual is 0.95")
