"""The parts of a query's page: answers by setting and system, passages, ranks, further trials."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from ragstone.core import limits
from ragstone.results.answer_language import answer_language
from ragstone.results.chain import QueryChain
from ragstone.results.counterfactuals import kept_counterfactuals
from ragstone.results.reader import StoredResults
from ragstone.results.scored_rows import TrialResults
from ragstone.types import Score


def setting_columns(results: StoredResults, chain: QueryChain) -> list[dict[str, Any]]:
    """Return a system's context size and answers under each setting, with all verdicts."""
    return [
        _column(results, trial, chain.query_id)
        for trial in results.trials
        if trial.system == chain.system
    ]


def _column(results: StoredResults, trial: TrialResults, query_id: str) -> dict[str, Any]:
    prediction, context = trial.predictions.get(query_id), trial.contexts.get(query_id)
    counted = prediction and {
        name: getattr(prediction, name) for name in ("seconds", "cost", "tokens_in", "tokens_out")
    }
    return {
        "setting": trial.setting,
        "passages": None if context is None else len(context.passages),
        "not_applicable": trial.not_applicable.get(query_id, ""),
        "answers": list(_answers(results, trial, query_id)),
        "usage": counted,
        "scores": [_score(one) for one in trial.scores_of(query_id).values()],
    }


def _answers(
    results: StoredResults, trial: TrialResults, query_id: str
) -> Iterator[dict[str, Any]]:
    """Yield each answer to a query; one unless answers are repeated."""
    for one in trial.answers:
        prediction = one.predictions.get(query_id)
        if prediction is not None:
            label = results.labels(one.scores).get(query_id)
            yield {
                "answer": prediction.answer,
                "language": answer_language(results, prediction.answer),
                "reason": "" if prediction.answer is not None else prediction.reason,
                "status": prediction.status,
                "right": None if label is None else label == 1,
            }


def _score(one: Score) -> dict[str, Any]:
    return {"metric": one.metric, "value": one.value, "status": one.status, "reason": one.reason}


def metric_rows(columns: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return metrics and judges as rows, with the score under each setting side by side."""
    names = dict.fromkeys(one["metric"] for column in columns for one in column["scores"])
    by_name = [{one["metric"]: one for one in column["scores"]} for column in columns]
    return [{"metric": name, "scores": [of.get(name) for of in by_name]} for name in names]


def passage_rows(results: StoredResults, chain: QueryChain) -> list[dict[str, Any]]:
    """Return the passages that were shown under any setting: gold first, then by position."""
    grades = results.grades(chain.query_id)
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for trial in results.trials:
        context = trial.contexts.get(chain.query_id)
        if trial.system != chain.system or context is None:
            continue
        for place, passage in enumerate(context.passages, start=1):
            row = found.setdefault(
                (passage.passage_id, passage.text),
                {
                    "passage_id": passage.passage_id,
                    "text": passage.text,
                    "grade": grades.get(passage.passage_id),
                    "origins": [],
                    "places": {},
                },
            )
            if passage.origin not in row["origins"]:
                row["origins"].append(passage.origin)
            row["places"][trial.setting] = [place, passage.origin]
    here = chain.setting

    def order(row: Mapping[str, Any]) -> tuple[bool, float]:
        return not (row["grade"] or 0) > 0, row["places"].get(here, [float("inf")])[0]

    return sorted(found.values(), key=order)


def system_rows(results: StoredResults, query_id: str) -> list[dict[str, Any]]:
    """Return the answers of all systems to a query, a row per system and a cell per setting."""
    by_place = {(one.system, one.setting): one for one in results.trials}
    systems = dict.fromkeys(one.system for one in results.trials)
    return [
        {
            "system": system,
            "answers": [
                next(iter(_answers(results, by_place[system, setting], query_id)), None)
                if (system, setting) in by_place
                else None
                for setting in results.settings
            ],
        }
        for system in systems
    ]


def rank_rows(results: StoredResults, chain: QueryChain) -> list[dict[str, Any]]:
    """Return the first ranks of the system's ranking and all gold passages, with every step."""
    run = next((one for one in results.rankings if one.system == chain.system), None)
    ranking = run.rankings.get(chain.query_id) if run else None
    grades = results.grades(chain.query_id)
    gold = {one.passage_id: one for one in chain.gold}
    first = [(p.rank, p.passage_id, p.score) for p in ranking or ()][: limits.SHOWN_RANKS]
    below = [g for g in chain.gold if g.passage_id not in {one[1] for one in first}]
    rows: list[tuple[int | None, str, float | None]] = [*first]
    rows += [(one.ranked, one.passage_id, None) for one in below]
    return [
        {
            "passage_id": passage_id,
            "rank": rank,
            "score": score,
            "grade": grades.get(passage_id),
            "gold": asdict(gold[passage_id]) if passage_id in gold else None,
        }
        for rank, passage_id, score in rows
    ]


def further_trials(results: StoredResults, query_id: str) -> list[dict[str, Any]]:
    """Return the counterfactuals that asked a query, the newest first."""
    return [
        {
            "name": one.name,
            "purpose": one.record.counterfactual["purpose"],
            "note": one.record.counterfactual["note"],
            "finished": one.record.finished,
            "system": trial.system,
            "setting": trial.setting,
            "passage_ids": None if context is None else list(context.passage_ids),
            "search": _search(one, trial.system, query_id),
            "answers": list(_answers(one, trial, query_id)),
            "scores": [_score(score) for score in trial.scores_of(query_id).values()],
        }
        for one in reversed(kept_counterfactuals(results, query_id))
        for trial in one.trials
        for context in [trial.contexts.get(query_id)]
    ]


def _search(results: StoredResults, system: str, query_id: str) -> str | None:
    run = next((one for one in results.rankings if one.system == system), None)
    return run.searches.get(query_id) if run else None
