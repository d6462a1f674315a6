"""clarification: whether the answer asks a clarifying question; for underspecified queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ragstone.components.judges.llm_base import TURN, ModelJudge, user_template
from ragstone.components.judges.verdict import Item, Verdict
from ragstone.components.judges.verdict_schemas import Choice


@dataclass(frozen=True)
class Clarification(ModelJudge):
    """1 if the answer asks the user what is meant, or names the readings to choose from, else 0.

    MTRAG-UN scores underspecified queries so: the right answer to them is a question.
    """

    explain: bool = False
    max_tokens: int = 64

    name = "clarification"
    schema = Choice()
    empty_value = 0.0
    default_user = user_template(
        "Does the answer ask the user to say what is meant? Say yes if it asks for a missing "
        "detail, or lists the readings of the question and asks which one is meant. Say no if it "
        "picks one reading and answers, if it only declines, and if it ends with a mere offer of "
        "further help.",
        {**TURN, "answer": "answer to be sorted"},
    )

    def verdict(self, item: Item, values: Sequence[Any]) -> Verdict:
        """Return 1 for yes and 0 for no."""
        return Verdict(item.item_id, float(values[0] == "yes"), values[0])
