"""idk: whether the answer declines; mtRAG's "I don't know" detector."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from ragstone.components.judges.llm_base import TURN, ModelJudge, user_template
from ragstone.components.judges.verdict import Item, Verdict
from ragstone.components.judges.verdict_schemas import Choice

PARTIAL: Final = (
    *("partially", "teilweise", "partiel", "partiellement", "parcial", "parcialmente"),
    *("部分", "部分的", "一部"),
)
VALUES: Final = {"yes": 1.0, "partial": 0.5, "no": 0.0}


@dataclass(frozen=True)
class IDK(ModelJudge):
    """1 if the answer declines because it has no information, 0.5 if in part, 0 if it answers."""

    explain: bool = False
    max_tokens: int = 64

    name = "idk"
    schema = Choice(("yes", "partial", "no"), {"partial": PARTIAL})
    default_user = user_template(
        "Does the answer say that it cannot be given? Say yes if it only declines: it does not "
        "know, or its sources do not say. Say partial if it declines one part of the question and "
        "answers another. Say no if it answers, be it wrong, short or hedged, and also if it only "
        "greets or thanks.",
        {**TURN, "answer": "answer to be sorted"},
    )

    def verdict(self, item: Item, values: Sequence[Any]) -> Verdict:
        """Return the label and its value."""
        label = str(values[0])
        return Verdict(item.item_id, VALUES[label], label=label)
