"""RB_llm: mtRAG's reference-based rating of an answer from 1 to 10, by several models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ragstone.components.judges.llm_base import TURN, ModelJudge, user_template
from ragstone.components.judges.verdict import Item, Verdict
from ragstone.components.judges.verdict_schemas import Rating

SCALE = Rating(1, 10)


@dataclass(frozen=True)
class RBLLM(ModelJudge):
    """The median rating over models and repeats, as (r - 1) / 9; `RB_llm/10` is mtRAG's r / 10.

    Katsis et al., MTRAG, TACL 2025, appendix F.1: the answer is compared with the gold answer and
    the passages, for faithfulness, appropriateness and completeness. The paper's value is the
    median of four models: give them as a list in `model`.
    """

    max_tokens: int = 400

    name = "RB_llm"
    schema = SCALE
    needs = frozenset({"answer", "gold"})
    empty_value = 0.0
    part_metrics = ("RB_llm/10",)
    default_user = user_template(
        "Rate the answer from 1 to 10 by three things taken together. Faithful: all it says is "
        "borne out by the passages, or by the gold answer where there is no passage. Appropriate: "
        "it answers this question at this point of the conversation and nothing else. Complete: it "
        "holds what the gold answer holds. 10 is as good as the gold answer; 1 is of no use, or "
        "misleads. Neither length nor style counts.",
        {**TURN, "passages": "passages", "gold": "gold answers", "answer": "answer to be rated"},
    )

    def verdict(self, item: Item, values: Sequence[Any]) -> Verdict:
        """Return the rating on both scales."""
        rating = values[0]
        return Verdict(item.item_id, SCALE.share(rating), parts={"RB_llm/10": rating / SCALE.high})
