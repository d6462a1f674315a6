"""Export to InspectorRAGet's JSON, which mtRAG's viewer reads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ragstone.data.readers.inspector_raget import Inspection, write_inspection
from ragstone.data.writers.mtrag import task_row
from ragstone.results.answer_language import answer_language
from ragstone.results.exporters.base import Exporter
from ragstone.results.reader import StoredResults
from ragstone.results.scored_rows import TrialResults

_FILTERS: Final = ("Question Type", "Multi-Turn", "Answerability", "Turn", "Collection")
_METRIC: Final = {
    "author": "algorithm",
    "type": "numerical",
    "aggregator": "average",
    "range": [0, 1, 0.1],
}


@dataclass(frozen=True)
class Inspector(Exporter):
    """Exports the answers of all trials as one JSON file of InspectorRAGet."""

    def export(self, results: StoredResults, target: Path) -> list[Path]:
        """Write the file `target` and return it; each trial is one model of the file."""
        documents = {
            passage.passage_id: passage.text
            for trial in results.trials
            for context in trial.contexts.values()
            for passage in context.passages
        }
        models = [trial_name(trial) for trial in results.trials]
        metrics = dict.fromkeys(metric for trial in results.trials for metric in trial.scores)
        content = {
            "name": results.name,
            "filters": list(_FILTERS),
            "models": [{"model_id": m, "name": m, "owner": "ragstone"} for m in models],
            "metrics": [{"name": m, "display_name": m, **_METRIC} for m in metrics],
            "documents": [{"document_id": p, "text": text} for p, text in documents.items()],
            "tasks": list(_tasks(results, documents)),
            "evaluations": [
                _evaluation(results, trial.first, query_id)
                for query_id in results.queries
                for trial in results.trials
                if query_id in trial.predictions
            ],
        }
        return [write_inspection(Inspection(content), target)]


def trial_name(trial: TrialResults) -> str:
    """Return the name of a trial in a format without settings."""
    return f"{trial.system} | {trial.setting}"


def _tasks(results: StoredResults, documents: dict[str, str]) -> Iterator[dict[str, Any]]:
    for query_id, query in results.stated_queries.items():
        grades, judged = results.grades(query_id), results.qrels.get(query_id, {})
        gold = [p for p, grade in judged.items() if grade > 0 and p in documents]
        yield {
            **task_row(query),
            "contexts": [{"document_id": passage_id} for passage_id in gold],
            "grades": grades,
            "targets": [{"speaker": "agent", "text": text} for text in query.gold_answers],
        }


def _evaluation(results: StoredResults, trial: TrialResults, query_id: str) -> dict[str, Any]:
    prediction, context = trial.predictions[query_id], trial.contexts.get(query_id)
    annotations, unscored = {}, {}
    for metric, score in trial.scores_of(query_id).items():
        if score.value is None:
            unscored[metric] = [score.status, score.reason]
        else:
            annotations[metric] = {"system": {"value": score.value}}
    row: dict[str, Any] = {
        "task_id": query_id,
        "model_id": trial_name(trial),
        "model_response": prediction.answer or "",
        "language": answer_language(results, prediction.answer),
        "setting": trial.setting,
        "annotations": annotations,
        "unscored": unscored,
    }
    if prediction.answer is None:
        row["failed"] = prediction.reason
    if context is not None:
        row["contexts"] = [
            {"document_id": p.passage_id, "text": p.text, "origin": p.origin}
            for p in context.passages
        ]
    return row
