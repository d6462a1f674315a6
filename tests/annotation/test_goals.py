"""Goals of a conversation: where its writer stands, and what a turn lacks."""

from __future__ import annotations

from dataclasses import replace

from ragstone.annotation.conversation import Marks, WrittenConversation, WrittenTurn
from ragstone.annotation.goals import GoalStand, goal_stands, problems, turn_lacks
from ragstone.annotation.project import Goal, Goals
from ragstone.annotation.tasks import own_scheme
from ragstone.types import Passage

GOALS = Goals(
    Goal(2, 3), Goal(1, 1), 0.3, ("factoid", "how-to"), Goal(least=2)
)  # turns, unanswerable, share, types, relevant passages
PASSAGES = (Passage("p1", "One."), Passage("p2", "Two."))


def turn(number: int, answerability: str = "answerable", **marks: str) -> WrittenTurn:
    """Return a complete turn with two passages."""
    labels = {
        "answerability": answerability,
        "question_type": ["factoid"],
        "multi_turn": "follow-up",
    }
    given = Marks(labels=labels, relevance={"p1": "yes", "p2": "no", **marks})
    return WrittenTurn(number, "Who?", "a", "Me.", passages=PASSAGES, seen=2, latest=given)


def stands(*turns: WrittenTurn) -> dict[str, GoalStand]:
    """Return name -> goal."""
    state = WrittenConversation("c", turns=turns)
    return {one.name: one for one in goal_stands(GOALS, state, (8, 2))}


def test_each_goal_states_what_is_needed_or_allowed() -> None:
    """An empty conversation needs everything; too many of something is said too."""
    empty = stands()
    assert [one.note for one in empty.values()] == [
        "2 more needed",
        "1 more needed",
        "wanted of all conversations: 30 %",
        "not yet: factoid, how-to",
        "2 more needed",
    ]
    full = stands(turn(1, "unanswerable"), turn(2, "unanswerable", p2="yes"))
    assert full["turns"].note == "2 to 3 allowed"
    assert full["unanswerable"].lacks == "1 unanswerable turn too many."
    assert full["relevant_passages"].count == 2
    assert full["relevant_passages"].note == "at least 2 needed"
    assert full["question_types"].lacks == "No turn has the question type how-to."
    assert (full["unanswerable_share"].count, full["unanswerable_share"].lacks) == (25, "")


def test_only_goals_with_bounds_are_shown() -> None:
    """The turns always are."""
    found = goal_stands(Goals(), WrittenConversation("c"))
    assert [(one.name, one.note) for one in found] == [("turns", "6 more needed")]


def test_a_turn_needs_an_answer_marks_and_labels() -> None:
    """The first turn has no multi-turn type; optional labels are not needed."""
    assert turn_lacks(own_scheme("conversation"), turn(2)) == []
    assert turn_lacks(own_scheme("conversation"), WrittenTurn(1, "Who?", passages=PASSAGES)) == [
        "an answer"
    ]
    bare = WrittenTurn(1, "Who?", answer="Me.", passages=PASSAGES)
    assert turn_lacks(own_scheme("conversation"), bare) == [
        "marks of 2 passages",
        "answerability",
        "question type",
    ]
    unlabelled = replace(
        turn(2), latest=Marks(relevance={"p1": "yes"}, labels={"question_type": []})
    )
    assert turn_lacks(own_scheme("conversation"), unlabelled) == [
        "marks of 1 passage",
        "answerability",
        "question type",
        "multi turn",
    ]


def test_problems_name_goals_then_turns() -> None:
    """A conversation without problems can be sent."""
    state = WrittenConversation("c", turns=(turn(1), WrittenTurn(2, "And?")))
    found = list(problems(own_scheme("conversation"), goal_stands(Goals(Goal(3, 4)), state), state))
    assert found == ["2 more turns needed.", "Turn 2 is not complete."]
    done = WrittenConversation("c", turns=(turn(1), turn(2)))
    assert (
        list(problems(own_scheme("conversation"), goal_stands(Goals(Goal(2, 4)), done), done)) == []
    )
