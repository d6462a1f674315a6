"""A trained writer as a strategy: one call per passage and label, and its checks."""

from __future__ import annotations

import re

import pytest
from tests.fakes.made_test_set import run

from ragstone.building.generate import Generated
from ragstone.calls.types import Outcome, Reply, Request

SPEC = "writer(model=chat(model=trained, base_url='http://localhost:1/v1'))"


def replied(request: Request) -> str:
    """Return a good reply of a trained writer: a question about the passage and its answer."""
    [(role, text)] = request.messages
    flag = re.fullmatch(r"<<(\w+)>> (\w+)\n.*", text, re.DOTALL)
    assert flag is not None
    assert role == "user"
    label, town = flag.groups()
    asked = {"fact_single": "Who opened", "summary": "Who founded", "reasoning": "Whose work is"}
    return f"{asked[label]} the market of {town}? <a> The weaver Anna {town}son"


def test_one_call_writes_question_and_answer_of_a_label() -> None:
    """The prompt is the flag and the passage alone, without example or instruction."""
    made = run(SPEC, count=6, script=replied)

    assert len(made.kept) == 6
    assert made.summary()["calls_per_kept"] == 1
    assert made.summary()["kept"] == {"fact_single": 2, "summary": 2, "reasoning": 2}
    assert made.model == "trained"
    draft = made.kept[0]
    town = draft.passages[0].title
    assert draft.question == f"Who opened the market of {town}?"
    assert draft.answer == draft.statement == f"The weaver Anna {town}son"
    assert draft.strategy == draft.query().labels["strategy"] == "writer"
    assert [step.name for step in draft.steps] == ["writer"]


def only(made: Generated) -> str:
    """Return the one reason of all rejected drafts."""
    assert not made.kept
    [reason] = {draft.reason for draft in made.drafts}
    return reason


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("Who opened the market?", "writer: the reply has not one <a>"),
        ("Who? <a> Anna <a> Anna", "writer: the reply has not one <a>"),
        ("I cannot answer this.", "writer: the model refused"),
        ("Who opened the market? <a>", "writer: the answer is empty"),
        ("The market of the town <a> Anna", "writer: it is not a question"),
        ("Who is Anna? <a> Anna", "writer: the question contains the answer"),
        (
            "Who opened it? <a> Bishop Odo himself",
            "writer: less than 50% of the answer's words are in the passage: 0%",
        ),
    ],
)
def test_malformed_replies_are_rejected_with_their_reason(reply: str, reason: str) -> None:
    """No reply of that kind becomes a query."""
    made = run(SPEC, count=1, mix={"fact_single": 1}, script=lambda _: reply, rounds=1)
    assert only(made) == reason


def test_a_reply_that_was_cut_is_rejected() -> None:
    """Nothing but its end says that an answer is complete."""

    def cut(request: Request) -> Outcome:
        return Reply(replied(request), "length", 100, 5, 0.01)

    assert only(run(SPEC, count=1, rounds=1, script=cut)) == "writer: the reply was cut"


def test_passages_of_any_language_are_written_about() -> None:
    """The model has no instruction in a language."""
    made = run(SPEC, count=1, script=replied)
    assert made.passages.refused == {}
