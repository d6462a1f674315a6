"""Metrics for rankings of which few passages are judged, and those of models of a reader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support import ranking_value

from ragstone.components.metrics.parse import parse_metric
from ragstone.errors import ConfigError
from ragstone.evaluation.score_files import evaluate_run
from ragstone.types import Ranking

IDS = [f"p{i}" for i in range(12)]
RANKINGS = st.lists(st.sampled_from(IDS), unique=True, max_size=12)
QRELS = st.dictionaries(st.sampled_from(IDS), st.integers(-1, 3), min_size=1)


def rbp(ids: Sequence[str], qrels: Mapping[str, int], p: float) -> tuple[float, float]:
    """Return RBP and its residual by walking down the ranking."""
    weight, gained, judged = 1 - p, 0.0, 0.0
    for passage_id in ids:
        gained += weight * (qrels.get(passage_id, 0) >= 1)
        judged += weight * (passage_id in qrels)
        weight *= p
    return gained, 1 - judged


def err(ids: Sequence[str], qrels: Mapping[str, int], top: int) -> float:
    """Return ERR by walking down the ranking."""
    value, going = 0.0, 1.0
    for rank, passage_id in enumerate(ids, 1):
        stop = (2 ** max(qrels.get(passage_id, 0), 0) - 1) / 2**top
        value += going * stop / rank
        going *= 1 - stop
    return value


@settings(deadline=None)
@given(RANKINGS, QRELS)
def test_rbp_and_err_equal_a_walk_down_the_ranking(ids: list[str], qrels: dict[str, int]) -> None:
    """Two queries at once, so that one cannot count in the other."""
    run, both = {"a": Ranking(IDS), "b": Ranking(ids)}, {"a": {"p1": 2, "p3": 1}, "b": qrels}
    names = ["RBP", "RBP-residual", "ERR(top=3)", "RBP(p=0.5)@3", "nDCG(condensed=true)@3"]

    found = evaluate_run(both, run, names).scores

    if max(qrels.values()) < 1:
        return
    assert found["RBP"]["b"] == pytest.approx(rbp(ids, qrels, 0.8)[0])
    assert found["RBP-residual"]["b"] == pytest.approx(rbp(ids, qrels, 0.8)[1])
    assert found["ERR(top=3)"]["b"] == pytest.approx(err(ids, qrels, 3))
    assert found["RBP(p=0.5)@3"]["b"] == pytest.approx(rbp(ids[:3], qrels, 0.5)[0])
    judged = [passage_id for passage_id in ids if passage_id in qrels]
    assert found["nDCG(condensed=true)@3"]["b"] == pytest.approx(
        ranking_value("nDCG@3", judged, qrels)
    )


def test_the_worked_example_of_the_reciprocal_rank() -> None:
    """Grades 3, 2, 4 of a scale to 4: 7/16 + 9/16 x 3/16 / 2 + 9/16 x 13/16 x 15/16 / 3."""
    expected = 7 / 16 + 9 / 16 * 3 / 16 / 2 + 9 / 16 * 13 / 16 * 15 / 16 / 3

    found = ranking_value("ERR(top=4)@3", ["a", "b", "c"], {"a": 3, "b": 2, "c": 4})

    assert found == pytest.approx(expected)
    assert ranking_value("ERR@3", ["a", "b", "c"], {"a": 3, "b": 2, "c": 4}) == found
    assert ranking_value("ERR@3", ["a", "b", "c"], {"b": 1}) == 1 / 2 / 2


def test_binary_gains_ignore_the_grade() -> None:
    """A grade of 3 gains as much as one of 1; grades of 0 gain nothing."""
    qrels = {"a": 0, "b": 3, "c": 1}

    assert ranking_value("nDCG(gains=binary)@10", ["c", "b"], qrels) == 1.0
    assert ranking_value("nDCG(gains=binary)@10", ["a", "b", "c"], qrels) == pytest.approx(
        (1 / 1.5849625 + 1 / 2) / (1 + 1 / 1.5849625)
    )


def test_names_and_bad_options() -> None:
    """The names are canonical; p outside 0 to 1 and a cutoff of bpref are refused."""
    for name in ("RBP", "RBP(p=0.5)", "bpref", "infAP", "ERR@20", "nDCG(gains=binary)@10"):
        assert str(parse_metric(name)) == name
    assert str(parse_metric("RBP(p=0.8)")) == "RBP"
    assert str(parse_metric("bpref(condensed=true)")) == "bpref(condensed=true)"
    for name in ("RBP(p=1)", "bpref@5"):
        with pytest.raises(ConfigError):
            parse_metric(name)
