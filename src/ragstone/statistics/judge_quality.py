"""How good a judge is: its verdicts held against people's, item by item.

Pure functions over columns of equal length: what the judge said, what people said, whose answer it
was. `ragstone.evaluation.judge_check` asks the judge and hands the columns over.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ragstone.statistics.agreement import Agreement, cohen_kappa, krippendorff_alpha
from ragstone.statistics.auc import AUC, auc
from ragstone.statistics.correlation import Correlation, pearson, spearman
from ragstone.statistics.proportions import Proportion, proportion
from ragstone.statistics.summary import Summary, summarise

HALF: Final = 0.5
_RATERS: Final = 2

LEAST_PARSED: Final = 0.95
LEAST_KAPPA: Final = 0.6
LEAST_CORRELATION: Final = 0.6
OF_CEILING: Final = 0.9
LEAST_INFORMED: Final = 0.2
NOTABLE_BIAS: Final = 0.2


@dataclass(frozen=True)
class Columns:
    """One place per item in each column."""

    judge: Sequence[float | None]
    """The judge's values from 0 to 1; None where it gave none."""
    human: Sequence[float]
    labels: Sequence[tuple[str, str]] = ()
    """(people's label, judge's label) where both choose from the same few words; "" for none."""
    raters: Sequence[Sequence[float]] = ()
    lengths: Sequence[int] = ()
    """Characters of the answer."""
    own: Sequence[bool] = ()
    """Whether the answer is of the judge's own model."""
    clusters: Sequence[Hashable] | None = None


@dataclass(frozen=True)
class Accuracy:
    """How a judge of two kinds errs: the shares of right verdicts on either kind."""

    true_yes: Proportion
    """Of the items that people accept, those that the judge accepts (sensitivity)."""
    true_no: Proportion
    """Of the items that people refuse, those that the judge refuses (specificity)."""

    @property
    def informed(self) -> float | None:
        """Youden's J: 0 for a judge that does not look, 1 for one without error."""
        if self.true_yes.value is None or self.true_no.value is None:
            return None
        return self.true_yes.value + self.true_no.value - 1


@dataclass(frozen=True)
class Quality:
    """What the columns say of a judge; None where they cannot say it."""

    parsed: Proportion
    """Items with a verdict."""
    confusion: Mapping[str, Mapping[str, int]]
    """People's label -> the judge's label -> items."""
    accuracy: Accuracy | None
    kappa: Agreement | None
    """Of the labels: beyond chance."""
    correlation: Correlation
    """Spearman's, of the values."""
    discrimination: AUC | None
    """Where people chose between two: how the judge's values tell them apart."""
    ceiling: Agreement | None
    """People among themselves: Krippendorff's alpha, interval."""
    ceiling_correlation: float | None
    """One rater against the mean of the others: what a judge could reach."""
    length_bias: Correlation
    """Pearson's, of the judge's value with the length, among answers that people grade alike.

    Not the excess over people: where long answers are better, a judge that says yes to everything
    would seem to favour short ones.
    """
    self_preference: Summary | None
    """The judge's excess on its own model's answers over that on others'."""
    bias: Summary
    """The judge's excess over people."""


@dataclass(frozen=True)
class Use:
    """What a judge may be used for, or not, and why."""

    use: str
    fit: bool
    reason: str


def quality(columns: Columns, *, seed: int = 0) -> Quality:
    """Return all that the columns say of a judge, intervals with it."""
    held = [place for place, value in enumerate(columns.judge) if value is not None]
    excess = [
        None if value is None else value - people
        for value, people in zip(columns.judge, columns.human, strict=True)
    ]
    clusters = columns.clusters
    return Quality(
        parsed=proportion(len(held), len(columns.judge)),
        confusion=_confusion(columns.labels),
        accuracy=_accuracy(columns),
        kappa=_kappa(columns, seed),
        correlation=spearman(columns.judge, columns.human, clusters=clusters, seed=seed),
        discrimination=_discrimination(columns, seed),
        ceiling=_ceiling(columns, seed),
        ceiling_correlation=rater_correlation(columns.raters),
        length_bias=pearson(
            _at_equal_grades(columns), columns.lengths or [0] * len(excess), seed=seed
        ),
        self_preference=_self_preference(excess, columns),
        bias=summarise(excess, clusters=clusters),
    )


def _confusion(labels: Sequence[tuple[str, str]]) -> dict[str, dict[str, int]]:
    counts = Counter((people, judge or "unscored") for people, judge in labels if people)
    found: dict[str, dict[str, int]] = {}
    for (people, judge), count in sorted(counts.items()):
        found.setdefault(people, {})[judge] = count
    return found


def _two_kinds(columns: Columns) -> bool:
    return bool(columns.human) and set(columns.human) <= {0.0, 1.0}


def _accuracy(columns: Columns) -> Accuracy | None:
    if not _two_kinds(columns):
        return None
    pairs = [(h, j) for h, j in zip(columns.human, columns.judge, strict=True) if j is not None]
    accepted = [j >= HALF for h, j in pairs if h]
    refused = [j < HALF for h, j in pairs if not h]
    return Accuracy(
        proportion(sum(accepted), len(accepted)), proportion(sum(refused), len(refused))
    )


def _kappa(columns: Columns, seed: int) -> Agreement | None:
    pairs = [(a, b, i) for i, (a, b) in enumerate(columns.labels) if a and b]
    if not pairs:
        return None
    clusters = None if columns.clusters is None else [columns.clusters[i] for _, _, i in pairs]
    return cohen_kappa(
        [a for a, _, _ in pairs], [b for _, b, _ in pairs], clusters=clusters, seed=seed
    )


def _discrimination(columns: Columns, seed: int) -> AUC | None:
    if not _two_kinds(columns):
        return None
    positive = [value == 1.0 for value in columns.human]
    return auc(columns.judge, positive, clusters=columns.clusters, seed=seed)


def _ceiling(columns: Columns, seed: int) -> Agreement | None:
    if not any(len(given) >= _RATERS for given in columns.raters):
        return None
    return krippendorff_alpha(
        [list(given) for given in columns.raters],
        level="interval",
        clusters=columns.clusters,
        seed=seed,
    )


def rater_correlation(raters: Sequence[Sequence[float]]) -> float | None:
    """Return Spearman's correlation of one rater with the mean of the others, each once a rater.

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
    """Return the judge's values less their mean over the items of the same human grade."""
    groups: dict[float, list[float]] = {}
    for people, said in zip(columns.human, columns.judge, strict=True):
        if said is not None:
            groups.setdefault(round(people, 1), []).append(said)
    means = {grade: statistics.fmean(held) for grade, held in groups.items()}
    return [
        None if said is None else said - means[round(people, 1)]
        for people, said in zip(columns.human, columns.judge, strict=True)
    ]


def _self_preference(excess: Sequence[float | None], columns: Columns) -> Summary | None:
    if not any(columns.own) or all(columns.own):
        return None
    others = [e for e, own in zip(excess, columns.own, strict=True) if e is not None and not own]
    mine = [e for e, own in zip(excess, columns.own, strict=True) if e is not None and own]
    if not others or not mine:
        return None
    usual = statistics.fmean(others)
    return summarise([value - usual for value in mine])


def uses(found: Quality, repeatable: Proportion | None = None) -> list[Use]:
    """Return what a judge of this quality is fit for, each with the reason.

    The bounds are those of this module: constants with a name, to be read and disputed.
    """
    return [
        _single(found, repeatable),
        _comparing(found),
        _calibrated(found),
    ]


def _single(found: Quality, repeatable: Proportion | None) -> Use:
    """Grading single answers: every verdict is to be believed by itself."""
    use = "grade single answers"
    if not _parses(found):
        return Use(use, fit=False, reason=_parse_reason(found))
    if repeatable is not None and (repeatable.value or 0.0) < LEAST_PARSED:
        share = repeatable.value or 0.0
        return Use(use, fit=False, reason=f"asked again, it repeats itself in {share:.0%} only")
    if found.kappa is not None and found.kappa.value is not None:
        return _enough(use, "kappa with people", found.kappa.value, found.kappa.interval,
                       LEAST_KAPPA)  # fmt: skip
    least = LEAST_CORRELATION
    if found.ceiling_correlation is not None:
        least = min(least, OF_CEILING * found.ceiling_correlation)
    value, interval = found.correlation.value, found.correlation.interval
    return _enough(use, "rank correlation with people", value, interval, least)


def _comparing(found: Quality) -> Use:
    """Comparing systems: errors may remain if they befall all systems alike."""
    use = "compare systems"
    if not _parses(found):
        return Use(use, fit=False, reason=_parse_reason(found))
    bias = found.length_bias
    if bias.value is not None and bias.interval is not None and abs(bias.value) > NOTABLE_BIAS:
        low, high = bias.interval
        if low > 0 or high < 0:
            side = "longer" if bias.value > 0 else "shorter"
            reason = f"it favours {side} answers (correlation {bias.value:.2f})"
            return Use(use, fit=False, reason=reason)
    if found.accuracy is not None and found.accuracy.informed is not None:
        yes, no = found.accuracy.true_yes.interval, found.accuracy.true_no.interval
        low = (yes[0] if yes else 0.0) + (no[0] if no else 0.0) - 1
        reason = (
            f"it is right on {found.accuracy.true_yes.value or 0:.0%} of what people accept and "
            f"{found.accuracy.true_no.value or 0:.0%} of what they refuse"
        )
        return Use(use, low > LEAST_INFORMED, reason)
    value, interval = found.correlation.value, found.correlation.interval
    return _enough(use, "rank correlation with people", value, interval, LEAST_INFORMED)


def _calibrated(found: Quality) -> Use:
    """Saving labels: with a human sample beside it, any judge is honest, and some help."""
    use = "save human labels (calibrated mean)"
    value, interval = found.correlation.value, found.correlation.interval
    if value is None or interval is None or interval[0] <= 0:
        return Use(use, fit=False, reason="no correlation with people beyond chance: it saves none")
    if (found.parsed.value or 0.0) < HALF:
        return Use(use, fit=False, reason=_parse_reason(found))
    return Use(
        use, fit=True, reason=f"correlation {value:.2f} saves about {value**2:.0%} of labels"
    )


def _parses(found: Quality) -> bool:
    return (found.parsed.value or 0.0) >= LEAST_PARSED


def _parse_reason(found: Quality) -> str:
    return (
        f"a verdict could be read for {found.parsed.count} of {found.parsed.n} items "
        f"({found.parsed.value or 0:.0%}); {LEAST_PARSED:.0%} are asked for"
    )


def _enough(
    use: str,
    what: str,
    value: float | None,
    interval: tuple[float, float] | None,
    least: float,
) -> Use:
    if value is None or interval is None:
        return Use(use, fit=False, reason=f"{what} is not defined: all values are the same")
    shown = f"{what} {value:.2f} [{interval[0]:.2f}, {interval[1]:.2f}]"
    if interval[0] >= least:
        return Use(use, fit=True, reason=f"{shown}, at least {least:.2f}")
    if value >= least:
        reason = f"{shown}: too few items to say that it is at least {least:.2f}"
        return Use(use, fit=False, reason=reason)
    return Use(use, fit=False, reason=f"{shown}, below {least:.2f}")
