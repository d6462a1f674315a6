"""Which sets are worth using: gains over no context, memory, and the advice with its reason."""

from __future__ import annotations

import pytest

from ragstone.errors import DatasetError
from ragstone.statistics.dataset_suitability import Worth, worth


def told(none: list[float], gold: list[float] | None, found: list[float] | None = None) -> Worth:
    """Return what the scores of queries 0, 1, ... say."""
    scores = {"none": none, "gold": gold, "retrieved(5)": found}
    held = {
        setting: {str(i): value for i, value in enumerate(values)}
        for setting, values in scores.items()
        if values is not None
    }
    return worth("set", "system", "Match", held)


def test_a_set_on_which_context_helps_is_of_use() -> None:
    """Gains with their intervals, over no context."""
    found = told([0.0] * 80 + [1.0] * 20, [1.0] * 90 + [0.0] * 10, [0.0] * 30 + [1.0] * 70)

    assert found.advice == "use"
    assert found.gold_gain is not None
    assert found.gold_gain.difference == pytest.approx(0.7)
    assert found.retrieval_gain["retrieved(5)"].difference == pytest.approx(0.5)
    assert found.known is not None
    assert found.known.mean == pytest.approx(10 / 90)


def test_a_set_that_the_model_knows_is_used_with_care() -> None:
    """Most of what is right with the gold passage is right without any."""
    found = told([1.0] * 70 + [0.0] * 30, [1.0] * 100)

    assert found.advice == "use with care"
    assert "70% of the queries right with it are right without any context" in found.reason


def test_a_set_on_which_context_does_nothing_is_left_out() -> None:
    """The interval of the gain holds 0 with queries enough; with few it is not decided."""
    half = [1.0, 0.0] * 50

    assert told(half, half).advice == "leave out"
    assert told(half[:20], half[:20]).advice == "undecided"


def test_context_that_does_harm_points_at_the_qrels() -> None:
    """A gain that is below 0 by more than chance."""
    found = told([1.0] * 50, [0.0] * 50)

    assert found.advice == "leave out"
    assert "qrels are wrong" in found.reason


def test_retrieval_that_gains_nothing_is_told() -> None:
    """The gold passage helps, what is retrieved does not: there is something to win."""
    found = told([0.0] * 60, [1.0] * 60, [0.0] * 60)

    assert found.advice == "use"
    assert "better retrievers would help" in found.reason


def test_failed_answers_are_left_out_of_the_pairs() -> None:
    """A score that is not there is neither right nor wrong."""
    scores: dict[str, dict[str, float | None]] = {
        "none": {"1": 0.0, "2": None, "3": 0.0},
        "gold": {"1": 1.0, "2": 1.0, "4": 1.0},
    }

    found = worth("set", "system", "Match", scores)

    assert found.gold_gain is not None
    assert found.gold_gain.n == 1
    assert found.closed_book.failed == 1


def test_without_a_closed_book_there_is_no_gain() -> None:
    """The message names the settings that there are, and what is needed."""
    with pytest.raises(DatasetError, match=r"the settings are gold; a gain needs"):
        worth("set", "system", "Match", {"gold": {"1": 1.0}})


def test_answers_without_context_alone_decide_nothing() -> None:
    """A set without passages is shown with what a model knows of it."""
    found = told([1.0] * 30 + [0.0] * 70, None)

    assert found.advice == "undecided"
    assert found.closed_book.mean == pytest.approx(0.3)
    assert "all answers are without context" in found.reason
