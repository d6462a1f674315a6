"""RL_F: the share of an answer's claims that its context bears out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

from ragstone.components.judges.list_schemas import Listing, Numbered
from ragstone.components.judges.llm_base import ModelJudge, Refusals, user_template
from ragstone.components.judges.questions import Answered, Asker, JudgeCall, ask_questions
from ragstone.components.judges.verdict import Item, Verdict
from ragstone.components.judges.verdict_schemas import VerdictSchema
from ragstone.core.prompts import Prompt

NUMBERED = ("supported", "unsupported")
_SPELT = {
    "supported": ("yes", "entailed", "true"),
    "unsupported": ("no", "not supported", "not entailed", "contradicted", "false"),
}


@dataclass(frozen=True)
class Faithfulness(ModelJudge):
    """Claims are drawn from the answer, then each is held against the passages: supported / all.

    After the faithfulness of RAGAS (Es et al., 2024), which mtRAG calls RL_F. Differences: the
    claims come from the answer with the conversation shown as such; an answer without a claim is
    not applicable instead of NaN, 0 or 1; with `earlier_turns` what was said before counts as
    evidence, so that an answer may rest on an earlier one (the metric is then `RL_F(turns)`).
    """

    max_tokens: int = 600
    refusals: Refusals = "unscored"
    earlier_turns: bool = False
    claims_user: str = ""
    """Your own user template for drawing the claims."""

    name: ClassVar[str] = "RL_F"
    form: ClassVar[VerdictSchema[Any]] = Listing()
    needs: ClassVar[frozenset[str]] = frozenset({"answer", "passages"})
    variables: ClassVar[tuple[str, ...]] = ("passages", "claims")
    own_user: ClassVar[str] = user_template(
        "Which of the numbered claims does the evidence bear out? A claim is supported if the "
        "evidence states it or it follows from it without further knowledge; otherwise, also "
        "where the evidence is silent, it is unsupported.",
        passages="evidence",
        claims="claims",
    )
    own_claims_user: ClassVar[str] = user_template(
        "List every claim of fact that the answer makes, each as a sentence that can be understood "
        "on its own: names in place of pronouns. Leave out questions, greetings and what it says "
        "about itself. Add nothing that the answer does not say.",
        history="earlier turns",
        query="question",
        answer="answer",
    )

    def __str__(self) -> str:
        """Return the metric's name, which says what counts as evidence."""
        return "RL_F(turns)" if self.earlier_turns else "RL_F"

    @cached_property
    def claims_prompt(self) -> Prompt:
        """The templates of the first step."""
        known = frozenset({"query", "history", "answer", "format"})
        return Prompt(
            "judge RL_F, claims",
            self.system or self.own_system,
            self.claims_user or self.own_claims_user,
            frozenset(),
            known,
        )

    def questions(self, item: Item) -> list[JudgeCall[Any]]:
        """Ask for the claims."""
        messages = self.messages(self.claims_prompt, self.form, self.values(item))
        return [JudgeCall(messages, self.form)]

    def ask_model(self, items: Sequence[Item], model: Any, calls: Asker) -> list[list[Verdict]]:
        """Draw the claims of all answers, then judge them."""
        manner = self.manner(model)
        drawn = [
            replace(question, sample=repeat)
            for item in items
            for repeat in range(self.repeats)
            for question in self.questions(item)
        ]
        listed = ask_questions(drawn, manner, calls)
        owners = [item for item in items for _ in range(self.repeats)]
        places = [place for place, one in enumerate(listed) if one.value]
        asked = [
            replace(
                self._about(owners[place], listed[place].value or ()),
                sample=listed[place].question.sample,
            )
            for place in places
        ]
        judged = dict(zip(places, ask_questions(asked, manner, calls), strict=True))
        verdicts = [
            self._verdict(item, listed[place], judged.get(place))
            for place, item in enumerate(owners)
        ]
        return [
            verdicts[start : start + self.repeats]
            for start in range(0, len(verdicts), self.repeats)
        ]

    def _about(self, item: Item, claims: Sequence[str]) -> JudgeCall[Any]:
        values = self.values(item)
        if self.earlier_turns and item.query.history:
            values["passages"] += f"\n\nWhat was said before:\n{values['history']}"
        values["claims"] = "\n".join(f"{n}. {claim}" for n, claim in enumerate(claims, start=1))
        form = Numbered(len(claims), NUMBERED, _SPELT)
        return self.question(form, values, (item.answer or "", *item.passages))

    def _verdict(self, item: Item, listed: Answered[Any], judged: Answered[Any] | None) -> Verdict:
        cost = listed.cost + judged.cost if judged else listed.cost
        at_once = listed.read_at_once and (judged is None or judged.read_at_once)
        found = self._value(item, listed, judged)
        return replace(found, cost=cost, read_at_once=at_once, values=(found.value,))

    def _value(self, item: Item, listed: Answered[Any], judged: Answered[Any] | None) -> Verdict:
        if listed.value is None:
            return Verdict(item.item_id, status="failed", reason=f"claims: {listed.reason}")
        if judged is None:
            return Verdict.not_asked(item, "the answer makes no claim")
        if judged.value is None:
            return Verdict(item.item_id, status="failed", reason=f"verdicts: {judged.reason}")
        supported = judged.value.count("supported")
        against = [c for c, v in zip(listed.value, judged.value, strict=True) if v != "supported"]
        reason = f"not supported: {'; '.join(against)}" if against else ""
        return Verdict(item.item_id, supported / len(judged.value), reason=reason)

    @property
    def calls_per_item(self) -> int:
        """Claims, then verdicts."""
        return 2 * super().calls_per_item
