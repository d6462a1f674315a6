"""support: does a passage support this answer to this question? MIRAGE's label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ragstone.components.judges.llm_base import ModelJudge, unscored, user_template
from ragstone.components.judges.questions import Answered, JudgeCall
from ragstone.components.judges.verdict import Item, Verdict
from ragstone.components.judges.verdict_schemas import Choice, VerdictSchema


@dataclass(frozen=True)
class Support(ModelJudge):
    """1 where at least one passage of the context supports the answer, else 0.

    One question a passage, as MIRAGE labels (passage, query, answer); the part `support:share` is
    the share of the passages that do. With `of_gold` the first gold answer is asked about instead
    of the system's: then it says whether the context holds what is needed.
    """

    explain: bool = False
    max_tokens: int = 64
    of_gold: bool = False

    name: ClassVar[str] = "support"
    form: ClassVar[VerdictSchema[Any]] = Choice()
    needs: ClassVar[frozenset[str]] = frozenset({"answer", "passages"})
    variables: ClassVar[tuple[str, ...]] = ("query", "history", "answer", "passages")
    own_user: ClassVar[str] = user_template(
        "Could somebody who knows nothing but this passage give this answer to the question? Say "
        "yes only if the passage itself states the answer or leaves no other; that it is about the "
        "same subject is not enough.",
        query="question",
        answer="answer",
        passages="passage",
    )

    def __str__(self) -> str:
        """Return the metric's name."""
        return "support(gold)" if self.of_gold else "support"

    def without_call(self, item: Item) -> Verdict | None:
        """Look at the answer that is asked about."""
        if self.of_gold and not item.query.gold_answers:
            return Verdict.not_asked(item, "the query has no gold answer")
        return super().without_call(self._asked(item))

    def questions(self, item: Item) -> list[JudgeCall[Any]]:
        """Ask about each passage."""
        values = self.values(self._asked(item))
        return [
            self.question(self.form, {**values, "passages": text}, (values["answer"], text))
            for text in item.passages
        ]

    def verdict(self, item: Item, answered: Sequence[Answered[Any]]) -> Verdict:
        """Return whether any passage supports the answer."""
        failed = unscored(item, answered)
        if failed is not None:
            return failed
        share = sum(one.value == "yes" for one in answered) / len(answered)
        label = "yes" if share else "no"
        return Verdict(item.item_id, float(share > 0), label, {f"{self}:share": share})

    def _asked(self, item: Item) -> Item:
        if not self.of_gold:
            return item
        return Item(item.query, next(iter(item.query.gold_answers), ""), item.passages)
