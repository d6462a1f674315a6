"""The causes of an experiment's wrong answers, their shares, and marks of right answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from ragstone.causes.order import BY_NAME, CAUSES, CITATION, CauseName
from ragstone.causes.rules import decide
from ragstone.components.metrics.parse import metric_stem
from ragstone.errors import ConfigError, did_you_mean
from ragstone.results.causes.collect import TrialEvidence, evidence_of
from ragstone.results.causes.trials import TrialsAtHand
from ragstone.results.reader import StoredResults
from ragstone.statistics.summary import clusters_of, summarise
from ragstone.text.cited_sentences import cited_sentences

_CITATIONS: Final = "citation-support"
_KEPT: Final = "_found_causes"


@dataclass(frozen=True, slots=True)
class QueryCause:
    """The cause of one wrong answer."""

    query_id: str
    system: str
    setting: str
    cause: CauseName
    within: CauseName | None
    """The cause that this one refines."""
    evidence: str
    missing_trial: str | None
    """The trial that would decide the cause; None if it is decided."""

    @property
    def base(self) -> CauseName:
        """The cause, or the one that it refines: every wrong answer has exactly one."""
        return self.within or self.cause


@dataclass(frozen=True, slots=True)
class CauseShare:
    """The wrong answers of one trial that have one cause."""

    system: str
    setting: str
    cause: CauseName
    n: int
    """Number of answers, with those whose cause refines this one."""
    share: float
    """The share of the trial's wrong answers."""
    interval: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Mark:
    """A defect of a right answer."""

    query_id: str
    system: str
    setting: str
    mark: str
    evidence: str


@dataclass(frozen=True, slots=True)
class CauseCounts:
    """The answers of one trial; `right`, `wrong` and `left_out` add up to `answers`."""

    system: str
    setting: str
    answers: int
    right: int
    wrong: int
    left_out: Mapping[str, int]
    """Why answers are neither right nor wrong -> their number."""
    decided: int
    """Wrong answers whose cause is decided."""


@dataclass(frozen=True)
class FoundCauses:
    """The causes of all wrong answers of an experiment."""

    shares: tuple[CauseShare, ...]
    """Shares by trial, in the order of `CAUSES`; a cause without an answer has no entry."""
    queries: tuple[QueryCause, ...]
    """The wrong answers, by trial."""
    marks: tuple[Mark, ...]
    counts: tuple[CauseCounts, ...]
    """One entry per trial."""

    def of(self, system: str, setting: str) -> tuple[QueryCause, ...]:
        """Return the causes of the wrong answers of one trial."""
        return self._by_trial.get((system, setting), ())

    def find(self, query_id: str, system: str, setting: str) -> QueryCause | None:
        """Return the cause of one answer; None if it is not wrong."""
        return next((one for one in self.of(system, setting) if one.query_id == query_id), None)

    @cached_property
    def _by_trial(self) -> dict[tuple[str, str], tuple[QueryCause, ...]]:
        found: dict[tuple[str, str], list[QueryCause]] = {}
        for one in self.queries:
            found.setdefault((one.system, one.setting), []).append(one)
        return {trial: tuple(of) for trial, of in found.items()}

    @property
    def missing(self) -> dict[str, int]:
        """Trial that would decide causes -> number of wrong answers, the most frequent first."""
        found = Counter(one.missing_trial for one in self.queries if one.missing_trial)
        return dict(found.most_common())

    def only(self, system: str | None = None, setting: str | None = None) -> FoundCauses:
        """Return the causes of one system, of one setting, or of one trial.

        Raises:
            ConfigError: there is no such system or setting with causes.
        """
        for kind, name in (("system", system), ("setting", setting)):
            known = list(dict.fromkeys(getattr(one, kind) for one in self.counts))
            if name is not None and name not in known:
                raise ConfigError(
                    f"there are no causes of the {kind} {name!r}{did_you_mean(name, known)}",
                    key=kind,
                    value=name,
                )

        def kept(one: Any) -> bool:
            return system in (None, one.system) and setting in (None, one.setting)

        return FoundCauses(
            tuple(filter(kept, self.shares)),
            tuple(filter(kept, self.queries)),
            tuple(filter(kept, self.marks)),
            tuple(filter(kept, self.counts)),
        )


def causes_of(results: StoredResults) -> FoundCauses:
    """Return the causes of the wrong answers of an experiment; they are computed once.

    Load the results again to see trials that were asked since.
    """
    held = vars(results)
    if _KEPT not in held:
        held[_KEPT] = _found(results)
    found: FoundCauses = held[_KEPT]
    return found


def _found(results: StoredResults) -> FoundCauses:
    shares: list[CauseShare] = []
    queries: list[QueryCause] = []
    marks: list[Mark] = []
    counts: list[CauseCounts] = []
    at_hand = TrialsAtHand(results)
    for evidence in evidence_of(at_hand) if results.correctness else ():
        trial = evidence.trial
        decided = [_query_cause(evidence, query_id) for query_id in evidence.wrong]
        queries += decided
        shares += _shares(trial.system, trial.setting, decided, results.clusters)
        marks += _marks(evidence)
        labels = list(evidence.labels.values())
        counts.append(
            CauseCounts(
                trial.system,
                trial.setting,
                answers=len(labels),
                right=labels.count(1),
                wrong=labels.count(0),
                left_out=evidence.left_out,
                decided=sum(one.missing_trial is None for one in decided),
            )
        )
    return FoundCauses(tuple(shares), tuple(queries), tuple(marks), tuple(counts))


def _query_cause(evidence: TrialEvidence, query_id: str) -> QueryCause:
    found = decide(evidence.of(query_id))
    trial = evidence.trial
    return QueryCause(
        query_id,
        trial.system,
        trial.setting,
        found.cause,
        found.within,
        found.evidence,
        found.missing_trial,
    )


def _shares(
    system: str, setting: str, found: Sequence[QueryCause], clusters: Mapping[str, str]
) -> Iterator[CauseShare]:
    """Yield the share of each cause; refined answers count under both causes."""
    names = clusters_of([one.query_id for one in found], clusters)
    for cause in CAUSES:
        hits = [cause.name in (one.cause, one.within) for one in found]
        if any(hits):
            summary = summarise([float(hit) for hit in hits], clusters=names)
            share = summary.mean or 0.0
            yield CauseShare(system, setting, cause.name, sum(hits), share, summary.interval)


def _marks(evidence: TrialEvidence) -> Iterator[Mark]:
    """Yield the right answers that cite passages which do not support them."""
    trial = evidence.trial
    stems = {metric_stem(name): name for name in reversed(list(trial.first.scores))}
    judged = trial.first.values(stems.get(_CITATIONS, ""))
    for query_id, label in evidence.labels.items():
        if label != 1:
            continue
        value = judged.get(query_id)
        if value is not None and value < 1:
            found = f"{_CITATIONS} {value:.2f}: not all cited passages support the answer"
        elif value is not None or not (found := _cites_other(evidence, query_id)):
            continue
        yield Mark(query_id, trial.system, trial.setting, CITATION, found)


def _cites_other(evidence: TrialEvidence, query_id: str) -> str:
    """Return that an answer cites only passages that are not gold, although gold was shown."""
    trial, grades = evidence.trial, evidence.at_hand.results.grades(query_id)
    context, prediction = trial.contexts.get(query_id), trial.predictions.get(query_id)
    if context is None or prediction is None or not prediction.answer:
        return ""
    shown = context.passage_ids
    sentences = prediction.sentences or cited_sentences(prediction.answer)
    numbers = dict.fromkeys(n for _, cited in sentences for n in cited)
    cited = [shown[n - 1] if 1 <= n <= len(shown) else f"[{n}]" for n in numbers]
    gold = {passage_id for passage_id in shown if grades.get(passage_id, 0) > 0}
    if not cited or not gold or gold & set(cited):
        return ""
    return f"it cites {', '.join(cited)} and not the gold passage {', '.join(sorted(gold))}"


def group_of(cause: CauseName) -> str:
    """Return the group of a cause.

    >>> group_of("ranking")
    'retrieval'
    """
    return BY_NAME[cause].group
