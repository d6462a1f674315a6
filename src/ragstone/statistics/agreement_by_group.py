"""Agreement of a judge with people within groups of answers, and tests against the other answers.

A group is compared with all other answers of its label. Resamples of clusters contain both sides,
because the answers to one query may be in several groups.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ragstone.statistics.agreement import weighted_kappa
from ragstone.statistics.bootstrap import Floats
from ragstone.statistics.correlation import Column, weighted_spearman
from ragstone.statistics.paired import adjust, paired_summary
from ragstone.statistics.proportions import t_p
from ragstone.statistics.resampling import Bootstrap, Coefficient
from ragstone.statistics.summary import Numbers, Summary, cluster_numbers

LEAST_ITEMS: Final = 30
"""Minimum number of answers, in the group and elsewhere, for a test of their difference."""
LEAST_CLUSTERS: Final = 10
"""Minimum number of clusters on either side of a test."""
LEVEL: Final = 0.05
"""The corrected p of a named difference is below this."""
_DIGITS: Final = 12
LEAST_VALUES: Final = 3
"""Minimum number of answers and clusters for an agreement and its interval."""
_Measure: TypeAlias = Callable[[Numbers], Callable[[Floats], Floats]]
"""Places among the answers with a verdict -> the function from their weights to the agreement."""


@dataclass(frozen=True, slots=True)
class GroupAgreement:
    """The agreement of a judge with people on the answers with one value of a label."""

    label: str
    value: str
    items: int
    """Answers of the group, with a verdict or without."""
    agreement: Coefficient
    """Kappa if judge and people choose from the same words, else Spearman's correlation."""
    people: float | None
    """Mean of people's grades: agreement is low if they hardly differ."""
    bias: Summary
    """The judge's excess over people."""
    difference: float | None
    """The agreement minus that on all other answers; None if either is undefined."""
    interval: tuple[float, float] | None
    """The interval of the difference."""
    p: float | None
    """Two-sided, by Holm over all groups; None if a side is too small for a test."""
    worse: bool
    """Whether a test shows that the agreement is lower than elsewhere."""


def agreement_by_group(
    judge: Column,
    people: Sequence[float],
    groups: Mapping[str, Mapping[str, Sequence[int]]],
    *,
    labels: Sequence[tuple[str, str]] = (),
    clusters: Sequence[Hashable] | None = None,
    bootstrap: Bootstrap | None = None,
) -> list[GroupAgreement]:
    """Return the agreement within each group, label by label.

    A difference is tested if both sides have `LEAST_ITEMS` answers with a verdict in
    `LEAST_CLUSTERS` clusters: Student's test with the standard error of the resamples, corrected by
    Holm over all groups of all labels. Two groups of one label are one test.

    Args:
        judge: the judge's values; None without a verdict.
        people: people's grades, in the same order.
        groups: label -> value -> places of the answers.
        labels: (people's word, judge's word) per answer, for kappa; without them, Spearman.
        clusters: one name per answer.
        bootstrap: of the intervals (default: 2,000 resamples).

    >>> people = [0.0, 1.0] * 60
    >>> judge = people[:60] + [0.0, 1.0, 1.0, 0.0] * 15
    >>> sides = {"first": range(60), "second": range(60, 120)}
    >>> [(one.value, one.worse) for one in agreement_by_group(judge, people, {"half": sides})]
    [('first', False), ('second', True)]
    """
    drawing = bootstrap or Bootstrap(resamples=2_000)
    names = list(range(len(judge)) if clusters is None else clusters)
    held = np.array([place for place, value in enumerate(judge) if value is not None], dtype=int)
    members = cluster_numbers(names[place] for place in held)
    measure = _by_words(labels, held) if labels else _by_rank(judge, people, held)
    named = [(label, value, list(own)) for label, of in groups.items() for value, own in of.items()]
    splits = [_Split(np.isin(held, own), members, measure) for *_, own in named]
    drawn = _resampled(splits, members, drawing)
    corrected = _corrected(splits, drawn)
    rows = zip(named, splits, drawn, corrected, strict=True)
    return [
        GroupAgreement(
            label=label,
            value=value,
            items=len(own),
            agreement=split.agreement(resampled, drawing, len(own)),
            people=math.fsum(people[place] for place in own) / len(own) if own else None,
            bias=paired_summary(
                [people[place] for place in own],
                [judge[place] for place in own],
                clusters=[names[place] for place in own],
            ),
            difference=split.gap,
            interval=split.interval(resampled, drawing),
            p=p,
            worse=p is not None and p < LEVEL and (split.gap or 0.0) < 0,
        )
        for (label, value, own), split, resampled, p in rows
    ]


def _by_words(labels: Sequence[tuple[str, str]], held: Numbers) -> _Measure:
    pairs = [labels[place] for place in held]
    return lambda own: weighted_kappa([pairs[p][0] for p in own], [pairs[p][1] for p in own])


def _by_rank(judge: Column, people: Sequence[float], held: Numbers) -> _Measure:
    first = np.array([judge[place] for place in held], dtype=float)
    second = np.array([people[place] for place in held], dtype=float)
    return lambda own: weighted_spearman(first[own], second[own])


class _Split:
    """The answers with a verdict, split into a group and all others."""

    def __init__(self, mask: NDArray[np.bool_], members: Numbers, measure: _Measure) -> None:
        self.mask = mask
        self.places = [np.flatnonzero(side) for side in (mask, ~mask)]
        self.sizes = [len(side) for side in self.places]
        self.clusters = [len(np.unique(members[side])) for side in self.places]
        self._measures = [
            measure(side) if len(side) >= LEAST_VALUES else None for side in self.places
        ]
        self.values = self.of(np.ones((1, len(mask))))[0]

    def of(self, weights: Floats) -> Floats:
        """Return the agreement in the group and elsewhere, shape (rows, 2); NaN if undefined."""
        found = np.full((len(weights), 2), np.nan)
        for side, (places, measure) in enumerate(zip(self.places, self._measures, strict=True)):
            if measure is not None:
                own = weights[:, places]
                some = own.any(axis=1)
                # Equal agreement in another order of summation differs in the last bits.
                found[some, side] = measure(own[some]).round(_DIGITS)
        return found

    def agreement(self, rows: Floats, drawing: Bootstrap, items: int) -> Coefficient:
        """Return the agreement in the group of some items."""
        n, value = self.sizes[0], float(self.values[0])
        if not math.isfinite(value):
            return Coefficient(None, n, items - n, None)
        interval = drawing.interval(rows[:, 0]) if self.clusters[0] >= LEAST_VALUES else None
        return Coefficient(value, n, items - n, interval)

    @property
    def gap(self) -> float | None:
        """The agreement minus that elsewhere; None if either is undefined."""
        gap = float(self.values[0] - self.values[1])
        return gap if math.isfinite(gap) else None

    def interval(self, rows: Floats, drawing: Bootstrap) -> tuple[float, float] | None:
        """Return the interval of the difference."""
        if self.gap is None or min(self.clusters) < LEAST_VALUES:
            return None
        return drawing.interval(rows[:, 0] - rows[:, 1])

    def p(self, rows: Floats) -> float | None:
        """Return the p of the difference, uncorrected; None if a side is too small."""
        gap, gaps = self.gap, rows[:, 0] - rows[:, 1]
        large = min(self.sizes) >= LEAST_ITEMS and min(self.clusters) >= LEAST_CLUSTERS
        if not large or gap is None:
            return None
        error = float(np.nanstd(gaps, ddof=1))
        if error == 0:
            return 1.0 if gap == 0 else None
        return t_p(gap / error, min(self.clusters) - 1)


def _resampled(splits: Sequence[_Split], members: Numbers, drawing: Bootstrap) -> list[Floats]:
    """Return the agreement of every split in every resample, shape (resamples, 2) each."""
    if not len(members):
        return [np.full((drawing.resamples, 2), np.nan)] * len(splits)
    parts: list[list[Floats]] = [[] for _ in splits]
    for counts in drawing.counts(int(members.max()) + 1, width=len(members)):
        weights = counts[:, members].astype(np.float64)
        for held, split in zip(parts, splits, strict=True):
            held.append(split.of(weights))
    return [np.concatenate(held) for held in parts]


def _corrected(splits: Sequence[_Split], drawn: Sequence[Floats]) -> list[float | None]:
    """Return each p after Holm; a split and its mirror image are one test."""
    raw: dict[bytes, float | None] = {}
    tests = [min(split.mask.tobytes(), (~split.mask).tobytes()) for split in splits]
    for test, split, rows in zip(tests, splits, drawn, strict=True):
        if test not in raw:
            raw[test] = split.p(rows)
    known = {test: p for test, p in raw.items() if p is not None}
    holm = dict(zip(known, adjust(list(known.values())), strict=True))
    return [holm.get(test) for test in tests]
