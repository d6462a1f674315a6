"""The steps of a benchmark's making."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ragstone.building.funnel import NOT_REACHED, Candidate, Funnel
from ragstone.core import limits
from ragstone.errors import LimitReached

FIVE = [Candidate(str(number), f"query {number}") for number in range(5)]


def test_counts_add_up_and_reasons_are_counted_by_their_first_part() -> None:
    """Each item that enters a step leaves it or has a reason; quotations do not split counts."""
    funnel = Funnel()
    kept = funnel.keep(
        "screen", FIVE, lambda one: f"odd: {one.text}" if int(one.item_id) % 2 else ""
    )
    funnel.keep("label", kept, {"4": "not supported"})
    assert funnel.stages_document() == [
        {"stage": "screen", "in": 5, "out": 3, "rejected": {"odd": 2}},
        {"stage": "label", "in": 3, "out": 2, "rejected": {"not supported": 1}},
    ]
    assert [one.reason for one in funnel.rejections] == [
        "odd: query 1",
        "odd: query 3",
        "not supported",
    ]


def test_a_limit_leaves_the_finished_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """The batches before the limit count; the other items are named as not reached."""
    monkeypatch.setattr(limits, "BUILD_BATCH", 2)
    funnel = Funnel()

    def work(batch: Sequence[Candidate]) -> list[str]:
        if batch[0].item_id == "2":
            raise LimitReached("the maximum of 2 calls is reached")
        return [one.text for one in batch]

    assert funnel.until_limit("label", FIVE, work) == [["query 0", "query 1"]]
    assert funnel.partial == "the maximum of 2 calls is reached"
    assert funnel.stages["label"].rejected == {NOT_REACHED: 3}


def test_batches_add_to_one_step() -> None:
    """A step that is taken batch by batch has the counts of all batches."""
    funnel = Funnel()
    funnel.until_limit("all", FIVE, lambda batch: funnel.keep("judge", batch, {"1": "no"}))
    assert funnel.stages_document() == [
        {"stage": "judge", "in": 5, "out": 4, "rejected": {"no": 1}}
    ]
