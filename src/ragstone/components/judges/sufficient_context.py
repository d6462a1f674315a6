"""sufficient-context: whether the context is enough to answer the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ragstone.components.judges.llm_base import TURN, ModelJudge, user_template
from ragstone.components.judges.verdict import Item, Verdict
from ragstone.components.judges.verdict_schemas import Choice


@dataclass(frozen=True)
class SufficientContext(ModelJudge):
    """1 if the passages are enough to answer the question, else 0; the answer is not read.

    It needs neither gold answers nor relevance labels. Nothing shown is not enough.
    """

    name = "sufficient-context"
    schema = Choice()
    needs = frozenset({"passages"})
    default_user = user_template(
        "Are the passages enough for a full answer to the question? Say yes if a careful reader "
        "who has no other source can answer all of it, also where facts of several passages have "
        "to be put together. Say no if a needed fact is missing, if it has to be guessed, or if "
        "passages contradict each other and none of them settles it. If the question rests on a "
        "false assumption, passages that show this are enough.",
        {**TURN, "passages": "passages"},
    )

    def without_call(self, item: Item) -> Verdict | None:
        """Decide that nothing shown is not enough."""
        if not any(passage.strip() for passage in item.passages):
            return Verdict.settled(item, "no context was shown", 0.0)
        return super().without_call(item)

    def verdict(self, item: Item, values: Sequence[Any]) -> Verdict:
        """Return whether the passages are enough."""
        return Verdict(item.item_id, float(values[0] == "yes"), values[0])
