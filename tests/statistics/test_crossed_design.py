"""Crossed designs: complete queries, common cells, repeats, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from ragstone.core import limits
from ragstone.errors import ConfigError, DatasetError
from ragstone.statistics.crossed_design import crossed_design

SCORES = [1.0, 0.0, 0.5, 1.0]
QUERIES = ["a", "a", "b", "b"]
RETRIEVERS = ["x", "y", "x", "y"]


def test_a_query_is_a_row_of_cells() -> None:
    """Constant factors have no column."""
    factors = {"prompt": ["p"] * 4, "retriever": RETRIEVERS, "reranker": ["-"] * 4}
    made = crossed_design(SCORES, QUERIES, factors)

    assert made.strata[0].scores.tolist() == [[1.0, 0.0], [0.5, 1.0]]
    assert [factor.levels for factor in made.factors] == [("x", "y")]
    assert made.constant == {"prompt": "p", "reranker": "-"}
    assert (made.n, made.left_out, made.repeats, made.repeat_variance) == (2, 0, 1.0, None)


def test_incomplete_queries_are_left_out_and_counted_or_kept() -> None:
    """A query without a score in some cell has no pair; REML keeps it, with NaN."""
    values = [1.0, None, 0.5, 1.0]

    made = crossed_design(values, QUERIES, {"retriever": RETRIEVERS})
    kept = crossed_design(values, QUERIES, {"retriever": RETRIEVERS}, incomplete=True)

    assert (made.n, made.left_out) == (1, 1)
    assert (kept.n, kept.left_out) == (2, 0)
    assert np.isnan(kept.strata[0].scores).sum() == 1


def test_repeats_are_averaged_and_their_variance_is_kept() -> None:
    """The variance within query and cell is pooled over all of them."""
    made = crossed_design([0.0, 1.0, 1.0, 1.0], ["a"] * 2 + ["b"] * 2, {"r": ["x"] * 4})

    assert made.strata[0].scores.tolist() == [[0.5], [1.0]]
    assert made.repeats == 2.0
    assert made.repeat_variance == pytest.approx(0.25)


def test_equal_ids_of_two_data_sets_are_two_queries() -> None:
    """Cells that a data set does not have are left out and counted."""
    made = crossed_design(
        [1.0, 2.0, 3.0],
        ["q", "q", "q"],
        {"retriever": ["x", "y", "x"]},
        data=["nq", "nq", "jp"],
    )

    assert [stratum.scores.tolist() for stratum in made.strata] == [[[1.0]], [[3.0]]]
    assert made.cells_left_out == 1
    assert made.constant == {"retriever": "x"}


def test_clusters_are_those_of_the_queries() -> None:
    """Each row has the cluster of its query."""
    made = crossed_design(SCORES, QUERIES, {"r": RETRIEVERS}, clusters=["c"] * 4)

    assert made.clusters == (1,)


def test_factors_are_merged_into_one() -> None:
    """The levels of the new factor are the combinations that have a cell."""
    made = crossed_design(
        [0.0, 1.0, 2.0],
        ["q"] * 3,
        {"retriever": ["x", "y", "y"], "reranker": ["-", "-", "r"], "prompt": ["p", "p", "s"]},
    ).merged(["prompt"], "system")

    assert {factor.name: factor.levels for factor in made.factors} == {
        "system": ("x · -", "y · -", "y · r"),
        "prompt": ("p", "s"),
    }
    assert made.cells.tolist() == [[0, 0], [1, 0], [2, 1]]


def test_what_cannot_be_crossed_is_refused() -> None:
    """Every message has the way out."""
    with pytest.raises(DatasetError, match="one entry per score"):
        crossed_design([1.0], ["a", "b"], {})
    with pytest.raises(DatasetError, match="no row has a score"):
        crossed_design([None], ["a"], {})
    with pytest.raises(DatasetError, match=r"no query of the data set nq .* the method reml"):
        crossed_design([1.0, 2.0], ["a", "b"], {"r": ["x", "y"]}, data=["nq", "nq"])
    with pytest.raises(DatasetError, match="measured on all 2 data sets"):
        crossed_design([1.0, 2.0], ["a", "b"], {"r": ["x", "y"]}, data=["nq", "jp"])
    with pytest.raises(DatasetError, match="place 0 is nan"):
        crossed_design([float("nan")], ["a"], {})


def test_too_many_combinations_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message has the number, and what makes it smaller."""
    monkeypatch.setattr(limits, "MAX_EFFECT_CELLS", 1)

    with pytest.raises(ConfigError, match="2 combinations of levels, more than 1; choose fewer"):
        crossed_design(SCORES, QUERIES, {"retriever": RETRIEVERS})
