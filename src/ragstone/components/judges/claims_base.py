"""The base of judges that list claims first, and then ask for their support."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ragstone.components.judges.judge_calls import JudgeCall, JudgeReply
from ragstone.components.judges.llm_base import TURN, ModelJudge, user_template, with_replies
from ragstone.components.judges.verdict import Item, Verdict
from ragstone.components.judges.verdict_schemas import Listing
from ragstone.components.llm import LlmBackend
from ragstone.core.judge_prompts import JudgePromptFile
from ragstone.core.prompts import Prompt
from ragstone.protocols import Services

SPELLINGS = {
    "supported": ("yes", "entailed", "true"),
    "unsupported": ("no", "not supported", "not entailed", "contradicted", "false"),
}
"""Spellings of the verdicts on a claim."""
Replies = Sequence[JudgeReply[Any]]


@dataclass(frozen=True)
class ClaimsJudge(ModelJudge):
    """A judge in two steps: the claims of some texts, then verdicts on the claims.

    Args:
        claims_user: your own user template for the extraction of claims.
    """

    claims_user: str = ""

    default_claims_user = user_template(
        "List every claim of fact that the answer makes, each as a sentence that can be understood "
        "on its own: names in place of pronouns. Leave out questions, greetings and what it says "
        "about itself. Add nothing that the answer does not say.",
        {**TURN, "answer": "answer"},
    )

    def __post_init__(self) -> None:
        """Check the fields, and the templates of both steps."""
        super().__post_init__()
        _ = self.claims_prompt

    @cached_property
    def claims_prompt(self) -> Prompt:
        """The templates of the first step."""
        name = f"judge {self.name}, claims"
        return self.prompt_of(name, "claims_user")

    @classmethod
    def own_prompt(cls) -> JudgePromptFile:
        """Return the judge's own prompt: the templates of both steps."""
        return replace(super().own_prompt(), claims_user=cls.default_claims_user)

    def texts(self, item: Item) -> tuple[str, ...]:
        """Return the texts whose claims are listed: the answer."""
        return (item.answer or "",)

    def checks(self, item: Item, claims: Sequence[Sequence[str]]) -> list[JudgeCall[Any]]:
        """Return the calls about the claims of each text; none if there is nothing to check."""
        raise NotImplementedError

    def of_claims(
        self, item: Item, claims: Sequence[Sequence[str]], values: Sequence[Any]
    ) -> Verdict:
        """Return the verdict from the claims of each text and the values of the checks."""
        raise NotImplementedError

    def calls_for(self, item: Item) -> list[JudgeCall[Any]]:
        """Return a call per text, for its claims."""
        listing, values = Listing(), self.values(item)
        return [
            JudgeCall(
                self.messages(self.claims_prompt, listing, {**values, "answer": text}), listing
            )
            for text in self.texts(item)
        ]

    def ask_model(
        self, items: Sequence[Item], backend: LlmBackend, services: Services
    ) -> list[list[Verdict]]:
        """List the claims of all items, then check them."""
        owners = [(item, sample) for item in items for sample in range(self.repeats)]
        listed = self._asked([(self.calls_for(i), n) for i, n in owners], backend, services)
        wanted = [
            (self.checks(item, claims) if (claims := _values(replies)) is not None else [], sample)
            for (item, sample), replies in zip(owners, listed, strict=True)
        ]
        checked = self._asked(wanted, backend, services)
        verdicts = [
            self._verdict(item, first, second)
            for (item, _), first, second in zip(owners, listed, checked, strict=True)
        ]
        return [verdicts[n : n + self.repeats] for n in range(0, len(verdicts), self.repeats)]

    def _asked(
        self,
        wanted: Sequence[tuple[Sequence[JudgeCall[Any]], int]],
        backend: LlmBackend,
        services: Services,
    ) -> list[list[JudgeReply[Any]]]:
        """Return the replies to each group of calls; a group has a number of its sample."""
        calls = [replace(call, sample=sample) for group, sample in wanted for call in group]
        replies: Iterator[JudgeReply[Any]] = iter(self.make_calls(calls, backend, services))
        return [[next(replies) for _ in group] for group, _ in wanted]

    def _verdict(self, item: Item, listed: Replies, checked: Replies) -> Verdict:
        """Return the verdict from the replies of both steps."""
        claims, values = _values(listed), _values(checked)
        if claims is None or values is None:
            step, replies = ("claims", listed) if claims is None else ("verdicts", checked)
            reason = next(reply.reason for reply in replies if reply.value is None)
            found = Verdict.failed(item, f"{step}: {reason}")
        else:
            found = self.of_claims(item, claims, values)
        return with_replies(found, [*listed, *checked])


def _values(replies: Replies) -> list[Any] | None:
    """Return the values of replies; None if one has none."""
    values = [reply.value for reply in replies]
    return None if any(value is None for value in values) else values


def numbered(claims: Sequence[str]) -> str:
    """Return claims as numbered lines."""
    return "\n".join(f"{n}. {claim}" for n, claim in enumerate(claims, start=1))
