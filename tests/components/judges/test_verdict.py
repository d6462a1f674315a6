"""Items to judge, verdicts on them, and the scores that verdicts become."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from ragstone.components.judges.verdict import Cost, Item, Verdict, VerdictJudge, verdicts_of
from ragstone.core.component import Outcome
from ragstone.protocols import Judge, Services
from ragstone.types import Context, ContextPassage, Prediction, Query, Score, Task

QUERY = Query("q", "Where?", ("Rome", "Roma"))


def test_an_item_is_a_task_and_a_prediction_for_a_judge_of_your_own() -> None:
    """Passages are numbered from 1; without gold answers there is an empty one."""
    item = Item(QUERY, "In Rome.", ("One.", "Two."), problem="cut")

    assert (item.item_id, item.gold, Item(Query("q", "?")).gold) == ("q", "Rome", "")
    shown = (ContextPassage("1", "One.", "retrieved"), ContextPassage("2", "Two.", "retrieved"))
    assert item.task == Task(QUERY, Context("q", "", shown))
    assert item.prediction == Prediction("q", "In Rome.", "cut")


def test_the_sentences_of_an_item_are_those_that_the_system_reports() -> None:
    """Otherwise they are cut from the answer; a missing answer has none."""
    assert list(Item(QUERY, "Yes [1]. No.").sentences) == [("Yes.", (1,)), ("No.", ())]
    assert list(Item(QUERY, None).sentences) == []
    assert Item(QUERY, "Yes [1].", reported=()).sentences == ()


def test_costs_add_up() -> None:
    """Each part is added to its own."""
    assert Cost(1, 2, 3, 0.5) + Cost(10, 20, 30, 1.5) == Cost(11, 22, 33, 2.0)


@pytest.mark.parametrize(
    ("retry", "value", "unreadable", "lost"),
    [
        (True, None, False, True),
        (True, None, True, False),
        (True, 0.0, False, False),
        (False, None, False, False),
    ],
)
def test_a_verdict_is_lost_if_a_call_failed(
    value: float | None, *, retry: bool, unreadable: bool, lost: bool
) -> None:
    """A value, or a reply that could not be read, is none of that."""
    assert Verdict("q", value, retry=retry, unreadable=unreadable).lost == lost


def test_items_that_need_no_judge() -> None:
    """A settled one has a value or is not applicable; a failed one has neither."""
    settled, other = Verdict.settled(Item(QUERY), "why", 0.0), Verdict.settled(Item(QUERY), "why")
    failed = Verdict.failed(Item(QUERY), "no answer")

    assert (settled.value, settled.status, settled.asked) == (0.0, "scored", False)
    assert (other.value, other.status, other.asked) == (None, "not_applicable", False)
    assert (failed.value, failed.status, failed.asked) == (None, "failed", True)
    assert {settled.reason, other.reason} == {"why"}
    plain = Verdict("q")
    assert (plain.read_at_once, plain.asked, plain.retry, plain.unreadable) == (1, 1, 0, 0)
    assert plain.cost == Cost(0, 0, 0, 0.0)


@dataclass(frozen=True)
class Given(VerdictJudge):
    """Gives verdicts that are known."""

    known: tuple[Verdict, ...] = ()
    metrics = ("given", "part", "other")

    def __str__(self) -> str:
        """Return its name."""
        return "given"

    def verdicts(self, items: Sequence[Item], services: Services) -> list[Verdict]:
        """Return the known verdicts after a check of the items."""
        assert [item.passages for item in items] == [("One.",)] * len(self.known)
        assert [(item.answer, item.problem) for item in items] == [("Rome", "late")] * len(items)
        assert [item.reported for item in items] == [(("Rome", (1,)),)] * len(items)
        return list(self.known)


def test_verdicts_become_scores() -> None:
    """One per metric; a part that a verdict lacks is not applicable, or failed as the verdict."""
    known = (
        Verdict("q", 0.5, parts={"part": 0.25}, reason="a remark"),
        Verdict("q", status="failed", reason="no reply", retry=True),
    )
    judge = Given(known)
    task = Task(QUERY, Context("q", "", (ContextPassage("1", "One.", "retrieved"),)))
    prediction = Prediction("q", "Rome", "late", sentences=(("Rome", (1,)),))

    one, other = judge.judge([task] * 2, [prediction] * 2, Services())

    assert one == Outcome((
        Score("q", "given", 0.5, "scored", "a remark"),
        Score("q", "part", 0.25, "scored", "a remark"),
        Score("q", "other", None, "not_applicable", "a remark"),
    ))  # fmt: skip
    assert (other.reason, other.retry) == ("no reply", True)
    assert [(s.value, s.status, s.reason) for s in other.value] == [
        (None, "failed", "no reply")
    ] * 3
    with pytest.raises(ValueError, match="zip"):
        list(judge.judge([task], [prediction] * 2, Services()))
    item = Item(QUERY, "Rome", ("One.",), problem="late", reported=(("Rome", (1,)),))
    assert verdicts_of(judge, [item] * 2, Services()) == list(known)


def test_the_first_score_of_a_judge_of_your_own_is_its_verdict() -> None:
    """Further ones are parts, if they have a value."""

    class Own(Judge):
        metrics = ("first", "second", "third")

        def judge(self, tasks: Any, predictions: Any, services: Any) -> Iterator[Outcome[Any]]:
            for task in tasks:
                name = task.query.query_id
                values = {"first": None if name == "q" else 1.0, "second": 0.5, "third": None}
                yield Outcome([
                    Score(name, m, v, "scored" if v is not None else "unscored", "why")
                    for m, v in values.items()
                ], "a call failed", retry=True)  # fmt: skip

    first, second = verdicts_of(Own(), [Item(QUERY, "a"), Item(Query("p", "?"), "b")], Services())

    assert first == Verdict("q", None, parts={"second": 0.5}, status="unscored", reason="why",
                            retry=True)  # fmt: skip
    assert (second.item_id, second.value, second.parts) == ("p", 1.0, {"second": 0.5})
