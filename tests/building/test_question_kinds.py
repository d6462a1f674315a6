"""Comparisons, false premises, underspecified questions and turns: what is kept and rejected."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from tests.fakes.made_test_set import run

from ragstone.building.draft import Draft
from ragstone.calls.types import Request

SIMPLE = '{"question": "Who opened the market of Ardmoor?", "answer": "the weaver Anna"}'


def first(strategy: str, replies: Sequence[str], **plan: Any) -> Draft:
    """Return the first draft of a writer with these replies, the last one again and again."""
    said = iter(replies)
    last = replies[-1]

    def script(_: Request) -> str:
        return next(said, last)

    return run(strategy, script=script, count=1, rounds=1, **plan).drafts[0]


def turn(question: str, rewrite: str, answer: str) -> str:
    """Return the reply with a turn."""
    return json.dumps({"question": question, "rewrite": rewrite, "answer": answer})


@pytest.mark.parametrize(
    ("short", "reason"),
    [
        ("- Who opened the market?", ""),
        ("- Who opened the market of Ardmoor?", "the question leaves nothing out"),
        ("- Who opened the fair?", "the question has new words: fair"),
        ("- Who opened Ardmoor?", "the question still has a name: Ardmoor"),
    ],
)
def test_an_underspecified_question_leaves_the_name_out(short: str, reason: str) -> None:
    """The clear question and its answer are labels, and there is no gold answer."""
    draft = first("underspecified", [SIMPLE, short])
    assert draft.reason.removeprefix("underspecified: ") == reason
    if not reason:
        assert draft.query().gold_answers == ()
        assert draft.query().labels["answerability"] == "underspecified"
        assert draft.labels["specified_answer"] == "the weaver Anna"
        assert draft.relevant == ()


@pytest.mark.parametrize(
    ("question", "answer", "reason"),
    [
        ("Why did the market burn down?", "It was opened by the weaver", ""),
        ("Why is water wet?", "It was opened by the weaver", "the question has nothing of the"),
        (
            "Why is the market of the weaver new?",
            "The weaver market",
            "the answer corrects nothing",
        ),
    ],
)
def test_a_false_premise_is_about_the_passage_and_corrected_by_it(
    question: str, answer: str, reason: str
) -> None:
    """The correction has words of the passage that the question lacks."""
    draft = first("false-premise", [json.dumps({"question": question, "answer": answer})])
    assert draft.reason.removeprefix("false_premise: ").startswith(reason)
    assert bool(draft.reason) == bool(reason)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (turn("Who opened it?", "Who opened the market?", "the weaver"), ""),
        (turn("Who opened it?", "Who opened it?", "the weaver"), "the question does not depend"),
        (
            turn("And who was it?", "Who opened the market of Ardmoor?", "cheese"),
            "the turn repeats an earl",
        ),
        (
            '{"question": "And who was it?", "answer": "cheese"}',
            "the reply has no self-contained question",
        ),
    ],
)
def test_a_turn_depends_on_the_conversation(reply: str, reason: str) -> None:
    """The query is the last turn with its history and its self-contained form."""
    draft = first("multi-turn", [SIMPLE, reply], turns=2)
    assert draft.reason.removeprefix("dependent_turn: ").startswith(reason)
    assert bool(draft.reason) == bool(reason)
    if not reason:
        query = draft.query()
        assert [message.role for message in query.history] == ["user", "agent"]
        assert (query.rewrite, query.turn) == ("Who opened the market?", 2)


def test_a_conversation_has_as_many_turns_as_planned() -> None:
    """Five turns are five calls; all but the last one are the history."""
    made = run("multi-turn", count=2, turns=5)
    assert [len(draft.history) for draft in made.kept] == [8, 8]
    assert [len(draft.steps) for draft in made.kept] == [5, 5]


def test_a_comparison_names_things_of_both_passages() -> None:
    """A question about one passage is rejected."""
    one_sided = '{"question": "Which cheese is older?", "answer": "the first"}'
    draft = first("comparison", [one_sided])
    assert draft.reason.startswith("comparison: one passage is enough")
