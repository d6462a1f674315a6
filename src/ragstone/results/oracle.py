"""Gold context as the upper bound: its gain over no context, and figures that contradict it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from ragstone.core import limits
from ragstone.data.readers.rows import listed
from ragstone.results.adaptability import MIXED
from ragstone.results.population import left_out_suffix
from ragstone.results.reader import StoredResults
from ragstone.results.scored_rows import TrialResults
from ragstone.results.wording import signed
from ragstone.statistics.paired import (
    Correction,
    Difference,
    adjust,
    paired_difference,
    paired_summary,
)
from ragstone.statistics.summary import Summary, clusters_of

_LEVEL: Final = 0.05
"""The corrected p of a doubt is below this."""


@dataclass(frozen=True)
class ContextGain:
    """The gain of a system from gold context over no context, in correct answers."""

    system: str
    difference: Summary
    """Mean of gold minus none, paired by query."""
    mean: float
    """Share of correct answers with gold context."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Reason why queries take no part -> number of queries."""


@dataclass(frozen=True)
class OracleDoubt:
    """A setting that is significantly better than the oracle, whose context should be the best."""

    system: str
    setting: str
    """`none`, or a mixed setting."""
    oracle: str
    n: int
    difference: float
    """Correct answers under the setting minus those under the oracle."""
    interval: tuple[float, float] | None
    p: float
    adjusted_p: float
    queries: tuple[str, ...]
    """Ids of the queries that are correct under the setting and wrong under the oracle."""
    sentence: str


def context_gains(results: StoredResults) -> list[ContextGain]:
    """Return the gain of each system that answered with gold context and without context."""
    gains = []
    reasons = dict(Counter(results.without_gold.values()))
    for system, trials, oracle in _with_oracle(results):
        if "none" not in trials:
            continue
        with_gold, without = (right_answers(results, one) for one in (oracle, trials["none"]))
        ids = [query_id for query_id in with_gold if query_id in without]
        gap = paired_summary(
            [without[query_id] for query_id in ids],
            [with_gold[query_id] for query_id in ids],
            clusters=clusters_of(ids, results.clusters),
        )
        absent = len(results.queries) - sum(reasons.values()) - len(ids)
        left_out = reasons | ({"no value for both answers": absent} if absent else {})
        if gap.n:
            mean = sum(with_gold.values()) / len(with_gold)
            gains.append(ContextGain(system, gap, mean, left_out))
    return gains


def _with_oracle(
    results: StoredResults,
) -> Iterator[tuple[str, dict[str, TrialResults], TrialResults]]:
    """Yield each system that answered under the oracle, its trials by setting, and the oracle's."""
    for system in results.systems:
        trials = {trial.setting: trial for trial in results.trials if trial.system == system}
        if (oracle := results.record.oracle) in trials:
            yield system, trials, trials[oracle]


def right_answers(results: StoredResults, trial: TrialResults) -> dict[str, float]:
    """Return query id -> share of correct answers to it, of queries with a gold passage.

    Empty without a rule for correct answers.
    """
    absent, labels = results.without_gold, results.correct_shares(trial).items()
    return {q: label for q, label in labels if label is not None and q not in absent}


def gain_sentences(results: StoredResults, systems: Collection[str]) -> list[str]:
    """Return the effect of gold context over no context, for the best of some systems."""
    gains = [gain for gain in context_gains(results) if gain.system in systems]
    oracle = results.record.oracle
    gold = "gold context" if oracle == "gold" else f"gold context ({oracle})"
    best = sorted(gains, key=lambda gain: -gain.mean)[: limits.MAX_GAIN_SENTENCES]
    return [
        f"{gain.system}: {gold} changes {results.correctness} by {signed(gain.difference)} "
        f"compared with no context ({gain.difference.n} queries{left_out_suffix(gain.left_out)})."
        for gain in gains
        if gain in best
    ]


def oracle_doubts(results: StoredResults, correction: Correction = "holm") -> list[OracleDoubt]:
    """Return the settings that are better than the oracle, by tests that are corrected together."""
    compared = list(_compared(results))
    # A setting that is not ahead of the oracle has no lead, whatever its p.
    corrected = adjust([found.p if found else 1.0 for *_, found in compared], correction)
    doubts = []
    for (trial, oracle, difference), p in zip(compared, corrected, strict=True):
        if difference is not None and p < _LEVEL:
            mine, ideal = right_answers(results, trial), right_answers(results, oracle)
            ids = tuple(q for q, label in mine.items() if label and ideal.get(q) == 0)
            doubts.append(
                OracleDoubt(
                    trial.system,
                    trial.setting,
                    oracle.setting,
                    difference.n,
                    difference.difference,
                    difference.interval,
                    difference.p,
                    p,
                    ids,
                    _sentence(trial, oracle, difference, p, ids),
                )
            )
    return doubts


def _compared(
    results: StoredResults,
) -> Iterator[tuple[TrialResults, TrialResults, Difference | None]]:
    """Yield each trial that the oracle bounds, the oracle, and the lead over it if there is one."""
    for _, trials, oracle in _with_oracle(results):
        ideal = right_answers(results, oracle)
        for setting, trial in trials.items():
            if setting != "none" and not setting.startswith(MIXED):
                continue
            mine = right_answers(results, trial)
            ids = [query_id for query_id in mine if query_id in ideal]
            if ids:
                best, other = ([side[query_id] for query_id in ids] for side in (ideal, mine))
                found = None
                if sum(other) > sum(best):
                    clusters = clusters_of(ids, results.clusters)
                    found = paired_difference(best, other, clusters=clusters)
                yield trial, oracle, found


def _sentence(
    trial: TrialResults,
    oracle: TrialResults,
    difference: Difference,
    p: float,
    query_ids: Sequence[str],
) -> str:
    gap = signed(Summary(difference.difference, difference.n, interval=difference.interval))
    what = "no context" if trial.setting == "none" else trial.setting
    likely = (
        "the gold passages mislead: doubtful relevance labels, or gold answers that they contradict"
        if trial.setting == "none"
        else "relevance labels that miss better passages, or a prompt that suits longer contexts"
    )
    return (
        f"{trial.system}: {what} beats the oracle {oracle.setting} by {gap} correct answers on "
        f"{difference.n} queries (corrected p={p:.2g}). Likely reasons: {likely}. Correct answers "
        f"that are wrong with the oracle: {listed(list(map(repr, query_ids)))}."
    )
