"""Export to MTRAGEval: one file per system, task and setting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ragstone.core.schemas import queries_to_table
from ragstone.data.corpus import Corpus
from ragstone.data.dataset import Dataset
from ragstone.data.table_builder import qrels
from ragstone.data.writers.mtrag import Submission, TaskForm, write_tasks
from ragstone.results.exporters.base import Exporter, file_name
from ragstone.types import Passage

if TYPE_CHECKING:
    from arro3.core import Table

    from ragstone.results.reader import StoredResults
    from ragstone.types import Context


@dataclass(frozen=True)
class MtragEval(Exporter):
    """Exports rankings and answers for MTRAGEval's tasks A, B and C, into a folder."""

    def export(self, results: StoredResults, target: Path) -> list[Path]:
        """Write the files of the folder `target` and return them."""
        return list(_mtrageval(results, target))


def _mtrageval(results: StoredResults, target: Path) -> Iterator[Path]:
    dataset = _shown_dataset(results)
    runs = {run.system: run.rankings for run in results.rankings}
    for system, rankings in runs.items():
        held = Submission(rankings=rankings)
        yield write_tasks(dataset, target / f"task_a.{file_name(system)}.jsonl", "a", held)
    for trial in results.trials:
        form = _form(trial.setting)
        held = Submission(runs.get(trial.system, {}), trial.contexts, trial.predictions)
        name = f"task_{form}.{file_name(trial.system)}.{file_name(trial.setting)}.jsonl"
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
