"""umbrela: relevance of passages on UMBRELA's scale from 0 to 3."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Final

from ragstone.components.judges.judge_calls import JudgeCall
from ragstone.components.judges.llm_base import TURN, ModelJudge, user_template
from ragstone.components.judges.verdict import Item, Verdict
from ragstone.components.judges.verdict_schemas import Rating

HIGHEST: Final = 3
"""The highest grade."""


@dataclass(frozen=True)
class Umbrela(ModelJudge):
    """The mean grade of the passages, as a share of the highest grade.

    Grades: 0 unrelated, 1 related without an answer, 2 part of an answer or an unclear one, 3 a
    passage about the question with its answer. One call per passage. The scale is that of
    Upadhyay et al., "UMBRELA" (2024), which has its own prompt; this prompt is Ragstone's.
    `ragstone judge qrels` writes the grades as qrels.
    """

    explain: bool = False
    max_tokens: int = 64

    name = "umbrela"
    schema = Rating(0, HIGHEST)
    needs = frozenset({"passages"})
    variables = ("query", "history", "passages")
    default_user = user_template(
        "Grade how well the passage answers the question, by what the passage itself says. "
        "0: it is about something else. 1: it is about the same subject, and answers nothing. "
        "2: it answers a part, or the answer is unclear or buried among other matter. "
        "3: it is about the question, and the full answer can be read in it.",
        {**TURN, "passages": "passage"},
    )

    def cost(self, n_queries: int, n_passages: int) -> int:
        """Return one call per passage, repeat and model; at least one per query."""
        return super().cost(max(n_queries, n_passages), n_passages)

    def calls_for(self, item: Item) -> list[JudgeCall[Any]]:
        """Return one call per passage."""
        values = self.values(item)
        return [
            self.judge_call(self.schema, {**values, "passages": text}, (text,))
            for text in item.passages
        ]

    def verdict(self, item: Item, values: Sequence[Any]) -> Verdict:
        """Return the mean grade as a share of the highest one."""
        return Verdict(item.item_id, fmean(values) / HIGHEST)
