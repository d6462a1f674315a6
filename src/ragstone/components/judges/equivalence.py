"""equivalence: whether the answer means the same as a gold answer; BERGEN's LLMeval."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from ragstone.calls.types import Reply
from ragstone.components.judges.judge_calls import JudgeCall, JudgeReply
from ragstone.components.judges.llm_base import TURN, ModelJudge, Refusals, user_template
from ragstone.components.judges.reply_parsing import Unreadable
from ragstone.components.judges.verdict import Item, Verdict
from ragstone.components.judges.verdict_schemas import Choice, VerdictSchema
from ragstone.errors import ConfigError

ALTERNATIVES: Final = 20


@dataclass(frozen=True)
class Likelihood(VerdictSchema[float]):
    """The probability of the first option, from the alternatives to the first token.

    It is renormalised over the options: P(yes) / (P(yes) + P(no)). If their sum is below
    `least_mass`, the model was about to write something else, and there is no verdict.
    """

    options: tuple[str, ...] = ("yes", "no")
    least_mass: float = 0.1
    key = "verdict"
    explained = False
    truncation_ok = True

    def json_schema(self, *, explain: bool) -> None:
        """Return None: the reply is one token."""

    def wording(self, *, explain: bool = False) -> str:
        """Return the wording for a text verdict: the same prompt measures the same quantity."""
        return Choice(self.options).wording()

    def parse(self, reply: Reply, material: Sequence[str] = ()) -> float:
        """Return the probability; the reply needs log-probabilities."""
        if not reply.logprobs:
            raise Unreadable("the server reports no log-probabilities")
        first = reply.logprobs[0]
        mass = self._masses(dict(first.top) or {first.token: first.logprob})
        total = sum(mass.values())
        if total < self.least_mass:
            words = " and ".join(self.options)
            raise Unreadable(f"{words} hold only {total:.1%} of the first token's probability")
        return mass[self.options[0]] / total

    def _masses(self, top: Mapping[str, float]) -> dict[str, float]:
        meanings = Choice(self.options).meanings
        mass = dict.fromkeys(self.options, 0.0)
        for token, logprob in top.items():
            option = meanings.get(token.strip(" \n▁Ġ*\"'{[").casefold())
            if option is not None:
                mass[option] += math.exp(logprob)
        return mass


@dataclass(frozen=True)
class Equivalence(ModelJudge):
    """The probability that the model calls the answer right: 1 or 0 from one greedy reply.

    The prompt contains all gold answers, one per line.

    Args:
        variant: `bergen` counts a reply that cannot be read as no, as BERGEN's LLMeval does; the
            value then has the reason.
        labels: `all` shows all gold answers in one call, as BERGEN's code does; `each` shows one
            per call, as its paper has it, and the answer is right if it equals any of them.
        method: `text` reads the verdict; with repeats, the value is the share of yes. `logprob`
            takes the probability of yes against no from the first token, the limit of that share.
        least_mass: for `logprob`: lowest sum of the two probabilities that gives a verdict.
    """

    explain: bool = False
    max_tokens: int = 64
    refusals: Refusals = "settle"
    method: Literal["text", "logprob"] = "text"
    least_mass: float = 0.1
    variant: Literal["corrected", "bergen"] = "corrected"
    labels: Literal["all", "each"] = "all"

    name = "equivalence"
    schema = Choice()
    needs = frozenset({"answer", "gold"})
    empty_value = 0.0
    pooling = "mean"
    default_user = user_template(
        "Is the answer right? It is right if it gives what one of the gold answers gives, however "
        "it is worded; further details may stand beside it unless they contradict the gold answer.",
        {**TURN, "gold": "gold answers", "answer": "answer to be graded"},
    )

    @property
    def own_name(self) -> str:
        """The metric's name, with what differs from the default."""
        said = ", ".join(one for one in (self.variant, self.labels) if one in {"bergen", "each"})
        return f"equivalence({said})" if said else "equivalence"

    @property
    def graded(self) -> bool:
        """Whether the value is a share or a probability: not from a single reply."""
        return self.method != "text" or self.repeats * len(self.backends) > 1

    def __post_init__(self) -> None:
        """Refuse a reason before a log-probability: the first token must be the verdict."""
        super().__post_init__()
        if self.method == "logprob" and (self.explain or self.structured):
            raise ConfigError(
                "judge 'equivalence': method logprob reads the first token; leave out explain "
                "and structured"
            )

    def calls_for(self, item: Item) -> list[JudgeCall[Any]]:
        """Return a call for the word, or for the probabilities of the words."""
        of_one = super().calls_for
        golds = [(gold,) for gold in item.query.gold_answers] if self.labels == "each" else []
        queries = [replace(item.query, gold_answers=gold) for gold in golds] or [item.query]
        calls = [call for query in queries for call in of_one(replace(item, query=query))]
        likelihood = Likelihood(least_mass=self.least_mass)
        return calls if self.method == "text" else [replace(c, schema=likelihood) for c in calls]

    @property
    def sampling_changes(self) -> Mapping[str, Any]:
        """One token with its alternatives for the method `logprob`."""
        one_token = {"max_tokens": 1, "logprobs": ALTERNATIVES}
        return {**super().sampling_changes, **(one_token if self.method == "logprob" else {})}

    def verdict_of(self, item: Item, replies: Sequence[JudgeReply[Any]]) -> Verdict:
        """Return the verdict; with the variant `bergen` an unreadable reply says no."""
        problems = [reply.reason for reply in replies if reply.is_unreadable]
        if self.variant != "bergen" or not problems:
            return super().verdict_of(item, replies)
        no = "no" if self.method == "text" else 0.0
        read = [replace(reply, value=no) if reply.is_unreadable else reply for reply in replies]
        found = super().verdict_of(item, read)
        return replace(found, reason=f"an unreadable reply counts as no: {problems[0]}")

    def verdict(self, item: Item, values: Sequence[Any]) -> Verdict:
        """Return 1 for yes and 0 for no, or the probability of yes; the best of several labels."""
        value = max(float(v == "yes") if self.method == "text" else v for v in values)
        return Verdict(item.item_id, value, label="yes" if value >= 0.5 else "no")  # noqa: PLR2004 - the likelier word
