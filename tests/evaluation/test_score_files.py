"""`evaluate_run` and `evaluate_answers`: means, missing and failed queries, metric names."""

from __future__ import annotations

import pytest

from ragstone.errors import ConfigError, DatasetError
from ragstone.evaluation.score_files import evaluate_answers, evaluate_run
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


def test_missing_answers_count_0_and_failures_do_not_count() -> None:
    """A missing answer counts as 0 within n; None is a failure, outside n."""
    found = evaluate_answers(
        {"q1": "x", "q2": None, "other": "y"}, {"q1": ["x"], "q2": ["x"], "q3": ["x"]}, ["EM"]
    )

    assert (found["EM"].mean, found["EM"].n) == (0.5, 2)
    assert (found["EM"].missing, found["EM"].failed) == (1, 1)
    assert (found.missing, found.extra) == (("q3",), ("other",))


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
