"""Correlations of metrics with judges or with people, and their table.

Examples: BERGEN's Figure 2 (metrics against a judge, per data set) and mtRAG's Table 7 (metrics
against the win rate, weighted).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias

from ragstone.core.tables import TextTable
from ragstone.errors import ConfigError, DatasetError, did_you_mean
from ragstone.statistics.correlation import Column, kendall, pearson, spearman
from ragstone.statistics.resampling import Coefficient

Kind: TypeAlias = Literal["pearson", "spearman", "kendall"]
_KINDS: Final[Mapping[str, Callable[..., Coefficient]]] = {
    "pearson": pearson,
    "spearman": spearman,
    "kendall": kendall,
}
ALL: Final = "all"
LEAST_IN_GROUP: Final = 10
"""Minimum number of items with both values for a correlation within a group."""
NOT_ENOUGH: Final = "not enough"
"""Shown in the place of a number if a group has too few items."""


@dataclass(frozen=True, slots=True)
class CorrelationRow:
    """The correlation of one metric with one judge or rating, within one group of items."""

    group: str
    metric: str
    against: str
    correlation: Coefficient

    @property
    def shown(self) -> str:
        """The value with two decimals; if there is none, whether the group is too small."""
        value, few = self.correlation.value, self.correlation.n < LEAST_IN_GROUP
        absent = NOT_ENOUGH if few and self.group != ALL else "-"
        return absent if value is None else f"{value:z.2f}"


def correlations(
    metrics: Mapping[str, Column],
    against: Mapping[str, Column],
    *,
    groups: Sequence[str] | None = None,
    kind: Kind = "spearman",
    weights: Sequence[float] | None = None,
    clusters: Sequence[Hashable] | None = None,
    resamples: int = 2_000,
    seed: int = 0,
) -> list[CorrelationRow]:
    """Return the correlation of every metric with every column of `against`.

    `metrics` and `against` map names to one value or None per item. `groups` has one name per item,
    such as its language; the rows of groups follow those of all items. A group with fewer than
    `LEAST_IN_GROUP` items that have both values has no correlation. `kendall` takes no weights.
    Other arguments are those of `pearson`.

    >>> rows = correlations({"F1": [0.1, 0.4, 0.9]}, {"people": [1, 2, 4]}, resamples=50)
    >>> rows[0].metric, round(rows[0].correlation.value, 6)
    ('F1', 1.0)
    """
    if kind not in _KINDS:
        raise ConfigError(f"unknown correlation {kind!r}{did_you_mean(kind, _KINDS)}")
    if kind == "kendall" and weights is not None:
        raise ConfigError("kendall takes no weights; use spearman")
    sizes = {len(column) for column in (*metrics.values(), *against.values())}
    if len(sizes) != 1:
        raise DatasetError(f"columns of {sorted(sizes)} items; all need the same items")
    chosen = {ALL: list(range(sizes.pop()))}
    for place, group in enumerate(groups or ()):
        chosen.setdefault(group, []).append(place)
    per_item = {"clusters": clusters, "weights": weights}
    given = {name: column for name, column in per_item.items() if column is not None}
    rows = []
    for group, places in chosen.items():
        options: dict[str, Any] = {n: [held[i] for i in places] for n, held in given.items()}
        for name, column in metrics.items():
            for other, target in against.items():
                pair = ([column[i] for i in places], [target[i] for i in places])
                found = _KINDS[kind](*pair, **options, resamples=resamples, seed=seed)
                if group != ALL and found.n < LEAST_IN_GROUP:
                    found = replace(found, value=None, interval=None)
                rows.append(CorrelationRow(group, name, other, found))
    return rows


def inverse_frequency(values: Sequence[Hashable]) -> list[float]:
    """Return weights that sum to 1 for every distinct value.

    >>> inverse_frequency(["a", "a", "b"])
    [0.5, 0.5, 1.0]
    """
    counts = Counter(values)
    return [1 / counts[value] for value in values]


def correlation_table(rows: Sequence[CorrelationRow]) -> str:
    """Return the rows as a table for the terminal."""
    lines = []
    for row in rows:
        found, low_high = row.correlation, row.correlation.interval
        interval = "-" if low_high is None else f"[{low_high[0]:.2f}, {low_high[1]:.2f}]"
        lines.append([row.group, row.metric, row.against, row.shown, interval, found.n])
    heads = ["items", "metric", "against", "correlation", "interval", "n"]
    return str(TextTable(heads, lines))
