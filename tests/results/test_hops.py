"""Hops in results: the terminal, JSON, the report, its chart and the page of a query agree."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.made_results import made_results

import ragstone
from ragstone.core import limits
from ragstone.core.schemas import predictions_to_table, table_to_predictions
from ragstone.results.charts.charts import budget_chart
from ragstone.results.hops import hop_trials
from ragstone.results.html import render_report
from ragstone.results.leaderboards import results_document
from ragstone.results.query_page import query_document
from ragstone.results.results import Results
from ragstone.results.kept_board import leaderboard_parts
from ragstone.results.terminal import query_text
from ragstone.types import Hop, Passage, Prediction

CORPUS = {"a": "The bridge is old.", "b": "It was finished in 1802.", "c": "<b>Fish</b> & chips."}
GOLD = {"q1": ["a", "b"], "q2": ["a", "b"], "q3": ["b"], "q4": ["b"], "q5": ["b"]}


def search(*passages: Any, **facts: Any) -> dict[str, Any]:
    """Return a step of a reply."""
    return {"query": f"Which of {len(passages)}?", "passages": list(passages), **facts}


ANSWERS: Sequence[Mapping[str, Any]] = (
    {"query_id": "q1", "answer": "1802", "steps": [search("a", "c"), search("b")]},
    {
        "query_id": "q2",
        "answer": "1900",
        "steps": [search("THE bridge is old", latency_s=0.5, tokens=7), search("c", "z")],
        "contexts": [{"id": "b"}],
    },
    {"query_id": "q3", "answer": "1802", "steps": [search("b")]},
    {"query_id": "q4", "answer": None, "reason": "timed out"},
    {"query_id": "q5", "answer": "1802"},
)


def run(folder: Path, answers: Sequence[Mapping[str, Any]] = ANSWERS, **more: Any) -> Results:
    """Return the results of recorded answers to questions on a corpus of three passages."""
    queries = [{"_id": q, "text": f"When, {q}?", "answers": ["1802"]} for q in GOLD]
    passages = [{"_id": p, "title": "", "text": text} for p, text in CORPUS.items()]
    qrels = [f"{q}\t{p}\t1" for q, ids in GOLD.items() for p in ids]
    (folder / "set" / "qrels").mkdir(parents=True)
    files = {
        "set/queries.jsonl": map(json.dumps, queries),
        "set/corpus.jsonl": map(json.dumps, passages),
        "set/qrels/test.tsv": ["query-id\tcorpus-id\tscore", *qrels],
        "mine.jsonl": map(json.dumps, answers),
    }
    for name, rows in files.items():
        (folder / name).write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    file = {
        "data": "set",
        "systems": {"mine": {"generator": "recorded(mine.jsonl)"}},
        "metrics": ["Match", "R@5"],
        "store": str(folder / "store"),
        **more,
    }
    (folder / "e.yaml").write_text(json.dumps(file), encoding="utf-8")
    return ragstone.load_experiment(folder / "e.yaml").run()


def test_texts_of_steps_are_passages_of_the_corpus(tmp_path: Path) -> None:
    """An unknown id stays as it is; the union of the steps is the context if there is no other."""
    results = run(tmp_path)
    hops = results.hops["mine", "system"]

    assert results.settings == ["system"]
    assert {q: [[p.passage_id for p in hop.passages] for hop in of] for q, of in hops.items()} == {
        "q1": [["a", "c"], ["b"]],
        "q2": [["a"], ["c", "z"]],
        "q3": [["b"]],
    }
    assert hops["q1"][0].passages[0] == Passage("a", CORPUS["a"])
    assert hops["q2"][1].passages[1] == Passage("z", "")
    contexts = {q: c.passage_ids for q, c in results.trials[0].contexts.items()}
    assert contexts == {"q1": ("a", "c", "b"), "q2": ("b",), "q3": ("b",), "q4": ()}
    (ranking,) = results.rankings
    assert list(ranking.rankings["q1"].passage_ids) == ["a", "c", "b"]


def test_the_figures_of_a_trial(tmp_path: Path) -> None:
    """Failures count as wrong in every budget; an answer without steps is left out."""
    (row,) = hop_trials(run(tmp_path))
    found = row.found

    assert (row.queries, row.failed) == (3, 1)
    assert row.left_out == {"the system reported no steps": 1}
    assert found.recall.mean == pytest.approx((1 + 0.5 + 1) / 3)
    assert found.in_context.mean == pytest.approx((1 + 0.5 + 1) / 3)
    assert found.lost.mean == pytest.approx(1 / 6)
    assert found.never_found.mean == 0
    assert [hop.lost for hop in found.by_hop] == [1, 0]
    assert [(one.calls, one.accuracy.n, one.within.n) for one in found.by_calls] == [
        (1, 1, 4),
        (2, 2, 4),
    ]
    assert [one.within.mean for one in found.by_calls] == [0.25, 0.5]


def test_every_view_contains_the_same_numbers(tmp_path: Path) -> None:
    """JSON, the terminal, the report and its chart."""
    results = run(tmp_path)
    (document,) = json.loads(json.dumps(results_document(results)))["hops"]

    assert document["by_hop"][1]["recall_so_far"]["mean"] == pytest.approx(2.5 / 3)
    assert document["by_calls"][1]["within"]["mean"] == 0.5
    assert document["calls"]["mean"] == pytest.approx(5 / 3)
    text = "\n".join(map(str, leaderboard_parts(results)))
    assert "mine, system; left out: 1 (the system reported no steps)" in text
    assert "0.833 [" in text.partition("Recall by hop")[2].partition("Accuracy")[0]
    page = render_report(results)
    assert 'id="hops"' in page
    assert "1 the system reported no steps" in page
    chart = budget_chart(results)
    assert chart is not None
    assert "mine · system calls 2: 0.500" in chart["description"]


def test_the_page_of_a_query_has_its_hops(tmp_path: Path) -> None:
    """Query, passages and facts of each search; gold passages are marked."""
    results = run(tmp_path)

    text = query_text(results, "q2")
    assert "Hop 1: Which of 1? (0.5 s, 7 tokens)\n  [a, relevance 1] THE bridge is old" in text
    assert "Hop 2: Which of 2?\n  [c] <b>Fish</b> & chips.\n  [z] \nFinal context:" in text
    (trial,) = query_document(results, "q2")["trials"]
    assert trial["hops"] == [
        {
            "query": "Which of 1?",
            "passages": [["a", "THE bridge is old"]],
            "tokens": 7,
            "seconds": 0.5,
        },
        {
            "query": "Which of 2?",
            "passages": [["c", CORPUS["c"]], ["z", None]],
            "tokens": None,
            "seconds": None,
        },
    ]
    assert query_document(results, "q4")["trials"][0]["hops"] is None
    assert "<b>Fish</b>" not in render_report(results)


def test_without_steps_nothing_is_shown(tmp_path: Path) -> None:
    """No section and an empty list, also for results of an earlier version."""
    results = made_results(tmp_path)

    assert results_document(results)["hops"] == []
    assert budget_chart(results) is None
    assert "Hops" not in "\n".join(map(str, leaderboard_parts(results)))
    assert 'id="hops"' not in render_report(results)


def test_without_a_rule_for_right_answers_there_is_recall_alone(tmp_path: Path) -> None:
    """The tables of hops stay; those of accuracy and the chart are absent."""
    results = run(tmp_path, correct=None)
    text = "\n".join(map(str, leaderboard_parts(results)))

    assert "Recall by hop" in text
    assert "Accuracy by search calls" not in text
    assert budget_chart(results) is None
    assert "Accuracy by search calls" not in render_report(results)


def test_many_hops_have_a_maximum_of_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`SHOWN_HOPS` rows; answers with more calls are counted."""
    results = run(tmp_path)
    monkeypatch.setattr(limits, "SHOWN_HOPS", 1)
    (row,) = hop_trials(results)

    assert (len(row.found.by_hop), len(row.found.by_calls), row.found.beyond) == (1, 1, 2)
    assert "mine, system: 2 answers took more calls" in "\n".join(
        map(str, leaderboard_parts(results))
    )


def test_a_table_of_predictions_has_the_steps_only_if_there_are_some() -> None:
    """Tables of earlier versions are read, and equal answers keep their digest."""
    steps = (Hop("Who?", (Passage("p", ""), Passage("", "text")), 3, 0.5), Hop("When?"))
    given = [Prediction("q1", "a", steps=steps), Prediction("q2", "a", steps=())]
    plain = [Prediction("q1", "a"), Prediction("q2", "a", confidence=0.5)]

    assert table_to_predictions(predictions_to_table(given)) == given
    assert table_to_predictions(predictions_to_table([*given, *plain])) == [*given, *plain]
    assert "steps" not in predictions_to_table(plain).column_names
    assert table_to_predictions(predictions_to_table(plain)) == plain
