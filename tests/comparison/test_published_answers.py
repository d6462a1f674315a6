"""Published and measured figures of answer metrics: SQuAD's systems and MIRAGE's gold answers."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from ragstone.evaluation.score_files import evaluate_answers
from ragstone.types import Query

SharedData: TypeAlias = Callable[[str], Path]
SQUAD = {
    "bert_ensemble": (74.87, 86.32),
    "slqa_plus": (72.18, 82.85),
    "match_lstm": (61.09, 72.67),
    "logistic_regression": (34.54, 45.85),
}
CORRECTED = {
    "bert_ensemble": (74.96, 86.44),
    "slqa_plus": (72.18, 82.96),
    "match_lstm": (61.18, 72.95),
    "logistic_regression": (34.54, 46.22),
}


def xquad(folder: Path) -> dict[str, list[str]]:
    """Return question id -> gold answers."""
    with gzip.open(folder / "xquad.en.json.gz", "rt", encoding="utf-8") as file:
        held = json.load(file)
    return {
        question["id"]: [answer["text"] for answer in question["answers"]]
        for article in held["data"]
        for paragraph in article["paragraphs"]
        for question in paragraph["qas"]
    }


def mirage(folder: Path) -> list[Query]:
    """Return MIRAGE's queries."""
    with gzip.open(folder / "dataset.json.gz", "rt", encoding="utf-8") as file:
        rows: list[dict[str, Any]] = json.load(file)
    return [Query(row["query_id"], row["query"], tuple(row["answer"])) for row in rows]


@pytest.mark.parametrize("system", SQUAD)
@pytest.mark.parametrize(
    ("names", "figures"),
    [(("EM(variant=squad)", "F1(variant=squad)"), SQUAD), (("EM", "F1"), CORRECTED)],
    ids=["squad", "corrected"],
)
def test_systems_on_squad(
    shared_data: SharedData,
    system: str,
    names: tuple[str, str],
    figures: dict[str, tuple[float, float]],
) -> None:
    """SQuAD's form gives the known figures; the default differs by quotes, dashes, numbers."""
    answers = json.loads((shared_data("squad_predictions") / f"{system}.json").read_text())

    found = evaluate_answers(answers, xquad(shared_data("xquad")), names)

    assert [round(100 * (found[n].mean or 0.0), 2) for n in names] == list(figures[system])
    assert (found[names[0]].n, found[names[0]].missing) == (1190, 1190 - len(answers))


def test_a_gold_answer_scores_below_1_in_mirages_f1_only(shared_data: SharedData) -> None:
    """The first gold answer itself: 0.859 by the released scorer, 1 by every corrected metric."""
    queries = mirage(shared_data("mirage"))
    answers = {query.query_id: query.gold_answers[0] for query in queries}
    names = ["F1(variant=mirage)", "F1", "EM", "Match", "Precision", "Recall", "ROUGE-L"]

    found = evaluate_answers(answers, queries, names)

    assert found["F1(variant=paper)"].mean == pytest.approx(0.859, abs=5e-4)
    assert [found[name].mean for name in names[1:]] == [1.0] * 6


def test_a_full_stop_undoes_mirages_strict_match(shared_data: SharedData) -> None:
    """Gold answer and full stop: 0.001 as released, 1 corrected."""
    queries = mirage(shared_data("mirage"))
    answers = {query.query_id: query.gold_answers[0] + "." for query in queries}

    found = evaluate_answers(answers, queries, ["EM(variant=mirage)", "EM"])

    assert found["EM(variant=mirage)"].mean == pytest.approx(0.001, abs=5e-4)
    assert found["EM"].mean == 1.0


@pytest.mark.parametrize("metric", ["Match(variant=mirage)", "Match"])
def test_an_echo_of_the_question_scores_as_released_only(
    shared_data: SharedData, metric: str
) -> None:
    """Five questions hold their own gold answer; repeating them earns nothing by default."""
    queries = mirage(shared_data("mirage"))

    found = evaluate_answers({q.query_id: q.text for q in queries}, queries, [metric])

    correct = sum(value == 1.0 for value in found.scores[metric].values())
    assert correct == (0 if metric == "Match" else 5)


def test_a_refusal_scores_as_released_only(shared_data: SharedData) -> None:
    """There is "red" in "shared" and "de" in "provided": six questions are "answered"."""
    refusal = "I cannot answer this question from the provided context; none is shared."
    queries = mirage(shared_data("mirage"))
    names = ["Match(variant=mirage)", "Match"]

    found = evaluate_answers({q.query_id: refusal for q in queries}, queries, names)

    assert [sum(v == 1.0 for v in found.scores[name].values()) for name in names] == [6, 0]


def test_the_values_that_numbers_changed_are_those_of_the_page(shared_data: SharedData) -> None:
    """The column *now* of SQuAD's systems in docs/metrics.md."""
    page = Path(__file__).parents[2] / "docs" / "metrics.md"
    _, _, table = page.read_text(encoding="utf-8").partition("| metric | SQuAD's systems, before")
    rows = [line.strip("| ").split(" | ") for line in table.split("\n\n")[0].splitlines()[2:]]
    gold = xquad(shared_data("xquad"))
    folder = shared_data("squad_predictions")
    said = [json.loads((folder / f"{system}.json").read_text()) for system in SQUAD]

    found = [evaluate_answers(answers, gold, [row[0] for row in rows]) for answers in said]

    for name, _, now, *_ in rows:
        assert now == ", ".join(f"{100 * (one[name].mean or 0.0):.2f}" for one in found)
