"""Ranking metrics against trec_eval's Python binding, on random rankings full of ties."""

from __future__ import annotations

import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.evaluation.score_files import evaluate_run

PAIRS = {
    "nDCG": "ndcg",
    "nDCG@3": "ndcg_cut_3",
    "nDCG@10": "ndcg_cut_10",
    "R@5": "recall_5",
    "P@5": "P_5",
    "P@30": "P_30",
    "MRR": "recip_rank",
    "MAP": "map",
    "MAP@5": "map_cut_5",
    "Rprec": "Rprec",
    "hit@5": "success_5",
    "success@1": "success_1",
    "bpref": "bpref",
    "infAP": "infAP",
}
IDS = st.sampled_from([f"p{i}" for i in range(12)] + ["é", "Z", "a b", "10", "9"])
GRADES = st.dictionaries(IDS, st.integers(-1, 3), min_size=1, max_size=9)
SCORES = st.dictionaries(
    IDS,
    st.one_of(st.integers(-2, 3).map(float), st.floats(-10, 10), st.just(0.1 + 0.2)),
    max_size=14,
)


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from("abcd"), st.tuples(GRADES, SCORES), min_size=1))
def test_every_metric_agrees_on_random_rankings(
    drawn: dict[str, tuple[dict[str, int], dict[str, float]]],
) -> None:
    """Linear gains, ties by id descending, scores in single precision: equal to 1e-12."""
    qrels = {q: grades for q, (grades, _) in drawn.items() if max(grades.values()) > 0}
    run = {q: scores for q, (_, scores) in drawn.items() if scores and q in qrels}
    if not run:
        return
    theirs = pytrec_eval.RelevanceEvaluator(qrels, set(PAIRS.values())).evaluate(run)

    ours = evaluate_run(qrels, run, list(PAIRS)).scores

    for name, trec_name in PAIRS.items():
        for query_id in qrels:
            expected = theirs.get(query_id, {}).get(trec_name, 0.0)
            value = ours[name][query_id]
            assert (value is None) == (query_id not in run)
            assert (value or 0.0) == pytest.approx(expected, abs=1e-12)


def test_a_query_without_the_asked_grade_is_0_in_trec_eval_and_has_no_value_here() -> None:
    """The mean of `-l 2` is ours times the share of queries with a value."""
    qrels, run = {"a": {"x": 1}, "b": {"x": 1, "y": 2}}, {"a": {"x": 1.0}, "b": {"x": 2.0, "y": 1}}
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank"}, relevance_level=2)
    theirs = [found["recip_rank"] for found in evaluator.evaluate(run).values()]

    ours = evaluate_run(qrels, run, ["MRR(rel=2)"])["MRR(rel=2)"]

    assert sorted(theirs) == [0.0, 0.5]
    assert (ours.mean, ours.n, ours.not_applicable) == (0.5, 1, 1)
    assert 0.5 * ours.n / len(qrels) == sum(theirs) / len(theirs)
