"""TREC RAG's weighted precision and recall of citations, each value by hand."""

from __future__ import annotations

from typing import Any

import pytest

from ragstone.calls.types import Request
from ragstone.components.judges.verdict import Item, Verdict
from ragstone.core.registry import create
from ragstone.testing import ScriptedCalls
from ragstone.types import Query

MODEL: dict[str, Any] = {"name": "chat", "model": "scripted", "base_url": "http://localhost:1/v1"}
GRADES = {"One": "full", "Two": "partial", "Three": "none", "Also two": "full"}
PASSAGES = ("first passage", "second passage")
SENTENCES = (("One.", (1,)), ("Two.", (1, 2)), ("Three.", (2,)), ("Four.", ()))


def grade(request: Request) -> str:
    """Grade the sentence; the second passage supports the second sentence fully."""
    asked = request.messages[-1][1]
    name = next(name for name in GRADES if f"sentence\n{name}." in asked)
    return GRADES["Also two" if name == "Two" and "second passage" in asked else name]


def verdict(item: Item, **options: Any) -> tuple[Verdict, int]:
    """Return the verdict on one item, and the number of calls."""
    judge = create("judges", {"name": "citation-precision", "model": MODEL, **options}, where="t")
    calls = ScriptedCalls(grade)
    (found,) = judge.verdicts([item], calls.services())
    return found, len(calls.asked)


def item(answer: str | None = "text", **fields: Any) -> Item:
    """Return an item whose sentences are reported apart from its text."""
    return Item(Query("q", "?"), answer, PASSAGES, **{"reported": SENTENCES, **fields})


def test_the_first_citation_of_a_sentence_counts() -> None:
    """Weights 1, 0.5, 0 over three pairs; over four sentences for the recall."""
    found, calls = verdict(item())

    assert found.value == pytest.approx((1 + 0.5 + 0) / 3)
    assert found.parts == {"citation-recall": pytest.approx((1 + 0.5 + 0 + 0) / 4)}
    assert calls == 3


def test_all_pairs_and_the_best_one_of_a_sentence() -> None:
    """Weights 1, (0.5, 1), 0 over four pairs; the second sentence has the weight 1."""
    found, calls = verdict(item(), citations="all")

    assert found.value == pytest.approx((1 + 0.5 + 1 + 0) / 4)
    assert found.parts == {"citation-recall(all)": pytest.approx((1 + 1 + 0 + 0) / 4)}
    assert calls == 4


def test_citations_in_the_text_are_read_too() -> None:
    """A citation of an absent passage has the weight 0, without a call."""
    found, calls = verdict(item("One [1]. Three [9].", reported=None))

    assert (found.value, dict(found.parts), calls) == (0.5, {"citation-recall": 0.5}, 1)


@pytest.mark.parametrize(
    ("answer", "reported", "reason"),
    [
        ("", (), "the answer is empty"),
        ("One. Two.", None, "the answer cites no passage"),
    ],
)
def test_an_answer_without_citations_has_recall_0(answer: str, reported: Any, reason: str) -> None:
    """It has no precision, and needs no call; a failed answer has neither."""
    found, calls = verdict(item(answer, reported=reported))

    assert (found.value, dict(found.parts)) == (None, {"citation-recall": 0.0})
    assert (found.status, found.reason, calls) == ("scored", reason, 0)
    failed, _ = verdict(item(None, problem="timeout", reported=None))
    assert failed.status == "failed"


def test_a_refusal_may_be_left_out() -> None:
    """With the option of all judges."""
    declined = item("I don't know.", reported=None)
    assert verdict(declined)[0].parts == {"citation-recall": 0.0}
    assert verdict(declined, refusals="unscored")[0].status == "not_applicable"


def test_the_recall_is_another_name_of_the_judge() -> None:
    """Both names give one judge with both metrics."""
    judge = create("judges", {"name": "citation-recall", "model": MODEL}, where="test")
    assert judge.metrics == ("citation-precision", "citation-recall")
