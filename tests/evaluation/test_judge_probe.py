"""Probes recover the weaknesses of a judge that are known, and count what fails."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ragstone.calls.types import Failure, Outcome, Request
from ragstone.components.judges.verdict import Item
from ragstone.core.registry import create
from ragstone.errors import ConfigError
from ragstone.evaluation.human_grades import HumanSet, Labelled
from ragstone.evaluation.judge_probe import (
    JudgeProbe,
    ProbedItems,
    most_calls,
    probe_judge,
    wrong_answers,
)
from ragstone.evaluation.judge_probe_text import probe_text
from ragstone.evaluation.probes import PROBES
from ragstone.testing import FakeGullibleJudge, ScriptedCalls
from ragstone.types import Query

MODEL: dict[str, Any] = {"name": "chat", "model": "fake", "base_url": "http://localhost:1/v1"}
JUDGE = create("judges", {"name": "RB_llm", "model": MODEL, "least_parse_rate": 0}, where="test")
EQUIVALENCE = create(
    "judges", {"name": "equivalence", "model": MODEL, "least_parse_rate": 0}, where="test"
)
PROBE_OF = {
    "long": ["long"],
    "hedged": ["hedged"],
    "citations": ["citations"],
    "criteria": ["criteria"],
    "orders": [name for name in PROBES if name.startswith("order-")],
    "passage_orders": [name for name in PROBES if name.startswith("passage-")],
}


def answers(count: int = 60) -> ProbedItems:
    """Return answers that people call wrong."""
    items = tuple(
        Labelled(
            Item(
                Query(f"q{n}", f"Question {n}?", ("gold",)),
                f"Wrong answer {n}.",
                (f"Passage {n}.",),
            ),
            float(n % 2),
            cluster=f"c{n // 4}",
        )
        for n in range(2 * count)
    )
    return wrong_answers(HumanSet("made", items, "RB_llm", "is it right?", {}))


def probed(fake: FakeGullibleJudge, given: ProbedItems | None = None) -> JudgeProbe:
    """Return all probes of the fake."""

    def answer(request: Request) -> str:
        return fake([{"role": role, "content": text} for role, text in request.messages])

    services = ScriptedCalls(answer).services()
    return probe_judge(JUDGE, given or answers(), list(PROBES.values()), services)


@pytest.mark.parametrize("weakness", PROBE_OF)
def test_each_known_weakness_is_recovered_and_no_other(weakness: str) -> None:
    """Three points of nine are within the interval; the gain of the other probes is about 0."""
    found = probed(FakeGullibleJudge(**{weakness: 3}))

    for one in found.probes:
        assert one.interval is not None
        low, high = one.interval
        expected = 3 / 9 if one.probe in PROBE_OF[weakness] else 0.0
        assert low <= expected <= high, one
        assert (one.n, one.failed) == (60, 0)
        assert one.flagged == (one.gain is not None and one.gain > 0.05)
        assert one.flagged >= (one.probe in PROBE_OF[weakness])


def test_several_weaknesses_have_their_own_sizes() -> None:
    """The intervals tell one point from four."""
    found = {one.probe: one for one in probed(FakeGullibleJudge(long=1, citations=4)).probes}

    assert found["long"].gain == pytest.approx(1 / 9, abs=0.05)
    assert found["citations"].gain == pytest.approx(4 / 9, abs=0.05)


def test_a_judge_without_a_weakness_is_not_flagged() -> None:
    """An honest judge gains nothing, and its text says so."""
    services = ScriptedCalls(lambda _: "Rating: [[2]]").services()
    found = probe_judge(JUDGE, answers(), list(PROBES.values()), services)

    assert {one.gain for one in found.probes} == {0.0}
    assert not any(one.flagged for one in found.probes)
    assert "nothing is flagged" in probe_text(found)


def test_only_wrong_answers_are_probed() -> None:
    """Right and empty ones are counted."""
    item = Item(Query("q", "?", ("g",)), "x")
    graded = (
        Labelled(item, 1.0),
        Labelled(item, 0.0),
        Labelled(replace(item, answer=" "), 0.0),
        Labelled(replace(item, answer=None), 0.4),
    )
    given = wrong_answers(HumanSet("made", graded, "equivalence", "?", {}))

    assert given.items == (item,)
    assert given.left_out == {"people do not call them wrong": 1, "the answer is empty": 2}
    assert given.sample(5, 0) == given
    assert len(answers().sample(7, 1).items) == len(answers().sample(7, 1).clusters) == 7


def test_failed_calls_and_silence_are_counted() -> None:
    """A failed call and an unreadable reply are not a gain of 0."""

    def answer(request: Request) -> str | Outcome:
        text = request.messages[1][1]
        if "Question 2?" in text:
            return Failure("the server is tired", status=500)
        return "who knows" if "][2]" in text and "Question 4?" in text else "Rating: [[2]]"

    services = ScriptedCalls(answer).services()
    found = probe_judge(JUDGE, answers(10), [PROBES["long"], PROBES["citations"]], services)
    long, cited = found.probes

    assert (long.n, long.failed, long.calls_failed, long.silenced) == (9, 1, 1, 0)
    assert (cited.n, cited.failed, cited.calls_failed, cited.silenced) == (8, 2, 1, 1)
    assert "2 (1 calls)" in probe_text(found)


def test_what_does_not_apply_is_listed_and_costs_nothing() -> None:
    """`equivalence` reads no passages; answers without passages have none to change."""
    given, every = answers(10), list(PROBES.values())
    calls = ScriptedCalls(lambda _: "no")
    found = {
        one.probe: one for one in probe_judge(EQUIVALENCE, given, every, calls.services()).probes
    }

    assert found["passage-json"].not_applicable == "the judge reads no passages"
    assert found["passage-json"].gain is None
    assert most_calls(EQUIVALENCE, given.items, every) == len(calls.asked) == 10 * 9
    bare = replace(given, items=tuple(replace(item, passages=()) for item in given.items))
    found = {one.probe: one for one in probed(FakeGullibleJudge(), bare).probes}
    assert found["passage-json"].not_applicable == "no answer was given with passages"


@pytest.mark.parametrize("count", [0])
def test_nothing_to_probe_is_an_error(count: int) -> None:
    """The error names the data and what was left out."""
    with pytest.raises(ConfigError, match="made has no answer to probe"):
        probed(FakeGullibleJudge(), answers(count))
    with pytest.raises(ConfigError, match="no verdict on any of the 4 answers"):
        probe_judge(JUDGE, answers(4), [PROBES["long"]], ScriptedCalls(lambda _: "hm").services())
