"""context-relevance: how much the retrieved passages help to answer the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from ragstone.components.judges.judge_calls import JudgeCall
from ragstone.components.judges.llm_base import TURN, ModelJudge, user_template
from ragstone.components.judges.verdict import Item, Verdict
from ragstone.components.judges.verdict_schemas import Numbered

GRADES: Final = {"answers": 1.0, "helps": 0.5, "useless": 0.0}


@dataclass(frozen=True)
class ContextRelevance(ModelJudge):
    """The mean grade of the passages: answers 1, helps 0.5, useless 0."""

    name = "context-relevance"
    schema = Numbered(1, tuple(GRADES))
    needs = frozenset({"passages"})
    default_user = user_template(
        "Grade each numbered passage by what it gives to somebody who has to answer the question: "
        "answers (the answer, or a main part of it, stands there), helps (it holds something the "
        "answer needs), useless (anything else, also where the subject is the same).",
        {**TURN, "passages": "passages"},
    )

    def calls_for(self, item: Item) -> list[JudgeCall[Any]]:
        """Return one call about all passages."""
        schema = Numbered(len(item.passages), tuple(GRADES))
        return [self.judge_call(schema, self.values(item), item.passages)]

    def verdict(self, item: Item, values: Sequence[Any]) -> Verdict:
        """Return the mean grade."""
        grades = [GRADES[grade] for grade in values[0]]
        return Verdict(item.item_id, sum(grades) / len(grades))
