"""Baselines without a model: the most frequent answer, and one drawn at random."""

from __future__ import annotations

import pytest

from ragstone.statistics.answer_baselines import answer_baselines


def test_labels_have_a_majority_and_a_chance() -> None:
    """Case and white space do not count; queries without a gold answer are left out."""
    gold = [["yes"]] * 11 + [["No "]] * 6 + [["maybe"]] * 3 + [[]] * 5

    found = answer_baselines(gold)

    assert found is not None
    assert (found.n, found.answers, found.majority_answer) == (20, 3, "yes")
    assert found.majority == 0.55
    assert found.chance == pytest.approx(1 / 3)


def test_each_of_several_gold_answers_is_right() -> None:
    """A query that accepts both options is right by chance in any case."""
    found = answer_baselines([["a", "b"]] * 5 + [["a"]] * 5)

    assert found is not None
    assert (found.majority, found.chance) == (1.0, 0.75)


@pytest.mark.parametrize(
    "gold",
    [
        [[str(i)] for i in range(100)],
        [["yes"]] * 50,
        [["yes"], ["no"]],
        [],
        [[" "]] * 20,
    ],
)
def test_other_answers_have_none(gold: list[list[str]]) -> None:
    """Names and numbers, one answer only, and too few queries to call them labels."""
    assert answer_baselines(gold) is None
