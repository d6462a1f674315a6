"""The trials that would decide more: which systems to ask which queries, and in which order.

Each kind of trial depends on the answers to those before it, so the kinds are asked one after
another: an answer that is wrong with the gold passages alone needs the trial without context, and
only an answer whose gold passage was lost needs the trial that shows it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from ragstone.causes.evidence import Evidence
from ragstone.causes.order import BY_NAME, LOST, REPEATS
from ragstone.causes.rules import Decision, decide
from ragstone.components.context_settings.gold_retrieved import GoldRetrieved
from ragstone.results.causes.collect import TrialEvidence, evidence_of
from ragstone.results.causes.trials import TrialsAtHand
from ragstone.results.reader import StoredResults

Kind: TypeAlias = Literal["gold", "none", "rewrite", "neighbours", "gold first"]
KINDS: Final[tuple[Kind, ...]] = ("gold", "none", "rewrite", "neighbours", "gold first")
"""The kinds of trials in the order in which they are asked."""
_Wanted: TypeAlias = tuple[Kind, str]
"""A kind of trial, and its context setting."""
_RETRIEVED: Final = re.compile(r"retrieved\((\d+)\)")
_BEFORE_CUT: Final = frozenset(LOST) - {"query_rewriting", "processing"}
_SEARCH_ALONE: Final = {"query_former": "rewrite", "processor": None, "generator": None}


@dataclass(frozen=True)
class ProposedTrial:
    """Queries to ask one system again, to decide why its answers are wrong."""

    kind: Kind
    system: str
    setting: str
    """The context setting that is asked, such as `gold`."""
    query_ids: tuple[str, ...]
    parts: Mapping[str, Any] = field(default_factory=dict)
    """Parts of the system in place of its own; None leaves the step out."""

    @property
    def name(self) -> str:
        """The trial's kind or setting, in words."""
        return "the gold rewrite" if self.kind == "rewrite" else f"the setting {self.setting}"


def proposed_trials(
    results: StoredResults,
    kind: Kind | None = None,
    *,
    system: str | None = None,
    setting: str | None = None,
    at_most: bool = False,
) -> list[ProposedTrial]:
    """Return the trials that would decide more, in the order in which they are asked.

    Args:
        results: the results of an experiment.
        kind: only those of this kind.
        system: only those for the wrong answers of this system.
        setting: only those for the wrong answers under this context setting.
        at_most: whether trials are listed that are needed only if an earlier one turns out so.
    """
    if results.correctness is None:
        return []
    at_hand = TrialsAtHand(results)
    asked: dict[tuple[Kind, str, str], dict[str, None]] = {}
    for evidence in evidence_of(at_hand):
        trial = evidence.trial
        if system not in (None, trial.system) or setting not in (None, trial.setting):
            continue
        for query_id in evidence.wrong:
            for one, shown in _needed(evidence, query_id, at_most=at_most):
                if kind in (None, one):
                    asked.setdefault((one, trial.system, shown), {})[query_id] = None
    return [
        ProposedTrial(*key, tuple(query_ids), parts=_SEARCH_ALONE if key[0] == "rewrite" else {})
        for key, query_ids in sorted(asked.items(), key=lambda pair: KINDS.index(pair[0][0]))
    ]


def _needed(evidence: TrialEvidence, query_id: str, *, at_most: bool) -> Iterator[_Wanted]:
    """Yield the trials that one wrong answer needs and that were not asked."""
    found = evidence.of(query_id)
    decision = decide(found)
    if not _is_open(decision):
        return
    wanted = [
        *_for_reading(evidence, found, query_id, at_most=at_most),
        *_for_retrieval(evidence, found, decision, query_id),
    ]
    for kind, setting in wanted:
        asked = evidence.at_hand.labels(evidence.trial.system, setting)
        if kind == "rewrite" or query_id not in asked:
            yield kind, setting


def _for_reading(
    evidence: TrialEvidence, found: Evidence, query_id: str, *, at_most: bool
) -> Iterator[_Wanted]:
    """Yield the trials with gold alone, and without context if the answer is wrong there."""
    if found.gold:
        gold = evidence.at_hand.gold_setting or "gold"
        yield "gold", gold
        unknown = query_id not in evidence.at_hand.labels(evidence.trial.system, gold)
        if found.right_with_gold is False or (at_most and unknown):
            yield "none", "none"


def _for_retrieval(
    evidence: TrialEvidence, found: Evidence, decision: Decision, query_id: str
) -> Iterator[_Wanted]:
    """Yield the trials that retrieve or show other passages."""
    base = decision.within or decision.cause
    if base in _BEFORE_CUT and _searches(evidence, query_id):
        yield "rewrite", evidence.trial.setting
    setting = _RETRIEVED.fullmatch(evidence.trial.setting)
    if setting is None:
        return
    if decision.cause != "chunk_border":
        of = ", of=gold" if base in {"reading", "knowledge_conflict"} else ""
        yield "neighbours", f"neighbours({setting[1]}{of})"
    first = GoldRetrieved(int(setting[1]))
    if base in LOST and not first.not_applicable(len(found.gold)):
        yield "gold first", first.setting


def _is_open(decision: Decision) -> bool:
    """Return whether a further trial may name another cause or refine this one."""
    base = BY_NAME[decision.within or decision.cause]
    return base.group in {"retrieval", "reading"} or (
        base.name == "undecided" and decision.missing_trial != REPEATS
    )


def _searches(evidence: TrialEvidence, query_id: str) -> bool:
    """Return whether the query has a gold rewrite that the system's search was not given."""
    at_hand, system = evidence.at_hand, evidence.trial.system
    query = at_hand.results.queries[query_id]
    has_rewrite = bool(query.rewrite) and query.rewrite != query.text
    if not has_rewrite or at_hand.forms_rewrite(system):
        return False
    return query_id not in at_hand.with_rewrite(system)
