"""Export to InspectorRAGet's JSON, which mtRAG's viewer reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragstone.data.readers.inspector_raget import Inspection, write_inspection
from ragstone.data.writers.mtrag import task_row
from ragstone.results.exporters.base import Exporter

if TYPE_CHECKING:
    from ragstone.results.reader import StoredResults, TrialResults
    from ragstone.types import Score


@dataclass(frozen=True)
class Inspector(Exporter):
    """Exports the answers of all trials as one JSON file of InspectorRAGet."""

    def export(self, results: StoredResults, target: Path) -> list[Path]:
        """Write the file `target` and return it."""
        return [write_inspection(inspect_results(results), target)]


_FILTERS = ("Question Type", "Multi-Turn", "Answerability", "Turn", "Collection")


def inspect_results(results: StoredResults) -> Inspection:
    """Return the answers of an experiment as a file of InspectorRAGet, one model per trial."""
    documents = {
        passage.passage_id: passage.text
        for trial in results.trials
        for context in trial.contexts.values()
        for passage in context.passages
    }
    metrics = dict.fromkeys(metric for trial in results.trials for metric in trial.scores)
    return Inspection(
        {
            "name": results.name,
            "filters": list(_FILTERS),
            "models": [
                {"model_id": trial_name(trial), "name": trial_name(trial), "owner": "ragstone"}
                for trial in results.trials
            ],
            "metrics": [_metric(name) for name in metrics],
            "documents": [{"document_id": p, "text": text} for p, text in documents.items()],
            "tasks": list(_tasks(results, documents.keys())),
            "evaluations": [
                _evaluation(trial, query_id)
                for query_id in results.queries
                for trial in results.trials
                if query_id in trial.predictions
            ],
        }
    )


def trial_name(trial: TrialResults) -> str:
    """Return the name of a trial in a format without settings."""
    return f"{trial.system} | {trial.setting}"


def _tasks(results: StoredResults, shown: Iterable[str]) -> Iterator[dict[str, Any]]:
    known = set(shown)
    for query_id, query in results.queries.items():
        grades = results.qrels.get(query_id, {})
        gold = [p for p, grade in grades.items() if grade > 0 and p in known]
        yield {
            **task_row(query),
            "contexts": [{"document_id": passage_id} for passage_id in gold],
            "grades": grades,
            "targets": [{"speaker": "agent", "text": text} for text in query.gold_answers],
        }


def _evaluation(trial: TrialResults, query_id: str) -> dict[str, Any]:
    prediction, context = trial.predictions[query_id], trial.contexts.get(query_id)
    scores = {m: held[query_id] for m, held in trial.scores.items() if query_id in held}
    row: dict[str, Any] = {
        "task_id": query_id,
        "model_id": trial_name(trial),
        "model_response": prediction.answer or "",
        "setting": trial.setting,
        "annotations": {m: {"system": {"value": s.value}} for m, s in scores.items() if _has(s)},
        "unscored": {m: [s.status, s.reason] for m, s in scores.items() if not _has(s)},
    }
    if prediction.answer is None:
        row["failed"] = prediction.reason
    if context is not None:
        row["contexts"] = [
            {"document_id": p.passage_id, "text": p.text, "origin": p.origin}
            for p in context.passages
        ]
    return row


def _has(score: Score) -> bool:
    return score.value is not None


def _metric(name: str) -> Mapping[str, Any]:
    return {
        "name": name,
        "display_name": name,
        "author": "algorithm",
        "type": "numerical",
        "aggregator": "average",
        "range": [0, 1, 0.1],
    }
