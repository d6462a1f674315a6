"""conversation-rating: an answer's quality at its turn of a conversation, without a gold answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ragstone.components.judges.llm_base import ModelJudge, user_template
from ragstone.components.judges.verdict import Item, Verdict
from ragstone.components.judges.verdict_schemas import Rating

SCALE = Rating(1, 10)


@dataclass(frozen=True)
class ConversationRating(ModelJudge):
    """The median rating as (r - 1) / 9, after MT-Bench's single-answer grading.

    mtRAG found that such ratings favour the models' text over people's (its Table 7: -0.17 with the
    win rate): run `ragstone judge check` before you use it.
    """

    max_tokens: int = 400

    name = "conversation-rating"
    schema = SCALE
    empty_value = 0.0
    default_user = user_template(
        "Rate the answer to the last question of this conversation from 1 to 10: is it to the "
        "point, right as far as the passages tell, as deep as the question asks for, and does it "
        "fit what was said before? A longer answer is not a better one.",
        {
            "history": "earlier turns",
            "query": "last question",
            "passages": "passages",
            "answer": "answer to be rated",
        },
    )

    def verdict(self, item: Item, values: Sequence[Any]) -> Verdict:
        """Return the rating as a share of the scale."""
        return Verdict(item.item_id, SCALE.share(values[0]))
