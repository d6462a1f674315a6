"""Export to MTRAGEval: one file per system, task and setting."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ragstone.core.schemas import queries_to_table
from ragstone.data.corpus import Corpus
from ragstone.data.dataset import Dataset
from ragstone.data.writers.mtrag import Submission, TaskForm, write_tasks
from ragstone.results.exporters.base import Exporter, file_name
from ragstone.results.reader import StoredResults
from ragstone.results.record import is_oracle
from ragstone.types import Passage


@dataclass(frozen=True)
class MtragEval(Exporter):
    """Exports rankings and answers for MTRAGEval's tasks A, B and C, into a folder."""

    def export(self, results: StoredResults, target: Path) -> list[Path]:
        """Write the files of the folder `target` and return them."""
        dataset, files = _shown_dataset(results), []
        runs = {run.system: run.rankings for run in results.rankings}
        for system, rankings in runs.items():
            path = target / f"task_a.{file_name(system)}.jsonl"
            files.append(write_tasks(dataset, path, "a", Submission(rankings)))
        for trial in results.trials:
            form: TaskForm = "b" if is_oracle(trial.setting) else "c"
            output = Submission(runs.get(trial.system, {}), trial.contexts, trial.predictions)
            name = f"task_{form}.{file_name(trial.system)}.{file_name(trial.setting)}.jsonl"
            asked = dataset
            if trial.not_applicable:
                places = enumerate(results.queries)
                asked = dataset.select([n for n, q in places if q not in trial.not_applicable])
            files.append(write_tasks(asked, target / name, form, output))
        return files


def _shown_dataset(results: StoredResults) -> Dataset:
    """Return the answered queries with the passages of contexts and rankings as their corpus."""
    contexts = (context for trial in results.trials for context in trial.contexts.values())
    texts = {p.passage_id: p.text for context in contexts for p in context.passages}
    ranked = {p for run in results.rankings for r in run.rankings.values() for p in r.passage_ids}
    judged = {passage_id for grades in results.qrels.values() for passage_id in grades}
    known = sorted(ranked | judged | texts.keys())
    return Dataset(
        results.name,
        queries_to_table(list(results.stated_queries.values())),
        Corpus.from_passages([Passage(p, texts.get(p, "")) for p in known]),
        results.stored_table(results.record.tables.qrels),
    )
