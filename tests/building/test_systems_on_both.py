"""The same systems on two data sets."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.conftest import SharedData
from tests.results.board.made_board import made_board

from ragstone.building.systems_on_both import (
    MetricPlace,
    SystemScores,
    experiment_scores,
    inspected_scores,
    systems_on_both,
)
from ragstone.data.readers.inspector_raget import read_inspection
from ragstone.errors import ConfigError
from ragstone.results.joined import JoinedResults

EM = MetricPlace("EM", "gold")


def scores(name: str, **systems: list[float | None]) -> SystemScores:
    """Return systems with one value per query, None where it has none; two queries a cluster."""
    values = {
        system: {f"{name}{n}": value for n, value in enumerate(given) if value is not None}
        for system, given in systems.items()
    }
    clusters = {f"{name}{n}": n // 2 for n in range(99)}
    return SystemScores(name, {EM: values}, {EM: (0.0, 1.0)}, clusters)


def test_means_and_order_by_hand() -> None:
    """Means over the queries that every shared system has; one of three pairs is swapped."""
    a = scores("a", x=[1, 1, 1, 1, None] * 4, y=[1, 0, 1, 0, 0] * 4, z=[0.0] * 20, only=[1.0] * 20)
    b = scores("b", x=[1.0, 0.0] * 10, y=[1.0] * 20, z=[0.0] * 20)
    (found,) = systems_on_both(a, b)
    assert [(s.system, s.a.mean, s.a.n, s.b.mean, s.difference) for s in found.systems] == [
        ("x", 1.0, 16, 0.5, -0.5),
        ("y", 0.5, 16, 1.0, 0.5),
        ("z", 0.0, 16, 0.0, 0.0),
    ]
    assert found.agreement
    assert found.agreement.tau == pytest.approx(1 / 3)
    assert (found.agreement.swapped, found.agreement.systems) == (1, 3)
    assert found.agreement.tau_interval == pytest.approx((1 / 3, 1 / 3))


def test_a_board_agrees_with_itself() -> None:
    """Tau is 1; its interval shows that the order could be chance."""
    drawn = np.random.default_rng(0).random((2, 24)).tolist()
    a = scores("a", x=drawn[0], y=drawn[1])
    (found,) = systems_on_both(a, a)
    assert found.agreement
    assert found.agreement.tau == 1.0
    assert found.agreement.tau_interval == (-1.0, 1.0)
    assert {one.difference for one in found.systems} == {0.0}


def test_one_shared_system_has_no_order() -> None:
    """Means, but no agreement; none at all is an error that names the systems."""
    (found,) = systems_on_both(scores("a", x=[1.0, 0.0]), scores("b", x=[0.0], y=[1.0]))
    assert found.agreement is None
    assert found.systems[0].difference == -0.5
    with pytest.raises(ConfigError, match=r"a has x; b has y.*same names in both"):
        systems_on_both(scores("a", x=[1.0]), scores("b", y=[1.0]))


def test_queries_without_a_common_value_leave_no_mean() -> None:
    """Two systems that never answered the same query have no order."""
    apart = scores("a", x=[1.0, None], y=[None, 1.0])
    (found,) = systems_on_both(apart, scores("b", x=[1.0], y=[0.0]))
    assert [one.a.mean for one in found.systems] == [None, None]
    assert found.agreement is None


def test_experiments_that_have_run(tmp_path: Path) -> None:
    """Answers and rankings by metric and setting; a failed answer counts as wrong."""
    joined, _ = made_board(tmp_path)
    sides = [experiment_scores(JoinedResults.of([one.results])) for one in joined.experiments]
    found = {(one.metric, one.setting): one for one in systems_on_both(sides[0], sides[1])}
    assert {s.system for s in found["Match", "gold"].systems} == {"bm25", "dense"}
    assert found["Match", "gold"].systems[0].a.mean == pytest.approx(59 / 60)
    assert found["nDCG@10", "retrieval"].agreement
    with pytest.raises(ConfigError, match=r"several experiments, on jp, nq.*e.yaml#DATA"):
        experiment_scores(joined)


def test_table_14_of_mtrag(shared_data: SharedData) -> None:
    """The released scores have two systems in common; the synthetic mean is as published."""
    folder = shared_data("mtrag")
    people = "human_evaluations/reference_subset_with_human_evaluations.json.gz"
    sides = [
        inspected_scores(read_inspection(folder / one))
        for one in (people, "synthetic/evaluations.json.gz")
    ]
    found = {one.metric: one for one in systems_on_both(sides[0], sides[1])}
    faithful = {one.system: one for one in found["rl_f"].systems}
    assert list(faithful) == ["reference", "llama-3.1-405b-instruct"]
    llama = faithful["llama-3.1-405b-instruct"]
    assert (llama.a.n, llama.b.n, f"{llama.b.mean:.2f}") == (159, 1181, "0.85")
    # The model is more faithful on synthetic conversations than on those of people.
    assert llama.interval
    assert llama.interval[0] > 0
    assert found["rl_f"].agreement
    assert found["rl_f"].agreement.tau == -1.0
