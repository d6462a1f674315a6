"""Gold answers that contradict each other."""

from __future__ import annotations

from tests.data_quality.test_containment import dataset

from ragstone.data_quality import subject_of
from ragstone.data_quality.contradictions import check_gold_answers, check_same_questions
from ragstone.types import Query


def test_yes_and_no_and_two_numbers_contradict() -> None:
    """Yes and no is a warning; numbers may be a list, so they are a note."""
    queries = [
        Query("q0", "Is it old?", ("Yes", "no")),
        Query("q1", "他来了吗", ("是", "否")),
        Query("q2", "When?", ("May 1912", "May 1921")),
        Query("q3", "When?", ("1912", "in 1912")),
        Query("q4", "How much?", ("20.40 crowns", "20.4 crowns")),
    ]
    found = {f.check: f for f in check_gold_answers(subject_of(dataset([], queries)))}

    assert found["contradictions/yes-and-no"].rows == ("q0", "q1")
    assert found["contradictions/numbers"].rows == ("q2",)
    assert found["contradictions/numbers"].severity == "note"


def test_equal_questions_with_other_answers_contradict() -> None:
    """A name that differs makes another question; an answer within the other one agrees."""
    queries = [
        Query("q0", "Who was the first mayor of the town of Ardmoor?", ("Agnes",)),
        Query("q1", "who was the first mayor of the town of ardmoor", ("Bo",)),
        Query("q2", "Who was the first mayor of the town of Ardmore?", ("Cy",)),
        Query("q3", "Which river crosses the northern plain of Carse?", ("the Wend",)),
        Query("q4", "Which river crosses the northern plain of Carse", ("Wend",)),
    ]
    (found,) = check_same_questions(subject_of(dataset([], queries)))

    assert found.pairs == (("q0", "q1"),)
