"""The stored facts of the way to each answer, for the causes of changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragstone.core import limits
from ragstone.core.component import TEMPLATE_FIELD
from ragstone.core.fingerprint import fingerprint
from ragstone.evaluation.answered import Answered, AnswerEvidence
from ragstone.results.reader import StoredResults
from ragstone.results.record import Record
from ragstone.results.scored_rows import TrialResults


def answer_evidence(results: StoredResults, system: str, setting: str) -> AnswerEvidence:
    """Return the evidence of one system under one setting; "" for its retrieval alone."""
    trials = (t for t in results.trials if (t.system, t.setting) == (system, setting))
    rankings = (run.rankings for run in results.rankings if run.system == system)
    trial = next(trials, None)
    generator = _component(results.record, system)
    return AnswerEvidence(
        qrels=results.qrels_of(system, setting),
        labelled=results.qrels,
        rankings=next(rankings, {}),
        contexts=trial.contexts if trial else {},
        repeats=_repeats(trial) if trial and len(trial.answers) > 1 else {},
        prompt=fingerprint(_parameters(generator, templates=True)),
        generator=fingerprint(
            {
                **generator,
                "parameters": _parameters(generator, templates=False),
                "release": _release(results.record, system, setting),
            }
        ),
    )


def answered_texts(results: StoredResults, system: str, setting: str) -> Answered:
    """Return the texts of one system; without answers the first ranks are its passages."""
    trials = [t for t in results.trials if (t.system, t.setting) == (system, setting)]
    ranked = {
        q: tuple(ranking.passage_ids[: limits.SHOWN_RANKS])
        for run in results.rankings
        if run.system == system and not trials
        for q, ranking in run.rankings.items()
    }
    contexts = {q: c.passage_ids for t in trials for q, c in t.contexts.items()}
    predictions = {q: p for trial in trials for q, p in trial.predictions.items()}
    evidence = answer_evidence(results, system, setting)
    return Answered(results.all_queries, predictions, contexts or ranked, evidence)


def _component(record: Record, system: str) -> Mapping[str, Any]:
    found = (entry.components.get("generator") for entry in record.systems if entry.name == system)
    return next(found, None) or {}


def _parameters(generator: Mapping[str, Any], *, templates: bool) -> dict[str, Any]:
    """Return the parameters that are texts of the prompt, or the others."""
    parameters = generator.get("parameters") or {}
    return {
        name: value
        for name, value in parameters.items()
        if bool(TEMPLATE_FIELD.search(name) or name == "prompt") is templates
    }


def _release(record: Record, system: str, setting: str) -> str:
    calls = (one for one in record.calls if (one.system, one.setting) == (system, setting))
    return next((one.release or "" for one in calls), "")


def _repeats(trial: TrialResults) -> dict[str, dict[str, tuple[float, ...]]]:
    """Return metric -> query id -> the values of its answers."""
    found: dict[str, dict[str, tuple[float, ...]]] = {}
    for scores in trial.each_scores:
        for metric, held in scores.items():
            of = found.setdefault(metric, {})
            for query_id, score in held.items():
                if score.value is not None:
                    of[query_id] = (*of.get(query_id, ()), score.value)
    return found
