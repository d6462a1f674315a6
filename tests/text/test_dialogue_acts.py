"""Dialogue acts by rules."""

from __future__ import annotations

import pytest

from ragstone.text.dialogue_acts import dialogue_act


@pytest.mark.parametrize(
    ("text", "act"),
    [
        ("How many teams are in the NFL?", "question"),
        ("do the cardinals play outside the us", "question"),
        ("And what is the price of the larger one", "question"),
        ("Where is it?", "short follow-up"),
        ("Thanks", "short follow-up"),
        ("I would like to learn about pensions.", "statement"),
        ("Tell me more about the history of the town", "statement"),
        ("No, I mean the river of that name.", "clarification"),
        ("I meant the second edition of the book", "clarification"),
        ("Sorry, what do you mean by pooled funds?", "clarification"),
        ("No, that is the wrong year altogether.", "clarification"),
        ("Nobody knows when the bridge was built there.", "statement"),
        ("そこへはどうやって行けばいいですか？ 教えて ください お願い", "statement"),  # noqa: RUF001
        ("Wie komme ich von dort nach Lissabon?", "question"),
    ],
)
def test_acts_of_later_turns(text: str, act: str) -> None:
    """Words and marks decide; a few words are a short follow-up."""
    assert dialogue_act(text, first=False) == act


def test_a_first_turn_follows_nothing_up() -> None:
    """It is a question or a statement."""
    assert dialogue_act("Lisbon?", first=True) == "question"
    assert dialogue_act("Lisbon trams", first=True) == "statement"
    assert dialogue_act("I mean to buy a house next year", first=True) == "statement"
    assert dialogue_act("リスボンはどこですか？", first=True) == "question"  # noqa: RUF001
