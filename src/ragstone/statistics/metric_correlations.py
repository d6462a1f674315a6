"""Correlations of metrics with judges or with people, and their table.

BERGEN's Figure 2 (metrics against a judge, data set by data set) and mtRAG's Table 7 (metrics
against the win rate, weighted) are both of this form.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from ragstone.core.tables import TextTable
from ragstone.errors import ConfigError, DatasetError, did_you_mean
from ragstone.statistics.correlation import Column, Correlation, kendall, pearson, spearman

Kind: TypeAlias = Literal["pearson", "spearman", "kendall"]
_KINDS: Final[Mapping[str, Callable[..., Correlation]]] = {
    "pearson": pearson,
    "spearman": spearman,
    "kendall": kendall,
}
ALL: Final = "all"


@dataclass(frozen=True, slots=True)
class CorrelationRow:
    """One metric against one judge or rating, within one group of items."""

    group: str
    metric: str
    against: str
    correlation: Correlation


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
    """Return the correlation of every metric with everything in `against`.

    Args:
        metrics: name -> one value per item, None where there is none.
        against: name -> one value per item: a judge's, or people's.
        groups: one name per item (its data set, a label): rows for each, after those for all.
        kind: `spearman`, `pearson`, or `kendall` (which takes no weights).
        weights: how much each item counts; see `inverse_frequency`.
        clusters: one name per item; whole clusters are resampled.
        resamples: of the bootstrap.
        seed: of the resamples.

    >>> rows = correlations({"F1": [0.1, 0.4, 0.9]}, {"people": [1, 2, 4]}, resamples=50)
    >>> rows[0].metric, round(rows[0].correlation.value, 6)
    ('F1', 1.0)
    """
    if kind not in _KINDS:
        raise ConfigError(f"unknown correlation {kind!r}{did_you_mean(kind, _KINDS)}")
    if kind == "kendall" and weights is not None:
        raise ConfigError("kendall takes no weights; use spearman")
    size = _size({**metrics, **against})
    rows = []
    for group, places in _places(groups, size).items():
        options: dict[str, Any] = {"resamples": resamples, "seed": seed}
        if clusters is not None:
            options["clusters"] = [clusters[i] for i in places]
        if weights is not None:
            options["weights"] = [weights[i] for i in places]
        for name, column in metrics.items():
            for other, target in against.items():
                pair = ([column[i] for i in places], [target[i] for i in places])
                rows.append(CorrelationRow(group, name, other, _KINDS[kind](*pair, **options)))
    return rows


def inverse_frequency(values: Sequence[Hashable]) -> list[float]:
    """Return weights under which every distinct value counts alike.

    >>> inverse_frequency(["a", "a", "b"])
    [0.5, 0.5, 1.0]
    """
    counts = Counter(values)
    return [1 / counts[value] for value in values]


def correlation_table(rows: Sequence[CorrelationRow]) -> str:
    """Return the rows as a table for the terminal, intervals beside the values."""
    shown = [
        [row.group, row.metric, row.against, *_shown(row.correlation), row.correlation.n]
        for row in rows
    ]
    heads = ["items", "metric", "against", "correlation", "interval", "n"]
    return str(TextTable(heads, shown))


def _shown(found: Correlation) -> tuple[str, str]:
    value = "-" if found.value is None else f"{found.value:.2f}"
    held = found.interval
    return value, "-" if held is None else f"[{held[0]:.2f}, {held[1]:.2f}]"


def _size(columns: Mapping[str, Column]) -> int:
    sizes = {len(column) for column in columns.values()}
    if len(sizes) != 1:
        raise DatasetError(f"columns of {sorted(sizes)} items; all must speak of the same items")
    return sizes.pop()


def _places(groups: Sequence[str] | None, size: int) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {ALL: list(range(size))}
    for place, group in enumerate(groups or ()):
        found.setdefault(group, []).append(place)
    return found
