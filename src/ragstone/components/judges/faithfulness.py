"""RL_F: the share of an answer's claims that its context supports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ragstone.components.judges.judge_calls import JudgeCall, JudgeReply
from ragstone.components.judges.llm_base import (
    TURN,
    ModelJudge,
    Refusals,
    user_template,
    with_replies,
)
from ragstone.components.judges.verdict import Item, Verdict
from ragstone.components.judges.verdict_schemas import Listing, Numbered
from ragstone.components.llm import LlmBackend
from ragstone.core.prompts import Prompt
from ragstone.protocols import Services

NUMBERED = ("supported", "unsupported")
_SPELLINGS = {
    "supported": ("yes", "entailed", "true"),
    "unsupported": ("no", "not supported", "not entailed", "contradicted", "false"),
}


@dataclass(frozen=True)
class Faithfulness(ModelJudge):
    """Extracts the claims of the answer and checks each against the passages: supported / all.

    After the faithfulness of RAGAS (Es et al., 2024), which mtRAG calls RL_F. Differences: the
    conversation is shown as such while claims are extracted; an answer without a claim is not
    applicable instead of NaN, 0 or 1.

    Args:
        earlier_turns: whether earlier turns count as evidence too, so that an answer may repeat an
            earlier one (the metric is then `RL_F(turns)`).
        claims_user: your own user template for the extraction of claims.
    """

    max_tokens: int = 600
    refusals: Refusals = "unscored"
    earlier_turns: bool = False
    claims_user: str = ""

    name = "RL_F"
    schema = Listing()
    needs = frozenset({"answer", "passages"})
    calls_per_item = 2
    default_user = user_template(
        "Which of the numbered claims does the evidence bear out? A claim is supported if the "
        "evidence states it or it follows from it without further knowledge; otherwise, also "
        "where the evidence is silent, it is unsupported.",
        {"passages": "evidence", "claims": "claims"},
    )
    default_claims_user = user_template(
        "List every claim of fact that the answer makes, each as a sentence that can be understood "
        "on its own: names in place of pronouns. Leave out questions, greetings and what it says "
        "about itself. Add nothing that the answer does not say.",
        {**TURN, "answer": "answer"},
    )

    def __str__(self) -> str:
        """Return the metric's name, which depends on the evidence."""
        return "RL_F(turns)" if self.earlier_turns else "RL_F"

    @cached_property
    def claims_prompt(self) -> Prompt:
        """The templates of the first step."""
        default = self.default_claims_user
        return self.prompt_of("judge RL_F, claims", default, self.claims_user)

    @property
    def templates(self) -> Mapping[str, str]:
        """Name -> text of the templates of both steps."""
        return {**super().templates, "claims_user": self.claims_prompt.user}

    def calls_for(self, item: Item) -> list[JudgeCall[Any]]:
        """Return the call for the claims."""
        messages = self.messages(self.claims_prompt, self.schema, self.values(item))
        return [JudgeCall(messages, self.schema)]

    def ask_model(
        self, items: Sequence[Item], backend: LlmBackend, services: Services
    ) -> list[list[Verdict]]:
        """Extract the claims of all answers, then judge them."""
        owners = [item for item in items for _ in range(self.repeats)]
        calls = [
            replace(call, sample=place % self.repeats)
            for place, item in enumerate(owners)
            for call in self.calls_for(item)
        ]
        listed = self.make_calls(calls, backend, services)
        asked = [place for place, reply in enumerate(listed) if reply.value]
        about = [self._about_claims(owners[place], listed[place]) for place in asked]
        judged = self.make_calls(about, backend, services)
        by_place = dict(zip(asked, judged, strict=True))
        verdicts = [
            self._of_both(item, listed[place], by_place.get(place))
            for place, item in enumerate(owners)
        ]
        return [verdicts[n : n + self.repeats] for n in range(0, len(verdicts), self.repeats)]

    def _about_claims(self, item: Item, listed: JudgeReply[Any]) -> JudgeCall[Any]:
        """Return the call about the claims in a reply."""
        claims = listed.value or ()
        values = self.values(item)
        if self.earlier_turns and item.query.history:
            values["passages"] += f"\n\nWhat was said before:\n{values['history']}"
        values["claims"] = "\n".join(f"{n}. {claim}" for n, claim in enumerate(claims, start=1))
        schema = Numbered(len(claims), NUMBERED, _SPELLINGS)
        call = self.judge_call(schema, values, (item.answer or "", *item.passages))
        return replace(call, sample=listed.call.sample)

    def _of_both(
        self, item: Item, listed: JudgeReply[Any], judged: JudgeReply[Any] | None
    ) -> Verdict:
        """Return the verdict from the claims and, if there are claims, the verdicts on them."""
        if listed.value is None:
            return with_replies(Verdict.failed(item, f"claims: {listed.reason}"), [listed])
        if judged is None:
            return with_replies(Verdict.settled(item, "the answer makes no claim"), [listed])
        found = Verdict.failed(item, f"verdicts: {judged.reason}")
        if judged.value is not None:
            pairs = list(zip(listed.value, judged.value, strict=True))
            against = "; ".join(claim for claim, verdict in pairs if verdict != "supported")
            share = judged.value.count("supported") / len(pairs)
            reason = f"not supported: {against}" if against else ""
            found = Verdict(item.item_id, share, reason=reason)
        return with_replies(found, [listed, judged])
