"""The same answers recorded by other tools have the same scores as the system that gave them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import ragstone
from ragstone.data.dataset import Dataset
from ragstone.data.readers.answer_rows import read_answer_rows
from ragstone.evaluation.score_files import evaluate_answers
from ragstone.results.results import Results

FOLDER = Path(__file__).parents[1] / "data" / "readers" / "foreign"
ROWS: list[dict[str, Any]] = [
    json.loads(line) for line in (FOLDER / "ragas.jsonl").read_text("utf-8").splitlines()
]
METRICS = ["Match", "EM", "F1", "K-precision", "answer-in-context"]
FILES = (
    *("deepeval.csv", "deepeval.json", "deepeval.jsonl", "deepeval-test-run.json"),
    *("langchain.jsonl", "langchain-dumps.json", "langsmith-experiment.csv"),
    *("langsmith-runs.jsonl", "llama-index-responses.jsonl", "open-rag-eval.csv"),
    *("promptfoo.json", "promptfoo.jsonl"),
    *("ragas.jsonl", "ragas.csv", "ragas-0.0.json", "ragas-0.1.csv"),
)
"""Every foreign format with answers and their contexts."""


def answer(query: str) -> dict[str, Any]:
    """Return the answer and the contexts of the first system in the files."""
    (row,) = (row for row in ROWS if row["user_input"] == query)
    return {"answer": row["response"], "contexts": row["retrieved_contexts"]}


def values(results: Results) -> dict[str, list[float | None]]:
    """Return metric -> values in the order of the queries."""
    (trial,) = results.trials
    return {
        metric: [trial.scores[metric][query_id].value for query_id in results.queries]
        for metric in METRICS
    }


@pytest.mark.parametrize("name", FILES)
def test_rows_of_every_format_score_like_the_function(name: str, tmp_path: Path) -> None:
    """As a system of an experiment, and by `ragstone score`: equal to the digit."""
    path = FOLDER / name
    table = read_answer_rows(path)
    system = next(iter(table.systems))
    rows = table.of(system)
    dataset = Dataset.from_records(
        queries=[
            {"query_id": one.query_id, "text": one.text, "gold_answers": [row["reference"]]}
            for one, row in zip(rows.queries, ROWS, strict=True)
        ]
    )
    generator = {"name": "recorded", "path": str(path), "system": system}

    by_function = ragstone.evaluate(answer, dataset, METRICS, store=tmp_path / "a")
    of_rows = ragstone.evaluate(
        generator, dataset, METRICS, settings=["system"], store=tmp_path / "b"
    )
    scored = evaluate_answers(
        list(rows.predictions.values()), dataset.queries, METRICS, contexts=rows.contexts
    ).scores

    assert values(of_rows) == values(by_function)
    for metric, found in values(by_function).items():
        assert list(scored[metric].values()) == found
    assert len(set(values(by_function)["F1"])) > 1


def test_rows_in_python_are_system_and_data(tmp_path: Path) -> None:
    """A list of ragas' rows, as answers and as questions."""
    results = ragstone.evaluate(ROWS, ROWS, METRICS, store=tmp_path / "a")
    by_function = ragstone.evaluate(answer, ROWS, METRICS, store=tmp_path / "b")
    assert values(results) == values(by_function)
