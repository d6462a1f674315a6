"""Whether a trained judge is better than an untrained one: kappa with people on unseen items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ragstone.components.judges.verdict import Verdict
from ragstone.core.tables import TextTable
from ragstone.models.text_classifier import ClassifierFacts, chosen, probabilities
from ragstone.statistics.agreement import cohen_kappa, krippendorff_alpha, weighted_kappa
from ragstone.statistics.calibration import Calibration, calibration
from ragstone.statistics.judge_quality import HALF
from ragstone.statistics.proportions import Proportion, proportion
from ragstone.statistics.resampling import Bootstrap, Coefficient
from ragstone.statistics.summary import cluster_numbers
from ragstone.training.classifier import Base, ItemToLearn, Parts

if TYPE_CHECKING:
    from ragstone.models.text_classifier import Scores

MAJORITY: Final = "most frequent label"
UNTRAINED: Final = "untrained"
_RESAMPLES: Final = 2_000


@dataclass(frozen=True)
class Rival:
    """A judge beside the trained one."""

    name: str
    kappa: Coefficient
    accuracy: Proportion
    gain: float | None
    """The trained judge's kappa minus this one's, on the items that both judged."""
    interval: tuple[float, float] | None
    better: bool
    """Whether the trained judge is better: the interval of the gain is above 0."""


@dataclass(frozen=True)
class JudgeReport:
    """The trained judge, other judges and people on the items of the test part."""

    items: int
    groups: int
    labels: Mapping[str, int]
    """People's labels -> items."""
    kappa: Coefficient
    accuracy: Proportion
    calibration: Calibration
    """Of the probability of the chosen label."""
    people: Coefficient | None
    """Agreement among people: Krippendorff's alpha; None with one rater per item."""
    rivals: tuple[Rival, ...]

    @property
    def better(self) -> bool:
        """Whether the judge is better than all others."""
        return all(rival.better for rival in self.rivals)

    @property
    def sentences(self) -> list[str]:
        """The comparison with each other judge, in words."""
        return [self._sentence(rival) for rival in self.rivals]

    def _sentence(self, rival: Rival) -> str:
        own, other = _shown(self.kappa), _shown(rival.kappa)
        gain = "undefined" if rival.gain is None else f"{rival.gain:+.2f}"
        verb = "is better than" if rival.better else "is not better than"
        return (
            f"The trained judge {verb} {rival.name!r}: kappa with people {own} against {other}, "
            f"difference {gain}{_between(rival.interval)}, {self.items} items in "
            f"{self.groups} groups."
        )

    @property
    def table(self) -> TextTable:
        """One row per judge on the test part, for the model card."""
        own = ("the trained judge", self.kappa, self.accuracy)
        judges = [own, *((one.name, one.kappa, one.accuracy) for one in self.rivals)]
        rows = [
            [name, _shown(kappa), "" if right.value is None else f"{right.value:.2f}", kappa.n]
            for name, kappa, right in judges
        ]
        people = self.people
        below = [] if people is None else [f"People among themselves: alpha {_shown(people)}."]
        title = "items of unseen documents"
        return TextTable(["judge", "kappa with people", "right", "n"], rows, title, below=below)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for the record and `--json`."""
        found = asdict(self)
        found["calibration"].pop("bins")
        return {**found, "better": self.better, "sentences": self.sentences}


def untrained_labels(facts: ClassifierFacts, base: Base, parts: Parts) -> dict[str, list[str]]:
    """Return the labels of judges without training on the items of the test part.

    One gives every item the most frequent label of the training part; the other is the base of a
    causal judge.
    """
    test = parts["test"]
    usual = Counter(one.label for one in parts["train"]).most_common(1)[0][0]
    found = {MAJORITY: [usual] * len(test)}
    if facts.judge:
        # Without training there is no calibration: the likelier word is the verdict.
        plain = replace(facts, temperature=1.0, threshold=HALF)
        found[UNTRAINED] = chosen(probabilities(base.scores(None, test), 1.0), plain)
    return found


def verdict_label(verdict: Verdict, facts: ClassifierFacts) -> str:
    """Return the label of another judge's verdict; "" if it has none among the labels.

    >>> facts = ClassifierFacts(name="ok", labels=("no", "yes"), positive="yes", inputs=(),
    ...     base="", base_digest="", max_tokens=9)
    >>> verdict_label(Verdict("q", 0.8), facts), verdict_label(Verdict("q"), facts)
    ('yes', '')
    """
    if verdict.label in facts.labels:
        return verdict.label
    if verdict.value is None or not facts.is_binary:
        return ""
    other = next(label for label in facts.labels if label != facts.positive)
    return facts.positive if verdict.value >= HALF else other


def judge_report(
    facts: ClassifierFacts,
    items: Sequence[ItemToLearn],
    scores: Scores,
    others: Mapping[str, Sequence[str]],
    *,
    seed: int = 0,
) -> JudgeReport:
    """Return the comparison on the items of the test part.

    Args:
        facts: labels, temperature and threshold of the trained judge.
        items: the items, with people's labels.
        scores: the trained judge's scores, shape (items, labels).
        others: name of another judge -> its label per item; "" without one.
        seed: seed of the resamples.
    """
    people, groups = [one.label for one in items], [one.group for one in items]
    shares = probabilities(scores, facts.temperature)
    own = chosen(shares, facts)
    sure = [row[facts.labels.index(label)] for row, label in zip(shares, own, strict=True)]
    right = [float(a == b) for a, b in zip(people, own, strict=True)]
    several = any(len(one.raters) > 1 for one in items)
    raters = [one.raters for one in items]
    alpha = krippendorff_alpha(raters, level="nominal", clusters=groups) if several else None
    return JudgeReport(
        len(items),
        len(set(groups)),
        dict(sorted(Counter(people).items())),
        cohen_kappa(people, own, clusters=groups, resamples=_RESAMPLES, seed=seed),
        proportion(int(sum(right)), len(right)),
        calibration(np.clip(sure, 0, 1).tolist(), right, clusters=groups, seed=seed),
        alpha,
        tuple(_rival(name, given, own, items, seed) for name, given in others.items()),
    )


def _rival(
    name: str, given: Sequence[str], own: Sequence[str], items: Sequence[ItemToLearn], seed: int
) -> Rival:
    held = [place for place, label in enumerate(given) if label]
    people, groups = [items[p].label for p in held], [items[p].group for p in held]
    theirs, ours = [given[p] for p in held], [own[p] for p in held]
    right = sum(a == b for a, b in zip(people, theirs, strict=True))
    gain, interval = _gain(people, ours, theirs, groups, seed)
    return Rival(
        name,
        cohen_kappa(people, theirs, clusters=groups, resamples=_RESAMPLES, seed=seed),
        proportion(right, len(held)),
        gain,
        interval,
        interval is not None and interval[0] > 0,
    )


def _gain(
    people: Sequence[str],
    ours: Sequence[str],
    theirs: Sequence[str],
    groups: Sequence[str],
    seed: int,
) -> tuple[float | None, tuple[float, float] | None]:
    """Return the difference of two kappas with people, and its interval over groups."""
    if not people:
        return None, None
    members, drawing = cluster_numbers(groups), Bootstrap(resamples=_RESAMPLES, seed=seed)
    first, second = weighted_kappa(people, ours), weighted_kappa(people, theirs)

    def gap(weights: Any) -> Any:
        return first(weights) - second(weights)

    whole = np.ones((1, len(people)))
    value = float(gap(whole)[0])
    if not np.isfinite(value):
        return None, None
    return value, drawing.interval_of(gap, whole, members)


def _shown(found: Coefficient) -> str:
    value = "undefined" if found.value is None else f"{found.value:.2f}"
    return f"{value}{_between(found.interval)}"


def _between(interval: tuple[float, float] | None) -> str:
    return "" if interval is None else f" [{interval[0]:.2f}, {interval[1]:.2f}]"
