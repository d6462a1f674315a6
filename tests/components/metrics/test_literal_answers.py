"""Gold answers that should occur literally in a gold passage."""

from __future__ import annotations

from ragstone.components.metrics.literal_answers import is_absent_span, literal_answers
from ragstone.types import Query


def test_answers_that_need_not_occur_are_left_out() -> None:
    """A yes or no occurs anywhere, and the answers of a summary are in other words."""
    assert literal_answers(Query("q", "Who?", ("Ann", "Yes.", " "))) == ["Ann"]
    assert not literal_answers(Query("q", "Why?", ("Ann",), labels={"taxonomy": "summary"}))


def test_only_a_short_answer_is_missed() -> None:
    """A long answer is in other words in its passage; a short one is absent if none occurs."""
    assert not is_absent_span(["word " * 11], ["Another text."])
    assert is_absent_span(["word " * 10], ["Another text."])
    assert is_absent_span(["1912", "word " * 11], ["Another text."])
    assert not is_absent_span(["1912", "1921"], ["It opened in 1921.", "Another text."])
