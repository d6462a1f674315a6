"""RL_R: how much of the answer is about the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ragstone.components.judges.claims_base import ClaimsJudge, numbered
from ragstone.components.judges.judge_calls import JudgeCall
from ragstone.components.judges.llm_base import TURN, Refusals, user_template
from ragstone.components.judges.verdict import Item, Verdict
from ragstone.components.judges.verdict_schemas import Listing, Numbered

_SPELLINGS = {"relevant": ("yes", "true"), "beside": ("no", "irrelevant", "off topic", "false")}


@dataclass(frozen=True)
class AnswerRelevance(ClaimsJudge):
    """Extracts the claims of the answer and checks if each helps to answer: relevant / all.

    It needs neither passages nor gold answers, and does not grade whether the claims are true.
    """

    max_tokens: int = 600
    refusals: Refusals = "unscored"

    name = "RL_R"
    schema = Listing()
    calls_per_item = 2
    verdict_words = tuple(_SPELLINGS)
    default_user = user_template(
        "Which of the numbered claims belong to an answer to the last question? A claim is "
        "relevant if it answers the question or a part of it, or if the answer cannot be "
        "understood without it; otherwise it stands beside the question. Whether it is true does "
        "not matter.",
        {**TURN, "claims": "claims"},
    )

    def checks(self, item: Item, claims: Sequence[Sequence[str]]) -> list[JudgeCall[Any]]:
        """Return one call about all claims."""
        (own,) = claims
        if not own:
            return []
        values = {**self.values(item), "claims": numbered(own)}
        schema = Numbered(len(own), tuple(_SPELLINGS), _SPELLINGS)
        return [self.judge_call(schema, values, (item.answer or "",))]

    def of_claims(
        self, item: Item, claims: Sequence[Sequence[str]], values: Sequence[Any]
    ) -> Verdict:
        """Return the share of relevant claims, with the others as the reason."""
        if not values:
            return Verdict.settled(item, "the answer makes no claim")
        pairs = list(zip(claims[0], values[0], strict=True))
        beside = "; ".join(claim for claim, verdict in pairs if verdict != "relevant")
        share = values[0].count("relevant") / len(pairs)
        return Verdict(
            item.item_id, share, reason=f"beside the question: {beside}" if beside else ""
        )
