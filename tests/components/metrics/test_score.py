"""Tables of scores: one row per query and metric, with a reason if there is no value."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ragstone.components.metrics import score
from ragstone.components.metrics.parse import parse_metric
from ragstone.components.metrics.rank_arrays import rank_arrays
from ragstone.components.metrics.ranking_batch import rank_judged
from ragstone.components.metrics.score import ceilings, score_answers, score_rankings
from ragstone.core import limits
from ragstone.core.schemas import table_to_scores
from ragstone.errors import ConfigError, DatasetError
from ragstone.types import Context, ContextPassage, Prediction, Query, Ranking, Score

QRELS = {"q1": {"a": 1, "b": 2}, "q2": {"c": 0}, "q3": {"x": 1}}


def test_rows_are_ordered_by_metric_then_by_query() -> None:
    """A judged query without a ranking is failed; one without a relevant passage has no value."""
    table = score_rankings(["R@5", "MRR"], QRELS, {"q1": Ranking(["b", "z"])})

    none = "the qrels contain no relevant passage for this query"
    absent = "the query is not in the run"
    assert table_to_scores(table) == [
        Score("q1", "R@5", 0.5),
        Score("q2", "R@5", None, "not_applicable", none),
        Score("q3", "R@5", None, "failed", absent),
        Score("q1", "MRR", 1.0),
        Score("q2", "MRR", None, "not_applicable", none),
        Score("q3", "MRR", None, "failed", absent),
    ]


@pytest.mark.parametrize(
    "name", ["MRR(rel=2)", "R(rel=2)@5", "P(rel=2)@5", "MAP(rel=2)", "bpref(rel=2)", "RBP(rel=2)"]
)
def test_a_query_without_a_passage_of_the_asked_grade_has_no_value(name: str) -> None:
    """The reason contains the grade; the other queries keep their values."""
    run = {"q1": Ranking(["b"]), "q3": Ranking(["x"])}
    values = {s.query_id: s for s in table_to_scores(score_rankings([name], QRELS, run))}

    assert values["q1"].value
    assert values["q3"].status == "not_applicable"
    assert values["q3"].reason == "the qrels contain no passage of grade 2 or more for this query"


def test_a_ceiling_is_over_the_queries_that_have_the_grade() -> None:
    """Queries without a passage of the grade do not lower the mean of perfect rankings."""
    metrics = [parse_metric("MRR(rel=2)"), parse_metric("P(rel=2)@5"), parse_metric("MRR(rel=3)")]

    assert ceilings(metrics, QRELS, ["q1", "q3"]) == {"P(rel=2)@5": pytest.approx(0.2)}


def test_only_the_given_queries_are_scored() -> None:
    """The given order is kept; a query that is not in the qrels has no value."""
    table = score_rankings(["R@5"], QRELS, {}, ["q3", "new"])

    assert [(s.query_id, s.status) for s in table_to_scores(table)] == [
        ("q3", "failed"),
        ("new", "not_applicable"),
    ]


def test_rankings_without_scores_keep_their_order_and_duplicates_count_once() -> None:
    """Ids without scores keep the given order; the second of two equal ids does not count."""
    found = rank_judged(
        {"q": {"a": 1, "b": 1}}, {"q": Ranking(["a", "a", "b"], [3.0, 2.0, 1.0])}, ["q"]
    )

    assert found.rank.tolist() == [1, 2]
    assert rank_judged({"q": {"a": 1}}, {"q": Ranking(["b", "a"])}, ["q"]).rank.tolist() == [2]


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf])
def test_scores_that_are_not_finite_are_refused(score: float) -> None:
    """The error contains the query and the score."""
    with pytest.raises(DatasetError, match=r"'q3'.*(nan|inf)"):
        score_rankings(["R@5"], QRELS, {"q1": {"a": 1.0}, "q3": {"x": score}})


def test_unequal_lengths_and_duplicate_queries_are_refused() -> None:
    """Ids and scores, queries and predictions must match; a query id is listed once."""
    with pytest.raises(DatasetError, match="2 passage ids and 1 scores"):
        score_rankings(["R@5"], QRELS, {"q1": Ranking(["a", "b"], [1.0])})
    with pytest.raises(DatasetError, match="more than once: 'q1'"):
        score_rankings(["R@5"], QRELS, {}, ["q1", "q1"])
    with pytest.raises(DatasetError, match="1 queries, 0 predictions"):
        score_answers(["EM"], [Query("q", "?")], [])
    with pytest.raises(DatasetError, match="'other' is in the place of query 'q'"):
        score_answers(["EM"], [Query("q", "?")], [Prediction("other", "x")])


def test_a_metric_of_the_other_kind_is_refused() -> None:
    """Ranking metrics score rankings, and answer metrics score answers."""
    with pytest.raises(ConfigError, match="EM scores answers"):
        score_rankings(["EM"], QRELS, {})
    with pytest.raises(ConfigError, match="R@5 scores rankings"):
        score_answers(["R@5"], [], [])


def test_answers_without_a_value_have_a_reason() -> None:
    """Failures keep their reason; missing and blank gold answers have one too."""
    queries = [Query("q1", "?", ("Paris",)), Query("q2", "?"), Query("q3", "?", (" ",))]
    predictions = [Prediction("q1", None, "timed out"), Prediction("q2", "x"), Prediction("q3", "")]

    found = table_to_scores(score_answers(["EM", "refusal"], queries, predictions))

    none = "the query has no gold answer"
    assert [(s.value, s.status, s.reason) for s in found] == [
        (None, "failed", "timed out"),
        (None, "not_applicable", none),
        (None, "not_applicable", none),
        (None, "failed", "timed out"),
        (0.0, "scored", ""),
        (0.0, "scored", ""),
    ]


def test_answerability_needs_its_label() -> None:
    """Another label, or none, is the reason of a query without a value."""
    labels = ["ANSWERABLE", "unanswerable", "partial", "conversational", ""]
    queries = [
        Query(str(n), "?", labels={"answerability": label} if label else {})
        for n, label in enumerate(labels)
    ]
    predictions = [Prediction(one.query_id, "I do not know.") for one in queries]

    found = table_to_scores(score_answers(["answerability"], queries, predictions))

    assert [one.value for one in found] == [0.0, 1.0, 0.0, None, None]
    assert [one.reason for one in found][3:] == [
        "answerability is 'conversational'", "no label answerability"
    ]  # fmt: skip


@pytest.mark.parametrize(
    "metric", ["Match", "EM", "F1", "Precision", "Recall", "ROUGE-1", "ROUGE-2", "ROUGE-L",
               "char3-recall", "Match(variant=mirage)", "EM(variant=squad)", "F1(variant=mirage)",
               "ROUGE-L(variant=bergen)", "char3-recall(variant=bergen)"]
)  # fmt: skip
def test_an_empty_answer_scores_0(metric: str) -> None:
    """An empty answer is scored, and gets 0."""
    found = table_to_scores(
        score_answers([metric], [Query("q", "?", ("Paris",))], [Prediction("q", "")])
    )

    assert [(s.value, s.status) for s in found] == [(0.0, "scored")]


def test_answer_in_context_depends_on_the_passages_shown() -> None:
    """1 if a passage contains the answer, else 0; no value for an unknown context."""
    query = Query("q", "?", ("the Tagus",))
    shown = Context("q", "gold", (ContextPassage("p", "Lisbon lies on the Tagus.", "gold"),))
    contexts = [shown, Context("q", "none"), None]

    values = [
        table_to_scores(score_answers(["answer-in-context"], [query], [Prediction("q", "")], [c]))
        for c in contexts
    ]

    assert [(v[0].value, v[0].status) for v in values] == [
        (1.0, "scored"),
        (0.0, "scored"),
        (None, "not_applicable"),
    ]


def test_a_batch_ends_before_its_limits_are_exceeded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of pairs, and of characters of answers and gold answers; a longer text is alone."""
    monkeypatch.setattr(score, "BATCH", 3)
    monkeypatch.setattr(limits, "SCORED_CHARACTERS", 10)
    sizes = [
        (1, 1),
        (1, 1),
        (1, 1),
        (1, 0),
        (4, 5),
        (0, 1),
        (20, 0),
        (0, 9),
        (1, 0),
        (0, 0),
        (0, 0),
    ]
    queries = [Query("q", "?", ("g" * gold,)) for _, gold in sizes]
    given = [Prediction("q", "a" * size or None, "no" * (not size)) for size, _ in sizes]

    parts = [(part.start, part.stop) for part in score._batches(queries, given)]

    assert parts == [(0, 3), (3, 5), (5, 6), (6, 7), (7, 10), (10, 11)]


def test_a_value_does_not_depend_on_its_batch() -> None:
    """Each of 5,000 answers gets the value that it gets alone."""
    queries = [Query(f"q{i}", "?", (f"word{i % 7}", "other")) for i in range(5000)]
    answers = [Prediction(f"q{i}", f"say word{i % 5} and other things") for i in range(5000)]

    table = score_answers(["F1", "Match"], queries, answers)

    single = table_to_scores(score_answers(["F1", "Match"], queries[4321:4322], answers[4321:4322]))
    values = table.column("value").to_pylist()
    assert [values[4321], values[5000 + 4321]] == [score.value for score in single]


def test_arrays_and_mappings_give_the_same_ranks() -> None:
    """Passage numbers break ties like passage ids if all ids have the same width."""
    generator = np.random.default_rng(0)
    passages = np.array([generator.choice(60, 20, replace=False) for _ in range(50)])
    scores = generator.integers(0, 6, (50, 20)).astype(np.float64)
    judged = np.array([(q, p, generator.integers(-1, 3)) for q in range(50) for p in range(30)]).T
    qrels = {
        str(q): {f"{p:02}": int(g) for r, p, g in judged.T.tolist() if r == q} for q in range(50)
    }
    run = {
        str(q): {f"{p:02}": s for p, s in zip(passages[q], scores[q].tolist(), strict=True)}
        for q in range(50)
    }

    found = rank_arrays(passages, scores, *judged)
    expected = rank_judged(qrels, run, list(qrels))

    assert found.rank.tolist() == expected.rank.tolist()
    assert found.grade.tolist() == expected.grade.tolist()
    assert found.judged_grade.tolist() == expected.judged_grade.tolist()


def test_arrays_of_other_shapes_are_refused() -> None:
    """Passages and scores have a row per query, and one length."""
    none, flat = np.zeros(0, np.int64), np.arange(6)
    for passages, scores in ((flat, flat), (flat.reshape(2, 3), flat.reshape(3, 2))):
        with pytest.raises(DatasetError, match="must have the shape"):
            rank_arrays(passages, scores.astype(float), none, none, none)
