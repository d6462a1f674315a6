"""Answers as ragas' rows: their fields, several settings, and the way back to the same scores."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.fakes.made_results import made_results

import ragstone
from ragstone.data.readers.answer_rows import read_answer_rows
from ragstone.errors import ConfigError
from ragstone.evaluation.score_files import evaluate_answers
from ragstone.results.exporters.ragas import RagasRows

RAGAS = {
    "user_input": str,
    "retrieved_contexts": list,
    "retrieved_context_ids": list,
    "response": str,
    "reference": str,
    "reference_contexts": list,
    "reference_context_ids": list,
}
"""The fields of ragas' SingleTurnSample (0.2 to 0.4) that are written, and their types."""


def answer(query: str) -> dict[str, object]:
    """Answer with the last words of a query, and fail once."""
    if query.startswith("Who"):
        raise RuntimeError("no route")
    return {"answer": " ".join(query.split()[-3:]), "contexts": [query, "Another text."]}


def test_the_rows_are_read_back_to_the_same_scores(tmp_path: Path) -> None:
    """To the digit, failures included."""
    metrics = ["EM", "F1", "K-precision", "answer-in-context"]
    results = ragstone.evaluate(answer, "sample", metrics, store=tmp_path / "store")
    (path,) = results.export(tmp_path / "rows.jsonl", "ragas")

    table = read_answer_rows(path)

    assert table.columns.format == "ragas"
    (trial,), rows = results.trials, table.of("answer")
    found = evaluate_answers(
        list(rows.predictions.values()), rows.queries, metrics, contexts=rows.contexts
    )
    assert {p.reason for p in rows.predictions.values()} > {""}
    for metric in metrics:
        assert found.scores[metric] == trial.values(metric)
    assert len({*found.scores["F1"].values()}) > 2


def test_the_fields_have_ragas_names_and_types(tmp_path: Path) -> None:
    """A missing value is null; one setting leaves the names of systems alone."""
    results = made_results(tmp_path / "store", settings=("none",))
    (path,) = RagasRows().export(results, tmp_path / "rows.jsonl")
    rows = [json.loads(line) for line in path.read_text().splitlines()]

    assert {row["system"] for row in rows} == {trial.system for trial in results.trials}
    for row in rows:
        assert all(isinstance(row[name], kind | None) for name, kind in RAGAS.items())
        assert row["reference"] == (row["gold_answers"] or [None])[0]
    assert any(row["response"] is None and row["reason"] for row in rows)
    assert {row["user_input"] for row in rows} == {q.text for q in results.queries.values()}


def test_several_settings_are_systems_of_their_own(tmp_path: Path) -> None:
    """Named as in InspectorRAGet's files."""
    results = made_results(tmp_path / "store")
    (path,) = RagasRows().export(results, tmp_path / "rows.jsonl")
    names = [f"{trial.system} | {trial.setting}" for trial in results.trials]
    assert list(read_answer_rows(path).systems) == names


def test_another_end_is_refused(tmp_path: Path) -> None:
    """Ragas reads JSON lines."""
    with pytest.raises(ConfigError, match=r"rows.csv: .* end the name with .jsonl"):
        RagasRows().export(made_results(tmp_path / "store"), tmp_path / "rows.csv")
