"""Conversations by label and as dialogues, and their export without loss."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragstone.data.readers.inspector_raget import read_inspection
from ragstone.data.readers.mtrag_answers import read_submission
from ragstone.errors import ConfigError
from ragstone.experiment.config import parse_experiment
from ragstone.experiment.experiment import Experiment
from ragstone.results.by_label import label_table, labels_of
from ragstone.results.conversation_page import dialogues
from ragstone.results.exporters.inspector import trial_name
from ragstone.results.html import render_report
from ragstone.results.results import Results


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Return a run over the sample's conversations; the second system always declines."""
    folder = tmp_path_factory.mktemp("talk")
    answers = folder / "answers.jsonl"
    document = {
        "data": "sample",
        "store": str(folder / "store"),
        "sample": {"where": {"conversation": ["c-places-01", "c-people-01"]}},
        "systems": {
            "ideal": {
                "retriever": "bm25(top_k=5)",
                "generator": {"name": "live", "generator": "gold"},
            },
            "shy": {"generator": {"name": "recorded", "path": str(answers)}},
        },
        "settings": ["gold", "retrieved(2)"],
        "metrics": ["nDCG@5", "answerability", "Match"],
        "correct": "answerability",
    }
    answers.write_text(
        '{"query_id": "c-places-01::1", "answer": "I do not know."}\n'
        '{"query_id": "c-places-01::2", "answer": null, "reason": "too slow"}\n',
        encoding="utf-8",
    )
    return Experiment(parse_experiment(document, where="test"), folder=folder).run()


def test_a_metric_is_shown_by_any_label(results: Results) -> None:
    """The table has a mean per value and trial, with failures; ranking metrics work too."""
    table = label_table(results, "turn", "answerability")
    values = dict(table.rows)

    assert table.columns == (("ideal", "gold"), ("shy", "gold"), ("ideal", "retrieved(2)"))
    assert values["1"]["ideal", "gold"].mean == 1.0
    assert values["2"]["shy", "gold"].failed == 2
    assert label_table(results, "domain", "nDCG@5").columns == (("ideal", ""),)
    assert labels_of(results)[0] == "turn"
    assert "conversation" not in labels_of(results)
    with pytest.raises(ConfigError, match="did you mean 'Match'"):
        label_table(results, "turn", "Mach")


def test_conversations_with_most_errors_come_first(results: Results) -> None:
    """The first conversation has a wrong refusal and a failure, the second only failures."""
    first, second = dialogues(results)
    turns = {turn.query.turn: turn for turn in first.turns}

    assert first.error_count >= second.error_count > 0
    assert first.errors["ideal", "gold"] == ()
    assert first.errors["shy", "gold"][0] == 1
    places = next(d for d in (first, second) if d.conversation == "c-places-01")
    shy = next(r for r in places.turns[0].replies if r.system == "shy")
    assert (shy.refused, shy.error) == (True, "declined an answerable query")
    assert [r.error for r in places.turns[1].replies if r.system == "shy"] == ["no answer"]
    assert turns[1].replies[0].passages
    assert first.labels["domain"]


def test_the_report_contains_dialogues_and_labels(results: Results) -> None:
    """The page contains the number of the turn, the error and the curve by turn."""
    page = render_report(results)

    assert "declined an answerable query" in page
    assert 'id="turn-c-places-01::2"' in page
    assert 'id="chart-turns"' in page
    assert "too slow" in page


def test_an_export_opened_again_has_lost_nothing(results: Results, tmp_path: Path) -> None:
    """An exported file contains all queries, answers, failures, contexts, scores and reasons."""
    (path,) = results.export(tmp_path / "talk.json", "inspector")
    found = read_inspection(path)

    assert {q.query_id: q for q in found.dataset.queries} == results.stated_queries
    for trial in results.trials:
        name = trial_name(trial)
        for query_id, prediction in trial.predictions.items():
            again = found.predictions[name][query_id]
            assert (again.answer, again.reason) == (prediction.answer, prediction.reason)
        assert found.contexts[name] == trial.contexts
        for metric, scores in trial.scores.items():
            assert {s.query_id: s for s in found.scores(name, metric)} == scores


def test_results_are_exported_as_mtrageval_tasks(results: Results, tmp_path: Path) -> None:
    """Rankings are task A, answers from gold passages B, from retrieved passages C."""
    files = results.export(tmp_path, "mtrageval")

    assert sorted(file.name for file in files) == [
        "task_a.ideal.jsonl",
        "task_b.ideal.gold.jsonl",
        "task_b.shy.gold.jsonl",
        "task_c.ideal.retrieved-2.jsonl",
    ]
    held = read_submission(tmp_path / "task_b.shy.gold.jsonl")
    assert held.predictions["c-places-01::2"].reason == "too slow"
    with pytest.raises(ConfigError, match="unknown exporter 'pdf'"):
        results.export(tmp_path, "pdf")
