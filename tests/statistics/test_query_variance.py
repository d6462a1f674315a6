"""Components of variance by query: known ones are recovered, repeats are told apart."""

from __future__ import annotations

import numpy as np
import pytest
from tests.fakes.crossed_scores import MadeScores

from ragstone.statistics.crossed_design import crossed_design
from ragstone.statistics.effect_terms import terms_of
from ragstone.statistics.query_variance import QueryVariance

MODEL = MadeScores(
    {"retriever": 3, "prompt": 2},
    by_factor={"retriever": 0.15, "prompt": 0.1},
    repeat=0.1,
    repeats=3,
)


def test_the_form_of_a_factor_leaves_the_mean_out() -> None:
    """It has a dimension less than levels, orthogonal to the mean over the cells."""
    design = MODEL.design(np.random.default_rng(1), 20)

    mean, retriever, prompt = QueryVariance.of(design, terms_of(design)).bases

    assert (mean.shape, retriever.shape, prompt.shape) == ((6, 1), (6, 2), (6, 1))
    for base in (retriever, prompt):
        assert base.T @ mean == pytest.approx(0.0, abs=1e-12)
        assert base.T @ base == pytest.approx(np.eye(base.shape[1]))


def test_known_components_are_recovered() -> None:
    """4,000 queries of two data sets: within a few percent."""
    made = MadeScores(MODEL.levels, by_factor=MODEL.by_factor, repeat=0.1, repeats=3, data=2)
    design = made.design(np.random.default_rng(1), 4_000)

    found = QueryVariance.of(design, terms_of(design)).components(design)

    assert found.of("query") == pytest.approx(0.09, rel=0.08)
    assert found.of("query", "retriever") == pytest.approx(0.0225, rel=0.08)
    assert found.of("query", "prompt") == pytest.approx(0.01, rel=0.15)
    assert found.of("residual") == pytest.approx(0.04, rel=0.05)
    assert found.of("repeat") == pytest.approx(0.01, rel=0.05)
    assert found.of("query", "data") == 0.0


def test_they_are_recovered_if_combinations_have_no_cell() -> None:
    """The expectations are those of the cells that exist."""
    rows = MODEL.rows(np.random.default_rng(2), 4_000)
    kept = [
        place
        for place, levels in enumerate(zip(rows["retriever"], rows["prompt"], strict=True))
        if levels != ("retriever 2", "prompt 1")
    ]
    design = crossed_design(
        np.asarray(rows["value"])[kept],
        [str(rows["query"][place]) for place in kept],
        {name: [str(rows[name][place]) for place in kept] for name in MODEL.levels},
    )

    found = QueryVariance.of(design, terms_of(design)).components(design)

    assert not design.complete
    assert found.of("query") == pytest.approx(0.09, rel=0.1)
    assert found.of("query", "retriever") == pytest.approx(0.0225, rel=0.12)
    assert found.of("residual") == pytest.approx(0.04, rel=0.08)


def test_one_factor_leaves_query_and_residual() -> None:
    """Query x factor cannot be told from the residual; one cell leaves the query alone."""
    design = MadeScores({"retriever": 2}).design(np.random.default_rng(0), 50)
    single = crossed_design([0.0, 1.0], ["a", "b"], {"retriever": ["x", "x"]})

    assert [
        names for names, _ in QueryVariance.of(design, terms_of(design)).components(design).named
    ] == [
        ("query",),
        ("residual",),
    ]
    found = QueryVariance.of(single, terms_of(single)).components(single)
    assert found.named == ((("query",), 0.5),)
