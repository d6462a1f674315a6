"""`evaluate_run` and `evaluate_answers`: means, missing and failed queries, metric names."""

from __future__ import annotations

import pytest

from ragstone.errors import ConfigError, DatasetError
from ragstone.evaluation.score_files import evaluate_answers, evaluate_run
from ragstone.statistics.summary import Policy
from ragstone.types import Prediction, Query, Ranking


def test_means_are_found_by_any_spelling() -> None:
    """A metric without scores is an error that lists the available ones."""
    found = evaluate_run({"q": {"a": 1}}, {"q": Ranking(["a"])}, ["nDCG@10"])

    assert found["ndcg@10"].mean == 1.0
    with pytest.raises(ConfigError, match=r"nDCG@10"):
        found["MAP"]


def test_turns_of_a_conversation_are_one_cluster() -> None:
    """Two conversations of two turns are two clusters; four single queries spread less."""
    qrels = {f"c{c}::{t}": {"a": 1} for c in (1, 2) for t in (1, 2)}
    run = {"c1::1": {"a": 1.0}, "c1::2": {"a": 1.0}}

    clustered = evaluate_run(qrels, run, ["R@5"])["R@5"].interval
    single = evaluate_run(qrels, run, ["R@5"], clusters={q: q for q in qrels})["R@5"].interval

    assert clustered == pytest.approx((0.0, 1.0), abs=1e-12)
    assert single is not None
    assert single[1] - single[0] <= 1.0


def test_nothing_to_score_against_is_an_error() -> None:
    """No relevant passage and no query are errors."""
    with pytest.raises(DatasetError, match="relevant passage"):
        evaluate_run({"q": {"a": 0}}, {}, ["R@5"])
    with pytest.raises(DatasetError, match="no query"):
        evaluate_answers({}, {}, ["EM"])


@pytest.mark.parametrize(
    ("failures", "mean", "n"), [("wrong", 1 / 3, 3), ("exclude", 1.0, 1), ("bounds", 1 / 3, 3)]
)
def test_what_a_missing_answer_and_a_failure_count(failures: Policy, mean: float, n: int) -> None:
    """Both are failed: they count as wrong, are left out, or give a worst and a best case."""
    answers = {"q1": "x", "q2": None, "other": "y"}
    gold = {"q1": ["x"], "q2": ["x"], "q3": ["x"]}

    found = evaluate_answers(answers, gold, ["EM"], failures=failures)

    assert (found["EM"].mean, found["EM"].n) == (mean, n)
    assert (found["EM"].missing, found["EM"].failed, found["EM"].policy) == (1, 2, failures)
    assert (found["EM"].mean_of_answered, found["EM"].mean_of_all) == (1.0, 1 / 3)
    assert found["EM"].worst_and_best == ((1 / 3, 1.0) if failures == "bounds" else None)
    assert (found.missing, found.extra) == (("q3",), ("other",))


def test_a_metric_without_a_worst_value_leaves_failures_out_and_says_so() -> None:
    """A refusal is neither right nor wrong, so a failure cannot count as wrong."""
    found = evaluate_answers({"q1": "x", "q2": None}, {"q1": ["x"], "q2": ["x"]}, ["refusal"])
    one = found["refusal"]

    assert (one.policy, one.n, one.failed) == ("exclude", 1, 1)
    assert "refusal: no worst value, so failed queries are left out" in str(found)


def test_the_text_and_language_of_queries_are_used() -> None:
    """The label `language` selects the articles; the query text detects echoes."""
    query = Query("q", "Is it red or blue?", ("a casa",), labels={"language": "pt"})

    found = evaluate_answers([Prediction("q", "casa")], [query], ["EM"])
    echo = evaluate_answers({"q": query.text}, [Query("q", query.text, ("red",))], ["Match"])

    assert found["EM"].mean == 0.0
    assert echo["Match"].mean == 0.0


def test_duplicates_and_texts_in_place_of_lists_are_refused() -> None:
    """Two predictions for one query and a text in place of gold answers are errors."""
    with pytest.raises(DatasetError, match="listed more than once: 'q'"):
        evaluate_answers([Prediction("q", "a"), Prediction("q", "b")], {"q": ["a"]}, ["EM"])
    with pytest.raises(DatasetError, match="give a list"):
        evaluate_answers({"q": "a"}, {"q": "a"}, ["EM"])
