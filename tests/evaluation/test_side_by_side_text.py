"""The tables of judges side by side state what a reader has to know."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ragstone.evaluation.human_grades import read_human_set
from ragstone.evaluation.judge_check import check_stored
from ragstone.evaluation.side_by_side import JudgedColumn, checks_side_by_side, side_by_side
from ragstone.evaluation.side_by_side_text import side_by_side_text
from ragstone.statistics.order_agreement import RatedAnswers


def test_few_systems_and_partial_coverage_are_stated() -> None:
    """Two systems make one pair; with one system there is no order."""
    values = [1.0, 0.0] * 20
    ids = [n // 2 for n in range(40)]
    columns = [JudgedColumn("one", values), JudgedColumn("two", [None, *values[1:]])]

    two = side_by_side_text(side_by_side(columns, RatedAnswers(["a", "b"] * 20, ids, ids)))
    single = side_by_side_text(side_by_side(columns, RatedAnswers(["a"] * 40, ids, ids)))

    assert "2 systems make only 1 pair:" in two
    assert "two: a verdict on 39 of 40 answers." in two
    assert "By query: 19 queries whose answers by different systems one grades differently." in two
    assert "The answers are of one system" in single
    assert "Kendall" not in single


def test_stored_judges_of_mtrag(shared_data: Callable[[str], Path]) -> None:
    """People are the first column; groups, costs and a sentence per use follow."""
    data = read_human_set(str(shared_data("mtrag")), rating="win-rate")
    checks = {name: check_stored(name, data, by=["system"]) for name in ("RL_F", "RB_agg")}

    text = side_by_side_text(checks_side_by_side(checks, data), checks)

    assert "people  RL_F" in text
    assert "RL_F    RB_agg" in text
    assert "no calls" in text
    assert "RB_agg:\n  Unfit to grade single answers: rank correlation with people" in text
    assert "3 systems make only 3 pairs" in text
