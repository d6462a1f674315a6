"""RL_F: the share of an answer's claims that its context supports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ragstone.components.judges.claims_base import SPELLINGS, ClaimsJudge, numbered
from ragstone.components.judges.judge_calls import JudgeCall
from ragstone.components.judges.llm_base import Refusals, user_template
from ragstone.components.judges.verdict import Item, Verdict
from ragstone.components.judges.verdict_schemas import Listing, Numbered


@dataclass(frozen=True)
class Faithfulness(ClaimsJudge):
    """Extracts the claims of the answer and checks each against the passages: supported / all.

    After the faithfulness of RAGAS (Es et al., 2024), which mtRAG calls RL_F. Differences: the
    conversation is shown as such while claims are extracted; an answer without a claim is not
    applicable instead of NaN, 0 or 1.

    Args:
        earlier_turns: whether earlier turns count as evidence too, so that an answer may repeat an
            earlier one (the metric is then `RL_F(turns)`).
    """

    max_tokens: int = 600
    refusals: Refusals = "unscored"
    earlier_turns: bool = False

    name = "RL_F"
    schema = Listing()
    needs = frozenset({"answer", "passages"})
    calls_per_item = 2
    verdict_words = tuple(SPELLINGS)
    default_user = user_template(
        "Which of the numbered claims does the evidence bear out? A claim is supported if the "
        "evidence states it or it follows from it without further knowledge; otherwise, also "
        "where the evidence is silent, it is unsupported.",
        {"passages": "evidence", "claims": "claims"},
    )

    @property
    def own_name(self) -> str:
        """The metric's name, which depends on the evidence."""
        return "RL_F(turns)" if self.earlier_turns else "RL_F"

    def checks(self, item: Item, claims: Sequence[Sequence[str]]) -> list[JudgeCall[Any]]:
        """Return one call about all claims."""
        (own,) = claims
        if not own:
            return []
        values = self.values(item)
        if self.earlier_turns and item.query.history:
            values["passages"] += f"\n\nWhat was said before:\n{values['history']}"
        values["claims"] = numbered(own)
        schema = Numbered(len(own), tuple(SPELLINGS), SPELLINGS)
        return [self.judge_call(schema, values, (item.answer or "", *item.passages))]

    def of_claims(
        self, item: Item, claims: Sequence[Sequence[str]], values: Sequence[Any]
    ) -> Verdict:
        """Return the share of supported claims, with the others as the reason."""
        if not values:
            return Verdict.settled(item, "the answer makes no claim")
        pairs = list(zip(claims[0], values[0], strict=True))
        against = "; ".join(claim for claim, verdict in pairs if verdict != "supported")
        share = values[0].count("supported") / len(pairs)
        return Verdict(item.item_id, share, reason=f"not supported: {against}" if against else "")
