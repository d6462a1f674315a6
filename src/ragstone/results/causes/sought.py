"""Additions to an experiment with which further causes can be found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ragstone.causes.order import (
    CAUSES,
    GOLD,
    NEIGHBOURS,
    NONE,
    NUGGETS,
    QRELS,
    REFUSALS,
    REWRITE,
    SUFFICIENT,
    CauseName,
)
from ragstone.components.metrics.parse import metric_stem
from ragstone.results.causes.trials import TrialsAtHand
from ragstone.results.reader import StoredResults
from ragstone.results.refusals import METRICS
from ragstone.types import Query

_NUGGET_LABELS = ("vital_nuggets", "okay_nuggets")


@dataclass(frozen=True, slots=True)
class Unsought:
    """Causes that no trial of an experiment can show, and the addition to its file."""

    causes: tuple[CauseName, ...]
    add: str
    """The addition in the words of an experiment file: `settings: gold`."""

    def __str__(self) -> str:
        """Return the causes and the addition as text."""
        return f"{', '.join(self.causes)}: add {self.add}"


def unsought(results: StoredResults) -> list[Unsought]:
    """Return the causes that the trials at hand cannot show."""
    found = []
    for need, add in _missing(results):
        causes = tuple(cause.name for cause in CAUSES if need in cause.needs)
        found.append(Unsought(causes, add))
    return found


def nothing_to_find(results: StoredResults) -> str:
    """Return why an experiment has no causes, with the addition needed; "" if it has some."""
    if not results.trials:
        return "no system has answered: add a generator, or run the experiment again"
    if results.record.correctness is None:
        return "no answer is called right or wrong: add the key correct, such as correct: Match"
    if results.correctness is None:
        return f"{results.record.correctness} has values between 0 and 1: add a threshold"
    if not TrialsAtHand(results).mixed:
        return "causes are those of answers with a mixed context: add settings: retrieved(5)"
    return ""


def _missing(results: StoredResults) -> Iterator[tuple[str, str]]:
    """Yield each missing kind of evidence, and the addition to the experiment file."""
    at_hand = TrialsAtHand(results)
    if not results.qrels:
        yield QRELS, "gold passages (qrels) to the data set"
    elif at_hand.gold_setting is None:
        yield GOLD, "settings: gold"
    if results.qrels and "none" not in at_hand.settings:
        yield NONE, "settings: none"
    yield from _scores(at_hand)
    for setting in (name for name in at_hand.settings if name.startswith("retrieved(")):
        if not at_hand.with_neighbours(setting, of_gold=False):
            yield NEIGHBOURS, f"settings: {setting.replace('retrieved', 'neighbours')}"
    if any(query.rewrite and query.rewrite != query.text for query in results.queries.values()):
        alone = [r.system for r in results.rankings if not at_hand.searches_rewrite(r.system)]
        if alone:
            yield REWRITE, f"a system as {alone[0]} with query_former: rewrite"


def _scores(at_hand: TrialsAtHand) -> Iterator[tuple[str, str]]:
    """Yield the metrics and judges that are missing."""
    trials = (trial for source in at_hand.sources for trial in source.trials)
    stems = {metric_stem(name) for trial in trials for name in trial.scores}
    if not stems & set(METRICS):
        yield REFUSALS, "metrics: refusal"
    if "sufficient-context" not in stems:
        yield SUFFICIENT, "judges: sufficient-context"
    if "nuggets" not in stems and any(map(_has_nuggets, at_hand.results.queries.values())):
        yield NUGGETS, "judges: nuggets"


def _has_nuggets(query: Query) -> bool:
    return any(query.labels.get(name) for name in _NUGGET_LABELS)
