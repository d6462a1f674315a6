"""Export to ragas' rows: one line per answer, which `EvaluationDataset.from_jsonl` reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from ragstone.data.writers.folder import write_lines
from ragstone.errors import ConfigError
from ragstone.results.answer_language import answer_language
from ragstone.results.exporters.base import Exporter
from ragstone.results.exporters.inspector import trial_name
from ragstone.results.reader import StoredResults
from ragstone.results.scored_rows import TrialResults


@dataclass(frozen=True)
class RagasRows(Exporter):
    """Exports the answers of all trials as JSON lines with ragas' names of columns.

    `reference` is the first gold answer, as ragas has one; `gold_answers` has all of them, and
    `query_id`, `system` and `setting` are further columns, so that `ragstone score` reads the file
    to the same scores. `reference_contexts` is null if the text of a gold passage is in no context.
    """

    def export(self, results: StoredResults, target: Path) -> list[Path]:
        """Write the file `target` and return it; raise `ConfigError` if it is not a .jsonl."""
        if target.suffix != ".jsonl":
            raise ConfigError(
                f"{target.name}: ragas' rows are JSON lines; end the name with .jsonl",
                value=str(target),
            )
        found = list(_rows(results))
        if not found:
            raise ConfigError(f"{results.name!r} has no answer to write")
        lines = (orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in found)
        return write_lines({target: lines})


def _rows(results: StoredResults) -> Iterator[dict[str, Any]]:
    texts = {
        passage.passage_id: passage.text
        for trial in results.trials
        for context in trial.contexts.values()
        for passage in context.passages
    }
    one_setting = len(results.settings) == 1
    for trial in results.trials:
        system = trial.system if one_setting else trial_name(trial)
        for query_id in results.queries:
            if query_id in trial.predictions:
                yield {"system": system, **_row(results, trial, query_id, texts)}


def _row(
    results: StoredResults, trial: TrialResults, query_id: str, texts: Mapping[str, str]
) -> dict[str, Any]:
    query, prediction = results.queries[query_id], trial.predictions[query_id]
    context = trial.contexts.get(query_id)
    passages = None if context is None else context.passages
    grades = results.qrels.get(query_id, {})
    gold = [passage_id for passage_id, grade in grades.items() if grade > 0]
    known = all(passage_id in texts for passage_id in gold)
    return {
        "setting": trial.setting,
        "query_id": query_id,
        "user_input": query.text,
        "retrieved_contexts": None if passages is None else [p.text for p in passages],
        "retrieved_context_ids": None if passages is None else [p.passage_id for p in passages],
        "response": prediction.answer,
        "language": answer_language(results, prediction.answer),
        "reason": prediction.reason or None,
        "reference": next(iter(query.gold_answers), None),
        "gold_answers": list(query.gold_answers),
        "reference_contexts": [texts[i] for i in gold] if gold and known else None,
        "reference_context_ids": gold or None,
    }
