"""Several hops of own systems: recall per hop, search calls, losses, and accuracy by budget."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ragstone.core import limits
from ragstone.results.reader import StoredResults
from ragstone.results.scored_rows import TrialResults
from ragstone.statistics.hops import HopMeasures, HopPath, hop_measures
from ragstone.types import Hop, Prediction

NO_STEPS = "the system reported no steps"


@dataclass(frozen=True)
class HopTrial:
    """The searches of one system under one setting."""

    system: str
    setting: str
    queries: int
    """Queries whose steps are known."""
    failed: int
    """Queries that failed before any step was reported: wrong with every number of calls."""
    left_out: Mapping[str, int]
    """Reason why answers are in none of the figures -> number of queries."""
    found: HopMeasures


def hop_trials(results: StoredResults) -> list[HopTrial]:
    """Return the searches of every system and setting that reports steps."""
    return [
        _trial(results, trial, results.hops[trial.system, trial.setting])
        for trial in results.trials
        if (trial.system, trial.setting) in results.hops
    ]


def _trial(
    results: StoredResults, trial: TrialResults, hops: Mapping[str, tuple[Hop, ...]]
) -> HopTrial:
    right = results.correct_answers(trial)
    paths = []
    left_out: Counter[str] = Counter()
    for query_id, prediction in trial.predictions.items():
        if query_id not in hops and prediction.answer is not None:
            left_out[NO_STEPS] += 1
            continue
        paths.append(_path(results, trial, prediction, hops.get(query_id), right.get(query_id)))
    return HopTrial(
        system=trial.system,
        setting=trial.setting,
        queries=len(hops),
        failed=sum(path.found is None for path in paths),
        left_out=dict(left_out),
        found=hop_measures(paths, limits.SHOWN_HOPS),
    )


def _path(
    results: StoredResults,
    trial: TrialResults,
    prediction: Prediction,
    hops: tuple[Hop, ...] | None,
    right: float | None,
) -> HopPath:
    query_id = prediction.query_id
    context = trial.contexts.get(query_id)
    grades = results.qrels.get(query_id, {})
    return HopPath(
        gold=frozenset(passage_id for passage_id, grade in grades.items() if grade > 0),
        found=None if hops is None else tuple(frozenset(map(_id, hop.passages)) for hop in hops),
        context=None if context is None else frozenset(context.passage_ids),
        right=right,
        cluster=results.clusters.get(query_id, query_id),
    )


def _id(passage: Any) -> str:
    return str(passage.passage_id)


def hops_document(results: StoredResults) -> list[dict[str, Any]]:
    """Return the searches as plain data, numbers unrounded (key `hops`)."""
    return [_document(trial) for trial in hop_trials(results)]


def _document(trial: HopTrial) -> dict[str, Any]:
    kept = {key: value for key, value in asdict(trial).items() if key != "found"}
    return kept | asdict(trial.found)
