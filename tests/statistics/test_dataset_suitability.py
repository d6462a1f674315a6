"""Suitability of data sets: gains over no context, memory, and the advice with its reason."""

from __future__ import annotations

import pytest

from ragstone.errors import DatasetError
from ragstone.statistics.dataset_suitability import Worth, worth


def suitability(
    none: list[float], gold: list[float] | None, found: list[float] | None = None
) -> Worth:
    """Return the suitability by the scores of queries 0, 1, ... per setting."""
    scores = {"none": none, "gold": gold, "retrieved(5)": found}
    held = {
        setting: {str(i): value for i, value in enumerate(values)}
        for setting, values in scores.items()
        if values is not None
    }
    return worth("set", "system", "Match", held)


def test_a_set_with_a_gain_from_context_is_used() -> None:
    """Gains over no context are reported with their intervals."""
    found = suitability([0.0] * 80 + [1.0] * 20, [1.0] * 90 + [0.0] * 10, [0.0] * 30 + [1.0] * 70)

    assert found.advice == "use"
    assert found.gold_gain is not None
    assert found.gold_gain.difference == pytest.approx(0.7)
    assert found.retrieval_gain["retrieved(5)"].difference == pytest.approx(0.5)
    assert found.known is not None
    assert found.known.mean == pytest.approx(10 / 90)


def test_a_set_that_the_model_knows_is_used_with_care() -> None:
    """Most queries that are right with the gold passage are right without context."""
    found = suitability([1.0] * 70 + [0.0] * 30, [1.0] * 100)

    assert found.advice == "use with care"
    assert "70% of the queries right with it are right without any context" in found.reason


def test_a_set_on_which_context_does_nothing_is_left_out() -> None:
    """The interval of the gain contains 0: leave out with many queries, undecided with few."""
    half = [1.0, 0.0] * 50

    assert suitability(half, half).advice == "leave out"
    assert suitability(half[:20], half[:20]).advice == "undecided"


def test_harmful_context_points_to_the_qrels() -> None:
    """A gain significantly below 0 gives the advice to leave the set out."""
    found = suitability([1.0] * 50, [0.0] * 50)

    assert found.advice == "leave out"
    assert "qrels are wrong" in found.reason


def test_retrieval_without_a_gain_is_reported() -> None:
    """The gold passage helps and retrieved passages do not: the reason names retrieval."""
    found = suitability([0.0] * 60, [1.0] * 60, [0.0] * 60)

    assert found.advice == "use"
    assert "better retrievers would help" in found.reason


def test_failed_answers_are_left_out_of_the_pairs() -> None:
    """A missing score is neither right nor wrong."""
    scores: dict[str, dict[str, float | None]] = {
        "none": {"1": 0.0, "2": None, "3": 0.0},
        "gold": {"1": 1.0, "2": 1.0, "4": 1.0},
    }

    found = worth("set", "system", "Match", scores)

    assert found.gold_gain is not None
    assert found.gold_gain.n == 1
    assert found.closed_book.failed == 1


def test_without_a_closed_book_there_is_no_gain() -> None:
    """The message names the available and the required settings."""
    with pytest.raises(DatasetError, match=r"the settings are gold; a gain needs"):
        worth("set", "system", "Match", {"gold": {"1": 1.0}})


def test_answers_without_context_alone_decide_nothing() -> None:
    """A set without passages has a mean without context, but no advice."""
    found = suitability([1.0] * 30 + [0.0] * 70, None)

    assert found.advice == "undecided"
    assert found.closed_book.mean == pytest.approx(0.3)
    assert "all answers are without context" in found.reason


def test_any_setting_may_be_the_oracle_and_queries_may_take_no_part() -> None:
    """Those are counted by reason, if there are scores of them."""
    ids = [str(n) for n in range(60)]
    scores = {"none": dict.fromkeys(ids, 0.0), "gold(1)": dict.fromkeys(ids, 1.0)}

    found = worth("set", "a", "EM", scores, oracle="gold(1)", left_out={"3": "why", "x": "why"})

    assert found.left_out == {"why": 1}
    assert found.gold_gain is not None
    assert (found.closed_book.n, found.gold_gain.n) == (59, 59)
