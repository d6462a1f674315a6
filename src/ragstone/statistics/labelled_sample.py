"""Whether the labelled items differ from the others: by label, length, system or judge's value.

A correction assumes that the labelled items are a random sample. Each feature is compared between
labelled and other items by a permutation test; the p of all features are adjusted by Holm.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ragstone.errors import DatasetError
from ragstone.statistics.bootstrap import Floats
from ragstone.statistics.paired import adjust
from ragstone.statistics.summary import cluster_numbers

_PERMUTATIONS: Final = 1999
_FEW_VALUES: Final = 20
"""Maximum number of values of a feature that is compared."""


@dataclass(frozen=True, slots=True)
class SampleDifference:
    """A feature by which labelled items differ from the others."""

    feature: str
    value: str
    """The value whose shares differ most; "" for a number, whose means are compared."""
    labelled: float
    """Share of the value, or mean, among the labelled items."""
    others: float
    labelled_n: int
    others_n: int
    adjusted_p: float
    """After Holm, over all features."""

    @property
    def text(self) -> str:
        """The difference as a sentence.

        >>> SampleDifference("kind", "long", 0.4, 0.1, 30, 70, 0.001).text
        'kind=long: 40 % of the 30 labelled items, 10 % of the 70 others (p=0.001)'
        >>> SampleDifference("length", "", 41.2, 20.0, 30, 70, 0.001).text
        'length: mean 41.2 of the 30 labelled items, 20 of the 70 others (p=0.001)'
        """
        if self.value:
            name, figures = f"{self.feature}={self.value}", (self.labelled * 100, self.others * 100)
            first, second = (f"{share:.0f} %" for share in figures)
        else:
            name, first, second = self.feature, f"mean {self.labelled:.3g}", f"{self.others:.3g}"
        return (
            f"{name}: {first} of the {self.labelled_n:,} labelled items, {second} of the "
            f"{self.others_n:,} others (p={self.adjusted_p:.2g})"
        )


def sample_differences(
    labelled: Sequence[bool],
    features: Mapping[str, Sequence[float | str]],
    *,
    alpha: float = 0.05,
    seed: int = 0,
) -> list[SampleDifference]:
    """Return the features by which labelled items differ significantly, smallest p first.

    Args:
        labelled: whether people labelled each item.
        features: name -> one value per item: numbers, or texts with at most 20 values.
        alpha: level of the adjusted p.
        seed: seed of the permutations.

    Raises:
        DatasetError: a feature has another number of values.

    >>> kinds = ["long"] * 20 + ["short"] * 80
    >>> [one.text for one in sample_differences([True] * 20 + [False] * 80, {"kind": kinds})]
    ['kind=long: 100 % of the 20 labelled items, 0 % of the 80 others (p=0.0005)']
    """
    chosen = np.array(labelled, dtype=np.bool_)
    known = {name: values for name, values in features.items() if _comparable(values)}
    for name, values in known.items():
        if len(values) != len(chosen):
            raise DatasetError(f"{len(chosen)} items, but {len(values)} values of {name!r}")
    if not 0 < chosen.sum() < len(chosen):
        return []
    corrected = adjust(_permuted(chosen, [_columns(one) for one in known.values()], seed))
    found = [
        _difference(name, values, chosen, p)
        for (name, values), p in zip(known.items(), corrected, strict=True)
        if p < alpha
    ]
    return sorted(found, key=lambda one: one.adjusted_p)


def _comparable(values: Sequence[float | str]) -> bool:
    kinds = set(values)
    texts = any(isinstance(value, str) for value in kinds)
    return len(kinds) > 1 and (not texts or len(kinds) <= _FEW_VALUES)


def _columns(values: Sequence[float | str]) -> Floats:
    """Return (item, column) numbers of mean 0 and variance 1: one column per text, or one in all.

    The squared differences of the columns of texts, weighted, sum to Pearson's chi-squared.
    """
    if not isinstance(values[0], str):
        table = np.asarray(values, dtype=np.float64)[:, None]
    else:
        table = np.eye(len(set(values)))[cluster_numbers(values)]
    share = table.mean(axis=0)
    scale = table.std(axis=0)
    if isinstance(values[0], str):
        scale = np.sqrt(share)
    centred: Floats = (table - share) / np.where(scale > 0, scale, 1.0)
    return centred


def _permuted(chosen: NDArray[np.bool_], tables: Sequence[Floats], seed: int) -> list[float]:
    """Return, per feature, the share of random samples that differ at least as much."""
    if not tables:
        return []
    whole = np.concatenate(tables, axis=1)
    starts = np.cumsum([0, *(table.shape[1] for table in tables[:-1])])
    generator, n = np.random.default_rng(seed), int(chosen.sum())

    def distances(rows: NDArray[np.int64]) -> Floats:
        found: Floats = np.add.reduceat(whole[rows].sum(axis=0) ** 2, starts)
        return found

    seen = distances(np.flatnonzero(chosen)) * (1 - 1e-9)
    above = np.zeros(len(tables))
    for _ in range(_PERMUTATIONS):
        above += distances(generator.choice(len(whole), n, replace=False)) >= seen
    return [float(one) for one in (1 + above) / (1 + _PERMUTATIONS)]


def _difference(
    name: str, values: Sequence[float | str], chosen: NDArray[np.bool_], p: float
) -> SampleDifference:
    first = [v for v, c in zip(values, chosen, strict=True) if c]
    second = [v for v, c in zip(values, chosen, strict=True) if not c]
    n, others_n = len(first), len(second)
    if not isinstance(values[0], str):
        mean, other = (float(np.mean(np.array(v, dtype=np.float64))) for v in (first, second))
        return SampleDifference(name, "", mean, other, n, others_n, p)
    here, there = Counter(first), Counter(second)
    value = max(sorted(set(values), key=str), key=lambda v: abs(here[v] / n - there[v] / others_n))
    return SampleDifference(
        name, str(value), here[value] / n, there[value] / others_n, n, others_n, p
    )
