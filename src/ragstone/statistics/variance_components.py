"""Shares of variance of nested sources, such as queries, answers to them and verdicts on those.

A score is the sum of a mean and of one random effect per source. The variances come from the sums
of squares of an analysis of variance, set equal to their expectations: unbiased for any numbers of
repeats, and without an assumption about the distribution (Searle, Casella and McCulloch, Variance
Components, 1992, chapter 5). A negative estimate is set to 0. Intervals are percentiles of a
bootstrap that draws whole groups of the first source, or clusters of them.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from ragstone.errors import DatasetError
from ragstone.statistics.bootstrap import Floats
from ragstone.statistics.resampling import Bootstrap
from ragstone.statistics.summary import Numbers, cluster_numbers

RESAMPLES = 2000


@dataclass(frozen=True, slots=True)
class VarianceShare:
    """A source of variance of single scores, and its share of all sources together."""

    source: str
    variance: float | None
    """None if no group of the source before has two members."""
    share: float | None
    """None if a variance is unknown, or all are 0."""
    interval: tuple[float, float] | None
    """The interval of the share; None if it is unknown, or with fewer than two clusters."""


def variance_shares(
    values: Sequence[float],
    groups: Sequence[Sequence[Hashable]],
    sources: Sequence[str],
    *,
    clusters: Sequence[Hashable] | None = None,
    bootstrap: Bootstrap = Bootstrap(resamples=RESAMPLES),  # noqa: B008 - frozen
) -> list[VarianceShare]:
    """Return the shares of variance of nested sources, the widest one first.

    Args:
        values: one number per score.
        groups: for each source but the last, the group of each score. A group of a later source is
            part of one group of the source before. The last source is a score by itself.
        sources: the names of the sources, one more than `groups`.
        clusters: the cluster of each score, which contains whole groups of the first source; by
            default, these groups are the clusters.
        bootstrap: confidence, number and seed of the resamples.

    Raises:
        DatasetError: the sequences differ in length.

    >>> queries = ["a", "a", "b", "b", "c", "c"]
    >>> found = variance_shares([1, 1, 0, 1, 0, 0], [queries], ["query", "repeat"])
    >>> [(one.source, round(one.share, 3)) for one in found]
    [('query', 0.5), ('repeat', 0.5)]
    """
    if any(len(one) != len(values) for one in (*groups, clusters or values)):
        raise DatasetError(f"{len(values)} values; give the group and the cluster of each of them")
    if len(sources) != len(groups) + 1:
        raise DatasetError(f"{len(groups)} groupings have {len(groups) + 1} sources")
    if not values:
        return [VarianceShare(source, None, None, None) for source in sources]
    numbers = np.asarray(values, dtype=np.float64)
    # Groups of one name in other groups differ.
    levels = [cluster_numbers(zip(*groups[: i + 1], strict=True)) for i in range(len(groups))]
    levels.append(np.arange(len(numbers), dtype=np.int64))
    members = levels[0] if clusters is None else cluster_numbers(clusters)
    # Shares do not depend on the origin; squares of numbers near 0 lose no digits.
    parts = _parts(numbers - numbers.mean(), levels, members)
    variances = _variances(parts.sum(axis=0, keepdims=True), len(sources))[0]
    shares = _shares(variances[None])[0]
    intervals: list[tuple[float, float] | None] = [None] * len(sources)
    if len(parts) > 1 and np.isfinite(shares).all():
        drawn = _shares(_variances(bootstrap.sums(parts), len(sources)))
        intervals = [bootstrap.interval(column) for column in drawn.T]
    return [
        VarianceShare(source, _known(max(variance, 0.0)), _known(share), interval)
        for source, variance, share, interval in zip(
            sources, variances.tolist(), shares.tolist(), intervals, strict=True
        )
    ]


def _parts(values: Floats, levels: Sequence[Numbers], members: Numbers) -> Floats:
    """Return the sums of each cluster that the variances are computed from.

    The columns: sum and number of the values; per level, the sum over its groups of the squared sum
    by size; per level, the sum of squared sizes; per pair of levels, the sum over the groups of the
    first of the squared sizes of those of the second in it, by its size.
    """
    clusters = int(members.max()) + 1
    sizes = [np.bincount(level).astype(float) for level in levels]
    owners = [_first_of(level, members) for level in levels]
    columns = [np.bincount(members, values, clusters), np.bincount(members, minlength=clusters)]
    for level, size, owner in zip(levels, sizes, owners, strict=True):
        columns.append(np.bincount(owner, np.bincount(level, values) ** 2 / size, clusters))
    for size, owner in zip(sizes, owners, strict=True):
        columns.append(np.bincount(owner, size**2, clusters))
    for i, outer in enumerate(levels):
        for j in range(i, len(levels)):
            inside = np.bincount(_first_of(levels[j], outer), sizes[j] ** 2, len(sizes[i]))
            columns.append(np.bincount(owners[i], inside / sizes[i], clusters))
    return np.column_stack(columns).astype(np.float64)


def _first_of(level: Numbers, of: Numbers) -> Numbers:
    """Return, for each group of a level, the number in `of` of its first member."""
    found = np.zeros(int(level.max()) + 1, dtype=np.int64)
    found[level[::-1]] = of[::-1]
    return found


def _variances(sums: Floats, count: int) -> Floats:
    """Return one variance per source, shape (rows, count), from rows of summed parts; may be < 0.

    NaN if the data do not determine it.
    """
    total, n = sums[:, 0], sums[:, 1]
    squares = [total**2 / n, *sums[:, 2 : 2 + count].T]
    sizes = sums[:, 2 + count : 2 + 2 * count]
    inside: dict[tuple[int, int], Floats] = {(-1, j): sizes[:, j] / n for j in range(count)}
    pairs = ((i, j) for i in range(count) for j in range(i, count))
    inside |= {pair: sums[:, 2 + 2 * count + place] for place, pair in enumerate(pairs)}
    found = np.full((len(sums), count), np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        for i in reversed(range(count)):
            rest = squares[i + 1] - squares[i]
            for j in range(i + 1, count):
                rest = rest - (inside[i, j] - inside[i - 1, j]) * found[:, j]
            weight = inside[i, i] - inside[i - 1, i]
            found[:, i] = np.where(weight > _ROUNDING, rest / weight, np.nan)
    return found


_ROUNDING = 1e-9
"""A weight below it is 0: no group of the source before has two members."""


def _shares(variances: Floats) -> Floats:
    """Return each variance as a share of their sum; negative ones count as 0."""
    positive = np.maximum(variances, 0.0)
    total = positive.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(total > 0, positive / total, np.nan)


def _known(number: float) -> float | None:
    return number if np.isfinite(number) else None
