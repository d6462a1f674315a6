"""Measures of several hops, on paths that can be counted by hand."""

from __future__ import annotations

import pytest

from ragstone.statistics.hops import HopPath, hop_measures


def path(
    name: str, gold: str, found: list[str] | None, context: str | None, right: float | None
) -> HopPath:
    """Return the path of a query; each passage is one letter."""
    hops = None if found is None else tuple(map(frozenset, found))
    return HopPath(
        frozenset(gold), hops, None if context is None else frozenset(context), right, name
    )


PATHS = [
    path("q1", "ab", ["ax", "b"], "ab", 1.0),
    path("q2", "ab", ["ab", "ay", "z"], "bz", 0.0),
    path("q3", "c", ["x"], "x", 0.0),
    path("q4", "d", [], "", 1.0),
    path("q5", "", ["x"], "x", None),
    path("q6", "e", None, "", 0.0),
    path("q7", "f", ["f"], None, 1.0),
]
"""Found in two hops; lost after hop 2; never found; no search; no gold; failed; context unknown."""


def test_recall_by_hop_and_over_all_hops() -> None:
    """A hop's recall is over the queries with it, the recall so far over all with gold."""
    found = hop_measures(PATHS, most=20)

    assert [row.queries for row in found.by_hop] == [5, 2, 1]
    assert [row.recall.n for row in found.by_hop] == [4, 2, 1]
    assert [row.recall.mean for row in found.by_hop] == pytest.approx([2.5 / 4, 0.5, 0.0])
    assert [row.recall_so_far.n for row in found.by_hop] == [5, 5, 5]
    assert [row.recall_so_far.mean for row in found.by_hop] == pytest.approx([0.5, 0.6, 0.6])
    assert found.recall.mean == found.by_hop[-1].recall_so_far.mean
    assert found.calls.mean == pytest.approx(8 / 6)
    assert found.calls.n == 6


def test_a_gold_passage_is_in_the_context_or_lost_or_never_found() -> None:
    """The shares sum to 1; the last hop that found a lost passage counts."""
    found = hop_measures(PATHS, most=20)
    shares = (found.in_context, found.lost, found.never_found)

    assert [one.n for one in shares] == [4, 4, 4]
    assert [one.mean for one in shares] == pytest.approx([1.5 / 4, 0.5 / 4, 2 / 4])
    assert [row.lost for row in found.by_hop] == [0, 1, 0]
    assert found.gold_passages == 6


def test_accuracy_by_the_number_of_calls() -> None:
    """With a budget, an answer that took more calls is wrong; so is a failed one."""
    found = hop_measures(PATHS, most=20)

    assert [(row.calls, row.accuracy.mean, row.accuracy.n) for row in found.by_calls] == [
        (0, 1.0, 1),
        (1, 0.5, 2),
        (2, 1.0, 1),
        (3, 0.0, 1),
    ]
    assert [row.within.mean for row in found.by_calls] == pytest.approx([1 / 6, 2 / 6, 0.5, 0.5])
    assert {row.within.n for row in found.by_calls} == {6}


def test_long_paths_have_a_maximum_of_rows() -> None:
    """Later hops and higher numbers of calls have no row, and are counted."""
    found = hop_measures(PATHS, most=2)

    assert [row.hop for row in found.by_hop] == [1, 2]
    assert [row.calls for row in found.by_calls] == [0, 1, 2]
    assert found.beyond == 1
    assert found.recall.mean == pytest.approx(0.6)


def test_no_path_has_no_measures() -> None:
    """Nothing is divided by zero."""
    found = hop_measures([], most=20)

    assert (found.calls.mean, found.recall.mean, found.by_hop, found.by_calls) == (
        None,
        None,
        (),
        (),
    )
