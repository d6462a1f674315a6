"""Refusals in results: coverage and selective accuracy over the answerable queries."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from tests.fakes.made_results import made_results

import ragstone
from ragstone.core import limits
from ragstone.results.charts.charts import refusals_chart
from ragstone.results.html import render_report
from ragstone.results.leaderboards import results_document
from ragstone.results.refusals import refusal_rows
from ragstone.results.results import Results
from ragstone.results.kept_board import leaderboard_parts

ANSWERS = {
    "q1": "It is Paris.",
    "q2": "It is Rome.",
    "q3": "I don't know.",
    "q4": "I do not know.",
    "q5": "It is Oslo.",
    "q6": "Hello!",
    "q7": "It is Rome.",
}
"""Right, wrong, refused; then unanswerable: refused, answered; conversational; no gold answer."""
LABELS = ["answerable", "partial", "", "unanswerable", "unanswerable", "conversational", ""]

CONFIDENT = """
class confidence:
    direction = "higher"

    def score(self, answer):
        return float("Paris" in answer)
"""


def run(
    folder: Path,
    *metrics: str,
    answers: Mapping[str, str | None] | None = None,
    gold: str = "Paris",
    labels: Sequence[str] = LABELS,
    correct: str | None = "Match",
) -> Results:
    """Return the results of recorded answers to seven questions."""
    given = ANSWERS if answers is None else answers
    queries = [
        {"_id": q, "text": f"Which town is {q}?", "answers": [gold] if n < 6 else []}
        | ({"answerability": label} if label else {})
        for n, (q, label) in enumerate(zip(ANSWERS, labels, strict=True))
    ]
    lines = [{"query_id": q, "answer": answer} for q, answer in given.items()]
    (folder / "set").mkdir()
    for name, listed in (("set/queries.jsonl", queries), ("answers.jsonl", lines)):
        text = "".join(f"{json.dumps(one)}\n" for one in listed)
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "own.py").write_text(CONFIDENT, encoding="utf-8")
    file = {
        "data": "set",
        "systems": {"kept": {"generator": "recorded(answers.jsonl)"}},
        "settings": ["none"],
        "metrics": list(metrics),
        "correct": correct,
    }
    (folder / "e.yaml").write_text(json.dumps(file), encoding="utf-8")
    return ragstone.load_experiment(folder / "e.yaml").run()


def test_an_answerable_query_is_answered_refused_or_failed(tmp_path: Path) -> None:
    """A right refusal is counted apart; queries without a right answer are left out by reason."""
    (row,) = refusal_rows(run(tmp_path, "Match", "refusal", answers={**ANSWERS, "q1": None}))

    assert (row.system, row.setting, row.metric) == ("kept", "none", "refusal")
    assert row.found.coverage.mean == pytest.approx(1 / 3)
    assert row.found.coverage.n == 3
    assert (row.found.accuracy.mean, row.found.accuracy.n) == (0.0, 1)
    assert (row.refused, row.failed) == (1, 1)
    assert (row.unanswerable, row.rightly_refused) == (2, 1)
    assert row.left_out == {"answerability is conversational": 1, "no value of Match": 1}
    assert row.found.risks == (1, 1, 1)


def test_a_metric_named_confidence_orders_the_answers(tmp_path: Path) -> None:
    """The right answer comes first, so the risk is 0 at the lowest coverage."""
    plain, ordered = tmp_path / "plain", tmp_path / "ordered"
    for folder in (plain, ordered):
        folder.mkdir()
    (without,) = refusal_rows(run(plain, "Match", "refusal"))
    (with_one,) = refusal_rows(run(ordered, "Match", "refusal", "own.py:confidence"))

    assert (without.ordered, with_one.ordered) == (False, True)
    assert without.found.risks == pytest.approx((1 / 2, 1 / 2, 2 / 3))
    assert with_one.found.risks == pytest.approx((0, 1 / 2, 2 / 3))
    assert without.found.accuracy == with_one.found.accuracy


def test_every_view_contains_the_same_numbers(tmp_path: Path) -> None:
    """JSON, the terminal, the report and its chart."""
    results = run(tmp_path, "Match", "refusal")
    (document,) = json.loads(json.dumps(results_document(results)))["refusals"]

    assert document["coverage"]["mean"] == pytest.approx(2 / 3)
    assert document["selective_accuracy"]["mean"] == 0.5
    assert document["area"] == pytest.approx((1 / 2 + 1 / 2 + 2 / 3) / 3)
    assert document["curve"][1] == [pytest.approx(2 / 3), 0.5]
    text = "\n".join(map(str, leaderboard_parts(results)))
    assert "Refusals (of the answerable queries" in text
    assert "0.500 [" in text.partition("Refusals")[2]
    page = render_report(results)
    assert 'id="refusals"' in page
    assert "1 of 2</td>" in page
    chart = refusals_chart(results)
    assert chart is not None
    assert "kept · none: 0.500 at 0.667" in chart["description"]


def test_without_a_metric_of_refusals_nothing_is_shown(tmp_path: Path) -> None:
    """No section, no table and an empty list."""
    results = made_results(tmp_path)

    assert results_document(results)["refusals"] == []
    assert "Refusals" not in "\n".join(map(str, leaderboard_parts(results)))
    assert 'id="refusals"' not in render_report(results)


def test_a_threshold_of_a_graded_metric_decides(tmp_path: Path) -> None:
    """The rule is named in the report; without a rule nothing is right or wrong."""
    expected = {"F1 >= 0.3": [0.5], "F1 >= 0.9": [0.0], None: []}
    for place, (rule, means) in enumerate(expected.items()):
        folder = tmp_path / str(place)
        folder.mkdir()
        results = run(folder, "F1", "refusal", correct=rule)
        assert [row.found.accuracy.mean for row in refusal_rows(results)] == means
        named = f"wrong according to {(rule or '').replace('>', '&gt;')};"
        assert (named in render_report(results)) is bool(rule)


def test_a_long_curve_is_cut_to_its_points(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of points is bounded by `RISK_POINTS`; the own coverage stays."""
    results = run(tmp_path, "Match", "refusal")
    monkeypatch.setattr(limits, "RISK_POINTS", 2)

    assert len(results_document(results)["refusals"][0]["curve"]) == 2


def test_figures_of_all_answers_are_in_every_view(tmp_path: Path) -> None:
    """The macro-F1 of `label` and its abstentions stand beside the accuracy, as in `score`."""
    answers = {**dict.fromkeys(ANSWERS, "Yes."), "q3": "I don't know."}
    results = run(tmp_path, "Match", "label", answers=answers, gold="yes")
    rows = {row["metric"]: row for row in results_document(results)["leaderboard"]}
    gold = {q: ["yes"] if q != "q7" else [] for q in ANSWERS}
    scored = ragstone.evaluate_answers(answers, gold, ["label"])

    assert (
        rows["label"]["beside"]
        == scored.beside["label"]
        == {
            "macro_f1": pytest.approx(10 / 11),
            "abstained": 1,
        }
    )
    assert "beside" not in rows["Match"]
    assert "label: macro-F1" in "\n".join(map(str, leaderboard_parts(results)))
    assert "0.9091" in render_report(results)


def test_a_metric_that_applies_to_no_query_has_no_figures(tmp_path: Path) -> None:
    """No macro-F1 of 0 if no gold answer is one of the options."""
    results = run(tmp_path, "Match", "label")

    assert results.beside == {("kept", "none"): {}}
    assert "macro" not in render_report(results)
