"""Controls of a support judge. `test_mirage.py` stops a judge with them."""

from __future__ import annotations

from ragstone.building.controls import controls
from ragstone.types import Passage, Query

QUERY = Query("q", "Which river?", ("Tagus",))


def test_there_is_one_control_of_each_kind_per_query() -> None:
    """The supporting one states the answer; the foreign one is the first passage without it."""
    others = [[Passage("a", "On the Tagus."), Passage("b", "On the Douro.")]]
    supporting, foreign = controls([QUERY], others)
    assert supporting.supports
    assert supporting.text == "Which river? The answer is: Tagus."
    assert (foreign.supports, foreign.text) == (False, "On the Douro.")


def test_a_passage_with_the_answer_is_no_foreign_control() -> None:
    """Without a passage that lacks the answer, there is only the supporting control."""
    assert len(controls([QUERY], [[Passage("a", "On the Tagus.")]])) == 1
