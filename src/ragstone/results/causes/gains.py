"""The gain of each system from perfect steps, from the trials at hand."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from ragstone.causes.gains import STEP_OF, QueryLabels, Step, step_gains
from ragstone.causes.rules import deciding_path
from ragstone.results.causes.collect import TrialEvidence, evidence_of
from ragstone.results.causes.found import causes_of
from ragstone.results.causes.trials import TrialsAtHand
from ragstone.results.reader import StoredResults
from ragstone.statistics.paired import paired_difference
from ragstone.statistics.summary import clusters_of

_RETRIEVED: Final = re.compile(r"retrieved\(\d+\)")
_KEPT: Final = "_found_gains"


@dataclass(frozen=True, slots=True)
class Gain:
    """The mean label with a perfect step minus that without it, for one trial."""

    system: str
    setting: str
    step: Step
    gain: float
    interval: tuple[float, float] | None
    """Paired by query, 95 %."""
    bound: bool
    """Whether some labels are not measured, and the gain is the most that the step can bring."""
    n: int
    """Number of answers with a label."""
    shapley: float
    """The part of the gain of all steps together; gains of single steps overlap."""
    missing_trial: str | None
    """The setting that would replace the bound, with its number of calls."""


def gains_of(results: StoredResults) -> tuple[Gain, ...]:
    """Return the gains of every trial with wrong answers; they are computed once."""
    held = vars(results)
    if _KEPT not in held:
        at_hand = TrialsAtHand(results)
        trials = evidence_of(at_hand) if results.correctness else ()
        held[_KEPT] = tuple(gain for one in trials for gain in _gains(one))
    found: tuple[Gain, ...] = held[_KEPT]
    return found


def _gains(evidence: TrialEvidence) -> Iterator[Gain]:
    trial, results = evidence.trial, evidence.at_hand.results
    labels = {q: label for q, label in evidence.labels.items() if label is not None}
    if not labels or all(labels.values()):
        return
    causes = {one.query_id: one.base for one in causes_of(results).of(trial.system, trial.setting)}
    wrong_refusals = {q for q, cause in causes.items() if cause.endswith("_refusal")}
    first = _gold_first(evidence)
    queries = [
        _labels(evidence, query_id, label, first, is_refusal=query_id in wrong_refusals)
        for query_id, label in labels.items()
    ]
    before = [query.label for query in queries]
    clusters = clusters_of(list(labels), results.clusters)
    for found in step_gains(queries):
        pairs = paired_difference(before, found.after, clusters=clusters)
        missing = _missing(evidence, found.step, found.unmeasured)
        yield Gain(
            *(trial.system, trial.setting, found.step, pairs.difference, pairs.interval),
            bound=found.is_bound,
            n=pairs.n,
            shapley=found.shapley,
            missing_trial=missing,
        )


def _labels(
    evidence: TrialEvidence,
    query_id: str,
    label: float,
    first: Mapping[str, float],
    *,
    is_refusal: bool,
) -> QueryLabels:
    found = evidence.of(query_id)
    has_gold = bool(found.gold) and found.context_known and not found.unanswerable
    lost = deciding_path(found)[0] if has_gold else None
    with_gold = found.right_with_gold
    return QueryLabels(
        label,
        lost=STEP_OF[lost] if lost else None,
        has_gold=has_gold,
        failed=bool(found.failure),
        with_gold=None if with_gold is None else float(with_gold),
        gold_first=first.get(query_id),
        wrong_refusal=is_refusal,
    )


def _gold_first(evidence: TrialEvidence) -> Mapping[str, float]:
    """Return query id -> label with gold before the setting's passages; {} if not asked."""
    setting = evidence.trial.setting
    if not _RETRIEVED.fullmatch(setting):
        return {}
    return evidence.at_hand.labels(evidence.trial.system, f"gold+{setting}")


def _missing(evidence: TrialEvidence, step: Step, unmeasured: int) -> str | None:
    setting = evidence.trial.setting
    calls = f"{unmeasured:,} call{'s' if unmeasured != 1 else ''}"
    if not unmeasured:
        return None
    if step == "noise":
        return f"the setting gold ({calls})"
    return f"the setting gold+{setting} ({calls})" if _RETRIEVED.fullmatch(setting) else None
