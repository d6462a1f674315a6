"""Battles: pairs of answers, a blind judge in both orders, and people's ratings."""

from __future__ import annotations

from typing import Any

import pytest

from ragstone.calls.types import Failure, Outcome, Request
from ragstone.core.registry import create
from ragstone.data.readers.ratings import HumanRating, RatedItem
from ragstone.errors import DatasetError
from ragstone.evaluation.battles import fight, pairings, rated_battles
from ragstone.statistics.bradley_terry import Battle
from ragstone.testing import ScriptedCalls
from ragstone.types import Prediction, Query

QUERIES = [Query(f"q{n}", f"Question {n}?") for n in range(6)]
MODEL: dict[str, Any] = {"name": "chat", "model": "scripted", "base_url": "http://localhost:1/v1"}


def answers(**texts: str | None) -> dict[str, dict[str, Prediction]]:
    """Return system -> query id -> the same text for each query."""
    return {
        name: {query.query_id: Prediction(query.query_id, text) for query in QUERIES}
        for name, text in texts.items()
    }


def longer(request: Request) -> str:
    """Prefer the longer answer."""
    text = request.messages[-1][1]
    first = text.partition("= first answer\n")[2].partition("\n=")[0]
    second = text.partition("= second answer\n")[2].partition("\n=")[0]
    return "first" if len(first) > len(second) else "second"


def outcomes(given: Any, reply: Any) -> tuple[Any, ScriptedCalls]:
    """Return the outcomes by a scripted judge, and its calls."""
    calls = ScriptedCalls(reply)
    judge = create("judges", {"name": "pairwise", "model": MODEL}, where="test")
    return fight(pairings(QUERIES, given), judge, calls.services()), calls


def test_a_blind_judge_in_both_orders() -> None:
    """All pairs of systems on each query; names are in no prompt."""
    given = answers(alpha="A long answer.", beta="Short.", gamma="Of a length.")
    found, calls = outcomes(given, longer)

    assert len(found.battles) == 6 * 3
    assert len(calls.asked) == 2 * 6 * 3
    wins = dict.fromkeys(given, 0.0)
    for battle in found.battles:
        wins[battle.a] += battle.value
        wins[battle.b] += 1 - battle.value
    assert wins == {"alpha": 12.0, "beta": 0.0, "gamma": 6.0}
    assert (found.first, found.order_dependent, found.settled) == (0.5, 0, 0)
    prompts = "".join(text for request in calls.asked for _, text in request.messages)
    assert not any(name in prompts for name in given)


def test_a_judge_that_looks_at_the_order_ties() -> None:
    """It prefers the first place in all replies."""
    found, _ = outcomes(answers(a="One.", b="Two."), lambda _: "first")
    assert {battle.value for battle in found.battles} == {0.5}
    assert (found.first, found.order_dependent) == (1.0, 6)


def test_equal_and_absent_answers_need_no_call() -> None:
    """Equal ones tie; a failed one loses; two absent ones are no pair."""
    tied, calls = outcomes(answers(a="Same.", b=" Same. "), longer)
    assert ({one.value for one in tied.battles}, tied.settled, calls.asked) == ({0.5}, 6, [])
    lost, calls = outcomes(answers(a=None, b="Text."), longer)
    assert {one.value if one.a == "b" else 1 - one.value for one in lost.battles} == {1.0}
    assert not calls.asked
    with pytest.raises(DatasetError, match="no query has answers of two systems"):
        pairings(QUERIES, answers(a=None, b=""))
    with pytest.raises(DatasetError, match="the systems are a"):
        pairings(QUERIES, answers(a="Text."))


def test_a_failed_call_is_no_battle() -> None:
    """It is counted with its reason."""

    def reply(request: Request) -> str | Outcome:
        return Failure("no reply") if "Question 2?" in str(request.messages) else longer(request)

    found, _ = outcomes(answers(a="One.", b="Longer."), reply)
    assert len(found.battles) == 5
    ((reason, count),) = found.unscored.items()
    assert (count, "no reply" in reason) == (1, True)


def test_the_number_of_battles_is_bounded() -> None:
    """A query's pairs do not depend on the other queries."""
    given = answers(a="1", b="22", c="333", d="4444")
    some = pairings(QUERIES, given, per_query=2, seed=7)
    assert len(some) == 2 * len(QUERIES)
    assert pairings(QUERIES[3:], given, per_query=2, seed=7) == some[6:]
    assert pairings(QUERIES, given, per_query=2, seed=8) != some
    assert {one.a for one in pairings(QUERIES, given)} == set(given)


def test_ratings_of_pairs_are_battles() -> None:
    """`a` is the rating's system; ratings of one answer are left out."""
    pair = RatedItem("q1", "x", against="y")
    ratings = [
        HumanRating(pair, "better", "ann", "a"),
        HumanRating(pair, "better", "ben", "tie"),
        HumanRating(RatedItem("q1", "x"), "fluency", "ann", 4.0),
    ]
    expected = [Battle("q1", "x", "y", 1.0), Battle("q1", "x", "y", 0.5)]
    assert rated_battles(ratings) == {"better": expected}
