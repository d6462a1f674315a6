"""The chain of one query: from its search text over its passages to its answer and the cause."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ragstone.causes.evidence import GoldPath
from ragstone.causes.order import CauseName
from ragstone.errors import ConfigError, nearest_name
from ragstone.results.causes.collect import TrialEvidence
from ragstone.results.causes.doubts import LabelDoubts
from ragstone.results.causes.found import causes_of
from ragstone.results.causes.paths import GoldPaths
from ragstone.results.causes.trials import TrialsAtHand
from ragstone.results.query_page import find_query
from ragstone.results.reader import StoredResults
from ragstone.results.scored_rows import TrialResults
from ragstone.types import ContextPassage, Hop, one_line


@dataclass(frozen=True, slots=True)
class SettingAnswer:
    """The first answer of a system under one context setting."""

    setting: str
    answer: str | None
    reason: str
    """Why there is no answer; "" if there is one."""
    right: bool | None
    """None if no rule calls it right or wrong."""
    note: str = ""
    """The change of a deciding counterfactual; "" for a trial of the experiment."""


@dataclass(frozen=True)
class QueryChain:
    """How one system came to its answer to one query under one setting."""

    query_id: str
    system: str
    setting: str
    search: str | None
    """The text that was searched for; None if the system did not search."""
    hops: tuple[Hop, ...]
    """The searches that the system reported."""
    depth: int | None
    """Number of passages in the ranking that the context was built from; None without one."""
    cut: int | None
    """Rank of the last retrieved passage in the context as built."""
    gold: tuple[GoldPath, ...]
    """The way of each gold passage, the best grade first."""
    context: tuple[ContextPassage, ...] | None
    """The passages that the generator was shown; None if they are not known."""
    answers: tuple[SettingAnswer, ...]
    """The answers under every setting, in the order of the experiment."""
    right: bool | None
    """Whether the answer under this setting is right."""
    cause: CauseName | None
    """None unless the answer is wrong and the setting is one whose wrong answers have causes."""
    within: CauseName | None
    evidence: str
    missing_trial: str | None

    __repr__ = one_line

    @property
    def own(self) -> SettingAnswer | None:
        """The answer under the setting of the chain; None if there is none."""
        mine = (one for one in self.answers if one.setting == self.setting and not one.note)
        return next(mine, None)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data: an entry of `chains` in `ragstone why --json`."""
        places = {p.passage_id: n for n, p in enumerate(self.context or (), start=1)}
        hops = [[one.query, [p.passage_id for p in one.passages]] for one in self.hops]
        gold = [{**asdict(one), "place": places.get(one.passage_id)} for one in self.gold]
        keys = ("system", "setting", "search", "depth", "cut")
        rest = ("right", "cause", "within", "evidence", "missing_trial")
        shown = self.context
        return {
            **{key: getattr(self, key) for key in keys},
            "hops": hops,
            "gold": gold,
            "context": None if shown is None else [[p.passage_id, p.text, p.origin] for p in shown],
            "answers": [asdict(one) for one in self.answers],
            **{key: getattr(self, key) for key in rest},
        }


def query_chain(results: StoredResults, query_id: str, system: str, setting: str) -> QueryChain:
    """Return the chain of one query.

    Raises:
        ConfigError: there is no such query, system or setting.
    """
    (found,) = query_chains(results, query_id, system, setting)
    return found


def query_chains(
    results: StoredResults, query_id: str, system: str | None = None, setting: str | None = None
) -> list[QueryChain]:
    """Return the chains of one query.

    Without a setting, they are those of the settings whose wrong answers have causes; if there is
    none, of all settings.

    Raises:
        ConfigError: there is no such query, system or setting.
    """
    find_query(results, query_id)
    at_hand = TrialsAtHand(results)
    doubts = LabelDoubts(at_hand)
    every = [TrialEvidence(at_hand, doubts, trial) for trial in results.trials]
    _check_names(results, system, setting)
    mine = [one for one in every if system in (None, one.trial.system)]
    mixed = [one for one in mine if one.trial in at_hand.mixed]
    if setting is not None:
        mixed = [one for one in mine if one.trial.setting == setting]
        if not mixed:
            raise ConfigError(f"system {system!r} was not asked under {setting!r}", value=setting)
    beside = [
        TrialEvidence(TrialsAtHand(source), doubts, trial)
        for source in at_hand.sources[1:]
        for trial in source.trials
    ]
    return [_chain(one, query_id, [*mine, *beside]) for one in mixed or mine]


def _check_names(results: StoredResults, system: str | None, setting: str | None) -> None:
    systems = list(dict.fromkeys(trial.system for trial in results.trials))
    for kind, name, known in (
        ("system", system, systems),
        ("setting", setting, results.settings),
    ):
        if name is not None and name not in known:
            raise ConfigError(
                f"there are no answers of the {kind} {name!r} in {results.name!r}"
                f"{nearest_name(name, known) or '; there are ' + ', '.join(known)}",
                key=kind,
                value=name,
            )
    if not systems:
        raise ConfigError(f"{results.name!r} has no answers, so there is no chain to show")


def _chain(evidence: TrialEvidence, query_id: str, others: Sequence[TrialEvidence]) -> QueryChain:
    trial, results = evidence.trial, evidence.at_hand.results
    paths = GoldPaths(evidence.at_hand, trial)
    ranking = None if paths.final is None else paths.final.get(query_id)
    context = trial.contexts.get(query_id)
    cause = causes_of(results).find(query_id, trial.system, trial.setting)
    return QueryChain(
        query_id,
        trial.system,
        trial.setting,
        search=_search(results, trial.system, query_id),
        hops=paths.hops(query_id) or (),
        depth=None if ranking is None else len(ranking),
        cut=paths.cut(query_id),
        gold=paths.of(results.queries[query_id]),
        context=None if context is None else tuple(context.passages),
        answers=tuple(_answers(others, trial, query_id)),
        right=_right(evidence.labels, query_id),
        cause=cause.cause if cause else None,
        within=cause.within if cause else None,
        evidence=cause.evidence if cause else "",
        missing_trial=cause.missing_trial if cause else None,
    )


def _search(results: StoredResults, system: str, query_id: str) -> str | None:
    run = next((run for run in results.rankings if run.system == system), None)
    if run is None or query_id not in run.rankings:
        return None
    return run.searches.get(query_id, results.queries[query_id].text)


def _answers(
    others: Sequence[TrialEvidence], trial: TrialResults, query_id: str
) -> Iterator[SettingAnswer]:
    """Yield the answers of a system, those of deciding counterfactuals last."""
    for one in others:
        prediction = one.trial.predictions.get(query_id)
        if one.trial.system == trial.system and prediction is not None:
            changed = one.at_hand.results.record.counterfactual
            yield SettingAnswer(
                one.trial.setting,
                prediction.answer,
                "" if prediction.answer is not None else prediction.reason or prediction.status,
                _right(one.labels, query_id),
                (changed["note"] or "asked to decide the cause") if changed else "",
            )


def _right(labels: Mapping[str, float | None], query_id: str) -> bool | None:
    label = labels.get(query_id)
    return None if label is None else label == 1
