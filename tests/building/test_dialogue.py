"""The plan of conversations, their counts and their shape."""

from __future__ import annotations

import pytest

from ragstone.building.dialogue import (
    DialoguePlan,
    SyntheticTalk,
    SyntheticTurn,
    count_turns,
    crossed,
    real_shape,
    shape,
    too_short,
)
from ragstone.building.funnel import Funnel
from ragstone.core import limits
from ragstone.data.dataset import Dataset
from ragstone.errors import ConfigError, DatasetError
from ragstone.types import Passage


def dialogue() -> SyntheticTalk:
    """Return a conversation whose third turn was rejected."""
    one = SyntheticTalk("c1", ("first", "follow-up", "unanswerable"), (Passage("p", "Text."),))
    one.attempts = [
        SyntheticTurn(1, "first", "Who?", "Ann."),
        SyntheticTurn(2, "follow-up", "When was it?", "In 1712."),
        SyntheticTurn(3, "unanswerable", "And why?", stage="answer", reason="the answer is empty"),
    ]
    return one


def test_the_shares_hold_over_all_turns() -> None:
    """Of ten conversations of four turns, 30 turns have kinds in the shares of the mix."""
    plan = DialoguePlan(10, (4, 4), {"follow-up": 2, "clarification": 1})
    later = [kind for kinds in plan.kinds() for kind in kinds[1:]]
    assert {kind: later.count(kind) for kind in later} == {"follow-up": 20, "clarification": 10}
    assert plan.kinds() == plan.kinds()


@pytest.mark.parametrize("turns", [(12, 12), (1, 3), (4, 3), (2, 9)])
def test_a_wrong_number_of_turns_names_the_maximum(turns: tuple[int, int]) -> None:
    """The error has the range and its reason."""
    with pytest.raises(ConfigError, match=r"from 2 to 8.*repeat themselves"):
        DialoguePlan(turns=turns)


def test_the_maximum_of_turns_is_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lower limit refuses what was allowed."""
    monkeypatch.setattr(limits, "MAX_TURNS", 3)
    with pytest.raises(ConfigError, match="from 2 to 3"):
        DialoguePlan(turns=(2, 4))


@pytest.mark.parametrize(
    ("mix", "message"),
    [({"follow": 1}, "did you mean 'follow-up'"), ({"follow-up": 0}, "0 or more, not all 0")],
)
def test_a_wrong_mix_is_an_error(mix: dict[str, float], message: str) -> None:
    """An unknown kind has a suggestion."""
    with pytest.raises(ConfigError, match=message):
        DialoguePlan(mix=mix)


def test_turns_are_counted_where_they_were_rejected() -> None:
    """Three questions enter; two answers leave; a conversation of two turns is kept."""
    one, funnel = dialogue(), Funnel()
    count_turns(funnel, [one])
    counts = [(s["stage"], s["in"], s["out"]) for s in funnel.stages_document()]
    assert counts == [("question", 3, 3), ("answer", 3, 2), ("support", 2, 2)]
    assert one.ended
    assert too_short(one) == ""
    one.attempts[1].reject("support", "no passage supports the answer")
    assert too_short(one) == "fewer than 2 turns: the answer is empty"


def test_a_turn_is_a_query_with_the_earlier_turns() -> None:
    """Labels are mtRAG's; an unanswerable turn is a follow-up by its kind."""
    one = dialogue()
    query = one.query(one.attempts[1])
    assert (query.query_id, query.gold_answers) == ("c1::2", ("In 1712.",))
    assert [message.text for message in query.history] == ["Who?", "Ann."]
    assert query.labels["multi_turn"] == "follow-up"
    assert "multi_turn" not in one.query(one.attempts[0]).labels
    assert crossed(one.turns) == {"first": {"answerable": 1}, "follow-up": {"answerable": 1}}


def test_the_shape_is_that_of_mtrags_table() -> None:
    """Means of turns and words; a data set without a conversation is refused."""
    one = dialogue()
    found = shape([[one.query(turn) for turn in one.turns]])
    assert found["turns_per_conversation"] == 2
    assert (found["words_per_question"], found["words_per_answer"]) == (2, 1.5)
    with pytest.raises(DatasetError, match="has no conversation"):
        real_shape(Dataset.from_records(queries=[{"query_id": "q", "text": "Who?"}]))
