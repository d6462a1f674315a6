"""pairwise: which of two answers is better, asked in both orders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final

from ragstone.components.judges.llm_base import ModelJudge, unscored, user_template
from ragstone.components.judges.questions import Answered, JudgeCall
from ragstone.components.judges.verdict import Item, Verdict
from ragstone.components.judges.verdict_schemas import Choice, VerdictSchema

_OTHER_ORDER: Final = {"first": "second", "second": "first", "tie": "tie"}
_LABELS: Final = {"first": "win", "second": "loss", "tie": "tie"}
VALUES: Final = {"win": 1.0, "tie": 0.5, "loss": 0.0}
ORDER_DEPENDENT: Final = "the verdict depends on the order"


@dataclass(frozen=True)
class Pairwise(ModelJudge):
    """1 where the answer beats the other one, 0.5 for a tie, 0 where it loses.

    Both orders are asked. Where they do not agree the verdict is a tie, and its reason says that
    it depends on the order; the part `pairwise:first` is the share of the two replies that prefer
    what stands first: 0.5 without a bias for the place. In an experiment, the other answer is the
    first gold answer.
    """

    name: ClassVar[str] = "pairwise"
    form: ClassVar[VerdictSchema[Any]] = Choice(
        ("first", "second", "tie"),
        {
            "first": ("1", "answer 1", "a"),
            "second": ("2", "answer 2", "b"),
            "tie": ("3", "equal", "a tie"),
        },
    )
    variables: ClassVar[tuple[str, ...]] = ("query", "history", "passages", "one", "two")
    own_user: ClassVar[str] = user_template(
        "Which answer serves the person who asked better: the first, the second, or is it a tie? "
        "Look at whether they are right, to the point and complete. The order in which they stand, "
        "their length and their style do not count.",
        history="earlier turns",
        query="question",
        passages="passages",
        one="first answer",
        two="second answer",
    )

    def without_call(self, item: Item) -> Verdict | None:
        """Make no call where there is nothing to compare with."""
        if not _other(item).strip():
            return Verdict.not_asked(item, "there is no other answer to compare with")
        return super().without_call(item)

    def questions(self, item: Item) -> list[JudgeCall[Any]]:
        """Ask twice, the answers in either order."""
        held, other = self.values(item), _other(item)
        answer = item.answer or ""
        material = (answer, other, *item.passages)
        return [
            self.question(self.form, {**held, "one": one, "two": two}, material)
            for one, two in ((answer, other), (other, answer))
        ]

    def verdict(self, item: Item, answered: Sequence[Answered[Any]]) -> Verdict:
        """Return win, tie or loss; a tie where the two orders do not agree."""
        failed = unscored(item, answered)
        if failed is not None:
            return failed
        straight, turned = str(answered[0].value), str(answered[1].value)
        first = sum({"first": 1.0, "tie": 0.5, "second": 0.0}[one] for one in (straight, turned))
        parts = {"pairwise:first": first / 2}
        if straight != _OTHER_ORDER[turned]:
            found = Verdict(item.item_id, VALUES["tie"], "tie", parts)
            return replace(found, reason=f"{ORDER_DEPENDENT}: {straight}, then {turned}")
        label = _LABELS[straight]
        return Verdict(item.item_id, VALUES[label], label, parts)

    @property
    def calls_per_item(self) -> int:
        """Two orders a reply."""
        return 2 * super().calls_per_item


def _other(item: Item) -> str:
    return item.other or next(iter(item.query.gold_answers), "")
