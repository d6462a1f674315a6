"""Gold context as the upper bound: its gain over no context."""

from __future__ import annotations

from dataclasses import dataclass

from ragstone.core import limits
from ragstone.results.reader import StoredResults, TrialResults
from ragstone.results.wording import signed
from ragstone.statistics.paired import paired_summary
from ragstone.statistics.summary import Summary, clusters_of


@dataclass(frozen=True)
class ContextGain:
    """The gain of a system from gold context over no context, in correct answers."""

    system: str
    difference: Summary
    """Mean of gold minus none, paired by query."""
    mean: float
    """Share of correct answers with gold context."""


def context_gains(results: StoredResults) -> list[ContextGain]:
    """Return the gain of each system that answered with gold context and without context."""
    trials = {(trial.system, trial.setting): trial for trial in results.trials}
    gains = []
    for (system, setting), trial in trials.items():
        if setting != results.record.oracle or (system, "none") not in trials:
            continue
        with_gold, without = (
            right_answers(results, one) for one in (trial, trials[system, "none"])
        )
        ids = [query_id for query_id in with_gold if query_id in without]
        gap = paired_summary(
            [without[query_id] for query_id in ids],
            [with_gold[query_id] for query_id in ids],
            clusters=clusters_of(ids, results.clusters),
        )
        if gap.n:
            gains.append(ContextGain(system, gap, sum(with_gold.values()) / len(with_gold)))
    return gains


def right_answers(results: StoredResults, trial: TrialResults) -> dict[str, float]:
    """Return query id -> 1.0 or 0.0 for each answer with a value, of queries with a gold passage.

    Empty without a rule for correct answers.
    """
    if (rule := results.correctness) is None:
        return {}
    labels = rule.labels(trial.values(rule.metric))
    absent = results.without_gold
    return {q: label for q, label in labels.items() if label is not None and q not in absent}


def gain_sentences(results: StoredResults) -> list[str]:
    """Return the effect of gold context over no context, for the systems with the best means."""
    gains, oracle = context_gains(results), results.record.oracle
    gold = "gold context" if oracle == "gold" else f"gold context ({oracle})"
    best = sorted(gains, key=lambda gain: -gain.mean)[: limits.MAX_GAIN_SENTENCES]
    return [
        f"{gain.system}: {gold} changes {results.correctness} by {signed(gain.difference)} "
        f"compared with no context ({gain.difference.n} queries)."
        for gain in gains
        if gain in best
    ]
