"""An experiment's results in other people's forms: InspectorRAGet, MTRAGEval, TREC runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragstone.core.schemas import queries_to_table
from ragstone.data.corpus import Corpus
from ragstone.data.dataset import Dataset
from ragstone.data.readers.inspector_raget import Inspection, write_inspection
from ragstone.data.readers.trec import qrel_lines, run_lines
from ragstone.data.table_builder import qrels
from ragstone.data.writers.folder import write_lines
from ragstone.data.writers.mtrag import Submission, TaskForm, task_row, write_tasks
from ragstone.errors import ConfigError
from ragstone.types import Passage, Score

if TYPE_CHECKING:
    from arro3.core import Table

    from ragstone.results.reader import StoredResults, TrialResults
    from ragstone.types import Context

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
    """Return what a trial is called where settings are not told apart."""
    return f"{trial.system} | {trial.setting}"


def export_results(results: StoredResults, target: Path, form: str) -> list[Path]:
    """Write an experiment's results and return the files.

    Args:
        results: of the experiment.
        target: the file for `inspector`; the folder for the others.
        form: `inspector`, `mtrageval` (one file per system, task and setting), or `trec` (one run
            file per system that ranks, and the qrels).

    Raises:
        ConfigError: an unknown form, or nothing of the kind was found.
        DatasetError: a file is there already.
    """
    if form == "inspector":
        return [write_inspection(inspect_results(results), target)]
    if form == "trec":
        return _trec(results, target)
    if form != "mtrageval":
        raise ConfigError(f"unknown form {form!r}; allowed: inspector, mtrageval, trec")
    return list(_mtrageval(results, target))


def _trec(results: StoredResults, folder: Path) -> list[Path]:
    if not results.rankings:
        raise ConfigError(f"no system of {results.name!r} has a ranking to write")
    wanted: dict[Path, Iterable[bytes]] = {}
    for run in results.rankings:
        path = folder / f"{_plain(run.system)}.trec"
        if path in wanted:
            raise ConfigError(
                f"two systems would be written to {path.name}; give {run.system!r} another name"
            )
        # In the order of the queries; one without hits has no line.
        shown = {q: run.rankings[q] for q in results.queries if q in run.rankings}
        wanted[path] = run_lines(shown, "_".join(run.system.split()))
    if results.qrels:
        wanted[folder / "qrels.txt"] = qrel_lines(results.qrels)
    return write_lines(wanted)


def _mtrageval(results: StoredResults, target: Path) -> Iterator[Path]:
    dataset = _shown_dataset(results)
    runs = {run.system: run.rankings for run in results.rankings}
    for system, rankings in runs.items():
        held = Submission(rankings=rankings)
        yield write_tasks(dataset, target / f"task_a.{_plain(system)}.jsonl", "a", held)
    for trial in results.trials:
        form = _form(trial.setting)
        held = Submission(runs.get(trial.system, {}), trial.contexts, trial.predictions)
        name = f"task_{form}.{_plain(trial.system)}.{_plain(trial.setting)}.jsonl"
        yield write_tasks(dataset, target / name, form, held)


def _form(setting: str) -> TaskForm:
    return "b" if setting == "gold" else "c"


def _shown_dataset(results: StoredResults) -> Dataset:
    """Return the answered queries with the passages of contexts and rankings as their corpus."""
    texts = {p.passage_id: p.text for c in _contexts(results) for p in c.passages}
    ranked = {p for run in results.rankings for r in run.rankings.values() for p in r.passage_ids}
    judged = [(q, p, g) for q, grades in results.qrels.items() for p, g in grades.items()]
    known = ranked | {p for _, p, _ in judged} | texts.keys()
    corpus = Corpus.from_passages([Passage(p, texts.get(p, "")) for p in sorted(known)])
    return Dataset(
        results.name,
        queries_to_table(list(results.queries.values())),
        corpus,
        _qrels_table(judged),
    )


def _qrels_table(judged: Sequence[tuple[str, str, int]]) -> Table:
    builder = qrels()
    for row in judged:
        builder.add(row)
    return builder.finish()


def _contexts(results: StoredResults) -> Iterator[Context]:
    return (context for trial in results.trials for context in trial.contexts.values())


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


def _plain(name: str) -> str:
    return "".join(c if c.isalnum() or c in "-_" else "-" for c in name).strip("-")
