"""pairwise: which of two answers is better, judged in both orders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from ragstone.components.judges.judge_calls import JudgeCall
from ragstone.components.judges.llm_base import TURN, ModelJudge, user_template
from ragstone.components.judges.verdict import Item, Verdict
from ragstone.components.judges.verdict_schemas import Choice

_OTHER_ORDER: Final = {"first": "second", "second": "first", "tie": "tie"}
_LABELS: Final = {"first": "win", "second": "loss", "tie": "tie"}
VALUES: Final = {"win": 1.0, "tie": 0.5, "loss": 0.0}
ORDER_DEPENDENT: Final = "the verdict depends on the order"


@dataclass(frozen=True)
class Pairwise(ModelJudge):
    """1 if the answer beats the other one, 0.5 for a tie, 0 if it loses.

    The model judges both orders. If they disagree, the verdict is a tie, with the reason. The part
    `pairwise:first` is the share of the two replies that prefer the first place: 0.5 without a
    position bias. In an experiment, the other answer is the first gold answer.
    """

    name = "pairwise"
    schema = Choice(
        ("first", "second", "tie"),
        {
            "first": ("1", "answer 1", "a"),
            "second": ("2", "answer 2", "b"),
            "tie": ("3", "equal", "a tie"),
        },
    )
    part_metrics = ("pairwise:first",)
    calls_per_item = 2
    default_user = user_template(
        "Which answer serves the person who asked better: the first, the second, or is it a tie? "
        "Look at whether they are right, to the point and complete. The order in which they stand, "
        "their length and their style do not count.",
        {**TURN, "passages": "passages", "one": "first answer", "two": "second answer"},
    )

    def without_call(self, item: Item) -> Verdict | None:
        """Make no call if there is nothing to compare with."""
        if not (item.other or item.gold).strip():
            return Verdict.settled(item, "there is no other answer to compare with")
        return super().without_call(item)

    def calls_for(self, item: Item) -> list[JudgeCall[Any]]:
        """Return two calls, with the answers in either order."""
        values = self.values(item)
        answer, other = item.answer or "", item.other or item.gold
        material = (answer, other, *item.passages)
        return [
            self.judge_call(self.schema, {**values, "one": one, "two": two}, material)
            for one, two in ((answer, other), (other, answer))
        ]

    def verdict(self, item: Item, values: Sequence[Any]) -> Verdict:
        """Return win, tie or loss; a tie if the two orders disagree."""
        straight, turned = values
        first = sum({"first": 1.0, "tie": 0.5, "second": 0.0}[place] for place in values)
        parts = {"pairwise:first": first / 2}
        if straight != _OTHER_ORDER[turned]:
            reason = f"{ORDER_DEPENDENT}: {straight}, then {turned}"
            return Verdict(item.item_id, VALUES["tie"], "tie", parts, reason=reason)
        label = _LABELS[straight]
        return Verdict(item.item_id, VALUES[label], label, parts)
