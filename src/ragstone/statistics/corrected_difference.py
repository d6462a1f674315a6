"""Differences of two systems, and ranks of several, corrected by people's labels of some answers.

The difference is estimated in several ways. The one with the narrowest interval is used. All are
unbiased, and their variances are those of labels that the judge was not tuned on.

- `labels alone`: over the queries of which people labelled both answers.
- `prediction-powered`: the same, with the judge's differences over all queries.
- `unpaired`: the difference of two corrected means, if people labelled answers to other queries.
- `rogan-gladen`: the difference of two shares, by sensitivity and specificity of the judge.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragstone.errors import DatasetError
from ragstone.statistics.bootstrap import Floats
from ragstone.statistics.corrected import (
    CorrectedEstimate,
    LabelledItems,
    Method,
    check_enough,
    corrected,
    labelled_items,
    labels_alone,
)
from ragstone.statistics.label_weights import label_weights
from ragstone.statistics.paired import adjust
from ragstone.statistics.prediction_powered import Calibrated, calibrated
from ragstone.statistics.proportions import t_p
from ragstone.statistics.ranks import Place, places
from ragstone.statistics.rogan_gladen import rogan_gladen
from ragstone.statistics.summary import UNIT, Numbers, check_confidence


@dataclass(frozen=True)
class GradedSystem:
    """One system's answers, one entry per query; all systems have the queries in one order."""

    judge: Floats
    """The judge's values; NaN if there is none."""
    human: Floats
    """People's values; NaN if people did not label the answer."""
    probability: Floats | None = None
    """Probability of each answer's label (`label_weights`); None for a random sample."""
    rounds: Numbers | None = None
    """The round in which each answer was drawn, from 1; None for one round."""

    @property
    def judged(self) -> NDArray[np.bool_]:
        """Whether each answer has a value of the judge."""
        return ~np.isnan(self.judge)

    @property
    def drawn(self) -> Floats:
        """The probability of each label; NaN if it is of a random sample, or if there is none."""
        if self.probability is None:
            return np.full(len(self.judge), np.nan)
        return np.where(np.isnan(self.human), np.nan, self.probability)

    def among(self, kept: NDArray[np.bool_]) -> GradedSystem:
        """Return the answers to some of the queries."""
        probability = None if self.probability is None else self.probability[kept]
        rounds = None if self.rounds is None else self.rounds[kept]
        return GradedSystem(self.judge[kept], self.human[kept], probability, rounds)

    def minus(self, other: GradedSystem) -> GradedSystem | None:
        """Return the differences from another system's answers.

        None if the systems' labels were drawn apart with unequal probabilities: the probability
        that both answers were drawn is then unknown.
        """
        drawn = [~np.isnan(system.drawn) for system in (self, other)]
        together = int(np.isclose(self.drawn, other.drawn).sum())
        if 2 * together < max(int(one.sum()) for one in drawn):
            return None
        judge, human = self.judge - other.judge, self.human - other.human
        return GradedSystem(judge, human, self.probability, self.rounds)

    def items(
        self, clusters: Sequence[Hashable] | None, strata: Sequence[Hashable] | None
    ) -> LabelledItems:
        """Return the columns of the answers with a value of the judge, with weights.

        Raises `DatasetError` if fewer than ten of them have labels.
        """
        kept = self.among(self.judged)
        return labelled_items(
            kept.judge,
            kept.human,
            weights=label_weights(~np.isnan(kept.human), kept.probability, kept.rounds),
            clusters=_kept(clusters, self.judged),
            strata=_kept(strata, self.judged),
        )

    def mean(
        self, clusters: Sequence[Hashable] | None, strata: Sequence[Hashable] | None = None
    ) -> Calibrated | str:
        """Return people's mean over the answers, or the reason why there is none.

        Answers without a value of the judge are counted, not estimated.
        """
        try:
            items = self.items(clusters, strata)
        except DatasetError as error:
            return str(error)
        return calibrated(items, left_out=int((~self.judged).sum()))


@dataclass(frozen=True, slots=True)
class CorrectedDifference:
    """The mean of `system` minus that of `baseline`, corrected for the judge's bias."""

    system: str
    baseline: str
    n: int
    """Queries with a value of the judge for both systems."""
    labelled: int
    """Labelled queries; of the system with the fewest, if they are not paired."""
    judge_difference: float | None
    difference: float | None = None
    """None if there are too few labels; `reason` has the number that is missing."""
    interval: tuple[float, float] | None = None
    """Excludes 0 exactly if p is below 1 - confidence."""
    p: float | None = None
    adjusted_p: float | None = None
    """After Holm, over all pairs of systems."""
    method: Method | None = None
    trust: float | None = None
    """Weight of the judge's values; 0 if they are not used."""
    labels_alone: tuple[float, float] | None = None
    """The interval from the labelled queries alone, if enough have labels of both systems."""
    reason: str = ""


def corrected_difference(
    system: GradedSystem,
    baseline: GradedSystem,
    *,
    names: tuple[str, str] = ("system", "baseline"),
    clusters: Sequence[Hashable] | None = None,
    strata: Sequence[Hashable] | None = None,
    confidence: float = 0.95,
    bounds: tuple[float, float] = UNIT,
) -> CorrectedDifference:
    """Return people's mean of one system minus that of another one, over all queries.

    Args:
        system: the judge's and people's values of the answers.
        baseline: the same of the other system.
        names: names of the two systems.
        clusters: one name per query, such as its conversation.
        strata: one name per query, such as the value of a label.
        confidence: level of the interval.
        bounds: range of a value.

    Too few labels are a result with a reason.

    >>> judge = np.tile([1.0, 0.0, 1.0, 1.0, 0.5], 40)
    >>> human = np.where(np.arange(200) < 40, judge > 0.5, np.nan)
    >>> system, baseline = GradedSystem(judge, human), GradedSystem(1 - judge, 1 - human)
    >>> found = corrected_difference(system, baseline)
    >>> round(found.difference, 3), found.labelled, found.method
    (0.214, 40, 'prediction-powered')
    """
    check_confidence(confidence)
    both = system.judged & baseline.judged
    one, two = system.among(both), baseline.among(both)
    gaps, span = one.judge - two.judge, bounds[1] - bounds[0]
    raw = float(gaps.mean()) if len(gaps) else None
    found, reason = _estimates(one, two, _kept(clusters, both), _kept(strata, both))
    if not found:
        common = int((~np.isnan(one.human + two.human)).sum())
        return CorrectedDifference(*names, len(gaps), common, raw, reason=reason)
    best = min(found.values(), key=lambda estimate: estimate.half_width(confidence, span))
    alone = found.get("labels alone")
    limits = (-span, span)
    return CorrectedDifference(
        *names,
        len(gaps),
        best.labelled,
        raw,
        min(max(best.value, -span), span),
        best.interval(confidence, limits, span),
        t_p(abs(best.value) / best.error(span), best.freedom),
        method=best.method,
        trust=best.trust,
        labels_alone=alone.interval(confidence, limits, span) if alone else None,
    )


def _kept(names: Sequence[Hashable] | None, kept: NDArray[np.bool_]) -> list[Hashable] | None:
    return None if names is None else [n for n, k in zip(names, kept, strict=True) if k]


def _estimates(
    one: GradedSystem,
    two: GradedSystem,
    clusters: Sequence[Hashable] | None,
    strata: Sequence[Hashable] | None,
) -> tuple[dict[Method, CorrectedEstimate], str]:
    """Return the estimates that the labels allow, or the reason why there are none."""
    found: dict[Method, CorrectedEstimate] = {}
    reason = "the labels of the two systems were drawn apart, with unequal probabilities"
    pairs = one.minus(two)
    if pairs is not None:
        try:
            check_enough(int((~np.isnan(pairs.human)).sum()), "queries with labels of both")
            items = pairs.items(clusters, strata)
            found = {"labels alone": labels_alone(items), "prediction-powered": corrected(items)}
        except DatasetError as error:
            reason = str(error)
    try:
        apart = [system.items(clusters, strata) for system in (one, two)]
    except DatasetError:
        return found, reason
    # If people's labels of both systems hardly differ, the errors of two means would cancel.
    least = found["labels alone"].unseen if found else 0.0
    found["unpaired"] = corrected(apart[0]).minus(corrected(apart[1]), "unpaired", least)
    shares = [rogan_gladen(items) for items in apart]
    if shares[0] and shares[1]:
        found["rogan-gladen"] = shares[0].minus(shares[1], "rogan-gladen", least)
    return found, reason


def corrected_ranks(
    differences: Sequence[CorrectedDifference],
    means: Mapping[str, float],
    *,
    lower_is_better: bool = False,
    alpha: float = 0.05,
) -> dict[str, Place]:
    """Return the ranks of systems from the corrected differences of all pairs.

    A rank is a range. All true ranks are in their ranges with a probability of at least 1 - alpha.

    Args:
        differences: of all pairs, with adjusted p.
        means: system -> corrected mean; other systems have no rank.
        lower_is_better: whether the lowest mean has rank 1.
        alpha: level of the adjusted p.

    >>> judge = np.tile([1.0, 0.0, 1.0, 1.0], 50)
    >>> human = np.where(np.arange(200) < 40, judge, np.nan)
    >>> systems = {"a": GradedSystem(1 - judge, 1 - human), "b": GradedSystem(judge, human)}
    >>> found = corrected_ranks(adjusted(all_differences(systems)), {"a": 0.25, "b": 0.75})
    >>> {system: place.text for system, place in found.items()}
    {'b': '1', 'a': '2'}
    """
    best_first = sorted(means, key=means.__getitem__, reverse=not lower_is_better)
    better = []
    for one in differences:
        if one.adjusted_p is not None and one.adjusted_p < alpha and one.difference:
            pair = (one.system, one.baseline)
            better.append(pair if (one.difference > 0) != lower_is_better else pair[::-1])
    return places(best_first, better)


def adjusted(differences: Iterable[CorrectedDifference]) -> list[CorrectedDifference]:
    """Return the differences with p adjusted by Holm over those that have one."""
    found = list(differences)
    corrected_p = iter(adjust([one.p for one in found if one.p is not None]))
    return [one if one.p is None else replace(one, adjusted_p=next(corrected_p)) for one in found]


def all_differences(
    systems: Mapping[str, GradedSystem], baseline: str = "", **options: Any
) -> Iterator[CorrectedDifference]:
    """Yield the corrected difference of each pair of systems, the first minus the second.

    The baseline is the second system of each of its pairs.
    """
    ordered = sorted(systems, key=lambda name: name == baseline)
    for a, b in combinations(ordered, 2):
        yield corrected_difference(systems[a], systems[b], names=(a, b), **options)
