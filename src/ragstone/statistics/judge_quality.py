"""The quality of a judge: its verdicts compared with people's, item by item.

Pure functions over columns of equal length. `ragstone.evaluation.judge_check` calls the judge and
builds the columns.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from ragstone.statistics.agreement import cohen_kappa, krippendorff_alpha
from ragstone.statistics.auc import AUC, auc
from ragstone.statistics.correlation import pearson, spearman
from ragstone.statistics.paired import paired_summary
from ragstone.statistics.proportions import Proportion, proportion
from ragstone.statistics.resampling import Coefficient
from ragstone.statistics.summary import Summary, summarise

Level: TypeAlias = Literal["fit", "fit only for comparing systems", "unfit"]

ONLY_SYSTEMS: Final = "fit only for comparing systems"
UNSCORED: Final = "unscored"
"""The label of the items on which the judge has none."""
HALF: Final = 0.5

LEAST_PARSED: Final = 0.95
LEAST_KAPPA: Final = 0.6
LEAST_CORRELATION: Final = 0.6
OF_CEILING: Final = 0.9
LEAST_INFORMED: Final = 0.2
NOTABLE_BIAS: Final = 0.2


@dataclass(frozen=True)
class Columns:
    """The verdicts of a judge and of people, one entry per item in each column."""

    judge: Sequence[float | None]
    """The judge's values from 0 to 1; None without a verdict."""
    human: Sequence[float]
    labels: Sequence[tuple[str, str]] = ()
    """(people's label, judge's label) if both choose from the same words; "" without a label."""
    raters: Sequence[Sequence[float]] = ()
    lengths: Sequence[int] = ()
    """Characters of the answer."""
    own: Sequence[bool] = ()
    """Whether the judge's own model wrote the answer."""
    clusters: Sequence[Hashable] | None = None


@dataclass(frozen=True)
class Accuracy:
    """The shares of correct verdicts of a judge with two kinds of verdicts."""

    true_yes: Proportion
    """Share of the items accepted by people that the judge accepts (sensitivity)."""
    true_no: Proportion
    """Share of the items refused by people that the judge refuses (specificity)."""

    @property
    def informed(self) -> float | None:
        """Youden's J: 0 for verdicts independent of the answers, 1 for a judge without error."""
        if self.true_yes.value is None or self.true_no.value is None:
            return None
        return self.true_yes.value + self.true_no.value - 1


@dataclass(frozen=True)
class Quality:
    """Measures of a judge; None if the columns do not define them."""

    parsed: Proportion
    """Items with a verdict."""
    confusion: Mapping[str, Mapping[str, int]]
    """People's label -> the judge's label -> items."""
    accuracy: Accuracy | None
    kappa: Coefficient | None
    """Cohen's kappa of the labels."""
    correlation: Coefficient
    """Spearman's correlation of the values."""
    discrimination: AUC | None
    """AUC of the judge's values, if people chose between two verdicts."""
    ceiling: Coefficient | None
    """Agreement among people: Krippendorff's alpha, level interval."""
    ceiling_correlation: float | None
    """Correlation of one rater with the mean of the others."""
    length_bias: Coefficient
    """Pearson's correlation of the judge's value with the length, among answers of equal grades.

    The judge's excess over people would be misleading: if long answers are better, a judge that
    accepts everything would seem to prefer short ones.
    """
    self_preference: Summary | None
    """The judge's excess over people on its own model's answers, minus that on other answers."""
    bias: Summary
    """The judge's excess over people."""


@dataclass(frozen=True)
class Use:
    """Whether a judge is fit for a use, with the reason.

    >>> Use("grade single answers", False, "kappa 0.5", "fit only for comparing systems").sentence
    'Fit only for comparing systems, not to grade single answers: kappa 0.5.'
    """

    use: str
    fit: bool
    reason: str
    """The figure that decided."""
    level: Level

    @property
    def sentence(self) -> str:
        """The level, the use and the reason."""
        joined = "," if self.level == ONLY_SYSTEMS else ""
        negated = " not" if joined else ""
        return f"{self.level.capitalize()}{joined}{negated} to {self.use}: {self.reason}."


def quality(columns: Columns, *, seed: int = 0) -> Quality:
    """Return all measures of a judge with their intervals."""
    judge, human, clusters = columns.judge, columns.human, columns.clusters
    excess = [None if j is None else j - h for j, h in zip(judge, human, strict=True)]
    two_kinds = bool(human) and set(human) <= {0.0, 1.0}
    several_raters = any(len(given) > 1 for given in columns.raters)
    positive = [value == 1.0 for value in human]
    lengths = columns.lengths or [0] * len(judge)
    own = columns.own or [False] * len(judge)
    return Quality(
        parsed=proportion(sum(value is not None for value in judge), len(judge)),
        confusion=_confusion(columns.labels),
        accuracy=_accuracy(columns) if two_kinds else None,
        kappa=_kappa(columns, seed),
        correlation=spearman(judge, human, clusters=clusters, seed=seed),
        discrimination=auc(judge, positive, clusters=clusters, seed=seed) if two_kinds else None,
        ceiling=krippendorff_alpha(columns.raters, level="interval", clusters=clusters, seed=seed)
        if several_raters
        else None,
        ceiling_correlation=rater_correlation(columns.raters),
        length_bias=pearson(_at_equal_grades(columns), lengths, seed=seed),
        self_preference=_self_preference(excess, own),
        bias=paired_summary(human, judge, clusters=clusters),
    )


def _confusion(labels: Sequence[tuple[str, str]]) -> dict[str, dict[str, int]]:
    counts = Counter((people, judge or UNSCORED) for people, judge in labels if people)
    found: dict[str, dict[str, int]] = {}
    for (people, judge), count in sorted(counts.items()):
        found.setdefault(people, {})[judge] = count
    return found


def _accuracy(columns: Columns) -> Accuracy:
    pairs = [(h, j) for h, j in zip(columns.human, columns.judge, strict=True) if j is not None]
    accepted = [j >= HALF for h, j in pairs if h]
    refused = [j < HALF for h, j in pairs if not h]
    return Accuracy(
        proportion(sum(accepted), len(accepted)), proportion(sum(refused), len(refused))
    )


def _kappa(columns: Columns, seed: int) -> Coefficient | None:
    places = [place for place, labels in enumerate(columns.labels) if all(labels)]
    if not places:
        return None
    people, judge = zip(*(columns.labels[place] for place in places), strict=True)
    clusters = None if columns.clusters is None else [columns.clusters[place] for place in places]
    return cohen_kappa(people, judge, clusters=clusters, seed=seed)


def rater_correlation(raters: Sequence[Sequence[float]]) -> float | None:
    """Return Spearman's correlation of one rater with the mean of the others, averaged over raters.

    >>> round(rater_correlation([[1, 1], [2, 3], [3, 2], [4, 4]]), 3)
    0.8
    """
    found = []
    for place in range(max((len(given) for given in raters), default=0)):
        rows = [given for given in raters if len(given) > max(place, 1)]
        others = [statistics.fmean([*row[:place], *row[place + 1 :]]) for row in rows]
        value = spearman([row[place] for row in rows], others, resamples=1).value
        if value is not None:
            found.append(value)
    return statistics.fmean(found) if found else None


def _at_equal_grades(columns: Columns) -> list[float | None]:
    """Return the judge's values minus their mean over the items of the same human grade."""
    grades = [round(people, 1) for people in columns.human]
    groups: dict[float, list[float]] = {}
    for grade, value in zip(grades, columns.judge, strict=True):
        if value is not None:
            groups.setdefault(grade, []).append(value)
    means = {grade: statistics.fmean(held) for grade, held in groups.items()}
    return [
        None if value is None else value - means[grade]
        for grade, value in zip(grades, columns.judge, strict=True)
    ]


def _self_preference(excess: Sequence[float | None], own: Sequence[bool]) -> Summary | None:
    pairs = [(e, mine) for e, mine in zip(excess, own, strict=True) if e is not None]
    mine, others = ([e for e, is_mine in pairs if is_mine == kind] for kind in (True, False))
    if not others or not mine:
        return None
    usual = statistics.fmean(others)
    return summarise([value - usual for value in mine], bounds=None)


def uses(
    found: Quality,
    repeatable: Proportion | None = None,
    reversed_pairs: Sequence[tuple[str, str]] = (),
) -> list[Use]:
    """Return whether a judge of this quality is fit for each use; bounds are module constants.

    `reversed_pairs` are systems (better, worse by people) that the judge has in the reverse order,
    both shown by a test.
    """
    single = _single(found, repeatable)
    comparing = _comparing(found, reversed_pairs)
    calibrated = _calibrated(found)
    fallback: Level = ONLY_SYSTEMS if comparing[0] else "unfit"
    return [
        Use("grade single answers", *single, "fit" if single[0] else fallback),
        Use("compare systems", *comparing, "fit" if comparing[0] else "unfit"),
        Use(
            "save human labels (calibrated mean)", *calibrated, "fit" if calibrated[0] else "unfit"
        ),
    ]


def _single(found: Quality, repeatable: Proportion | None) -> tuple[bool, str]:
    """Check every single verdict: parsed, repeatable and in agreement with people."""
    if (found.parsed.value or 0.0) < LEAST_PARSED:
        return False, _parse_reason(found)
    if repeatable is not None and (repeatable.value or 0.0) < LEAST_PARSED:
        return False, f"a repeated call gives the same verdict in {repeatable.value or 0:.0%} only"
    if found.kappa is not None and found.kappa.value is not None:
        return _enough("kappa with people", found.kappa, LEAST_KAPPA)
    least = LEAST_CORRELATION
    if found.ceiling_correlation is not None:
        least = min(least, OF_CEILING * found.ceiling_correlation)
    return _enough("rank correlation with people", found.correlation, least)


def _comparing(found: Quality, reversed_pairs: Sequence[tuple[str, str]]) -> tuple[bool, str]:
    """Check that errors affect all systems alike."""
    if (found.parsed.value or 0.0) < LEAST_PARSED:
        return False, _parse_reason(found)
    if reversed_pairs:
        better, worse = reversed_pairs[0]
        others = f", and {len(reversed_pairs) - 1} other pairs" if len(reversed_pairs) > 1 else ""
        return False, (
            f"it puts {worse} above {better}{others}; people have the reverse order, and tests "
            "show both differences"
        )
    bias, interval = found.length_bias.value, found.length_bias.interval
    surely = interval is not None and (interval[0] > 0 or interval[1] < 0)
    if surely and bias is not None and abs(bias) > NOTABLE_BIAS:
        side = "longer" if bias > 0 else "shorter"
        return False, f"it prefers {side} answers (correlation {bias:.2f})"
    if found.accuracy is None or found.accuracy.informed is None:
        return _enough("rank correlation with people", found.correlation, LEAST_INFORMED)
    yes, no = found.accuracy.true_yes, found.accuracy.true_no
    low = sum(share.interval[0] for share in (yes, no) if share.interval) - 1
    return low > LEAST_INFORMED, (
        f"it is right on {yes.value or 0:.0%} of the answers that people accept and "
        f"{no.value or 0:.0%} of those that they reject"
    )


def _calibrated(found: Quality) -> tuple[bool, str]:
    """Check the correlation: a human sample corrects every other error."""
    value, interval = found.correlation.value, found.correlation.interval
    if value is None or interval is None or interval[0] <= 0:
        shown = "undefined" if value is None else f"{value:.2f}"
        if interval is not None:
            shown += f" [{interval[0]:.2f}, {interval[1]:.2f}]"
        return False, f"it saves no labels: rank correlation with people {shown}, not above chance"
    if (found.parsed.value or 0.0) < HALF:
        return False, _parse_reason(found)
    return True, f"correlation {value:.2f} saves about {value**2:.0%} of labels"


def _parse_reason(found: Quality) -> str:
    return (
        f"a verdict could be read for {found.parsed.count} of {found.parsed.n} items "
        f"({found.parsed.value or 0:.0%}); {LEAST_PARSED:.0%} are required"
    )


def _enough(name: str, found: Coefficient, least: float) -> tuple[bool, str]:
    if found.value is None or found.interval is None:
        return False, f"{name} is undefined: all values are equal"
    low, high = found.interval
    shown = f"{name} {found.value:.2f} [{low:.2f}, {high:.2f}]"
    if low >= least:
        return True, f"{shown}, at least {least:.2f}"
    if found.value >= least:
        return False, f"{shown}: too few items to show that it is at least {least:.2f}"
    return False, f"{shown}, below {least:.2f}"
