"""The edit score: its definition, and mtRAG's figure."""

from __future__ import annotations

import pytest
from tests.conftest import SharedData

from ragstone.annotation.edit_score import (
    changed_words,
    edit_score,
    edit_scores,
    mean_edit_score,
)
from ragstone.data.readers.mtrag_files import document_rows
from ragstone.web import limits

FILE = "conversations/mtrag_human_conversations.jsonl.gz"


@pytest.mark.parametrize(
    ("original", "final", "score"),
    [
        ("It sails at six.", "It sails at six.", 0),
        ("It sails at six.", "it sails at six", 0),
        ("It sails at six.", "It sails at noon.", 25),
        ("one two", "one two three four", 100 / 3),
        ("6月9日", "6月9日", 0),
        ("🙂", "🙂", 0),
        ("🙂", "🙁", 100),
        ("", "", 0),
        ("", "At six.", 100),
        ("At six.", "", 100),
    ],
)
def test_it_is_a_hundred_times_what_rouge_l_lacks(original: str, final: str, score: float) -> None:
    """0 is an answer as it came, 100 one without a common word."""
    assert edit_score(original, final) == pytest.approx(score)
    assert edit_score(final, original) == pytest.approx(score)


def test_nothing_has_no_scores() -> None:
    """An empty list."""
    assert edit_scores([]) == []


def test_the_edited_answers_of_mtrag_have_the_published_score(shared_data: SharedData) -> None:
    """The paper has 60.7; the released rows have the agent's text as `original_text`."""
    pairs, conversations = [], []
    for place, row in document_rows(shared_data("mtrag") / FILE):
        for message in row["messages"]:
            if "original_text" in message:
                pairs.append((message["original_text"], message["text"]))
                conversations.append(place)

    found = mean_edit_score(edit_scores(pairs), conversations)

    assert found.n == 797
    assert found.mean == pytest.approx(60.7, abs=0.05)
    assert found.interval == pytest.approx((57.7, 63.6), abs=0.05)


def test_signs_alone_between_two_changes_are_no_common_part() -> None:
    """Words count; a text that is too long is compared as a whole."""
    assert changed_words("a. b. c", "x. y. c") == [
        ("del", "a. b"),
        ("ins", "x. y"),
        ("span", ". c"),
    ]
    assert changed_words("", "") == []
    dots, more = ". " * 320, "! . " * 320
    assert limits.DIFF_PAIRS < 320**2
    assert changed_words(dots, more) == [("del", dots), ("ins", more)]
    assert changed_words(dots, dots) == [("span", dots)]
    long = "word " * (limits.DIFF_WORDS + 1)
    assert changed_words(long, "short") == [("del", long), ("ins", "short")]
