"""Verdicts from the log-probabilities of the first token; the base of judges that can use them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, TypeAlias

from ragstone.calls.types import Reply
from ragstone.components.judges.judge_calls import JudgeCall
from ragstone.components.judges.llm_base import ModelJudge, Pooling
from ragstone.components.judges.reply_parsing import Unreadable
from ragstone.components.judges.verdict import Item
from ragstone.components.judges.verdict_schemas import Choice, VerdictSchema
from ragstone.core.component import IN_CACHE_KEY_IF_SET
from ragstone.errors import ConfigError

ALTERNATIVES: Final = 20
Method: TypeAlias = Literal["text", "logprob"]


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
class LogprobJudge(ModelJudge):
    """The base of judges that choose yes or no, by their words or by their probabilities.

    Args:
        method: `text` reads the verdict; `logprob` takes the probability of yes against no from the
            first token, and the mean of several models.
        least_mass: for `logprob`: lowest sum of the two probabilities that gives a verdict.
    """

    method: Method = field(default="text", metadata=IN_CACHE_KEY_IF_SET)
    least_mass: float = field(default=0.1, metadata=IN_CACHE_KEY_IF_SET)

    @property
    def pooling(self) -> Pooling:
        """The mean of probabilities, else the majority."""
        return "mean" if self.method == "logprob" else "majority"

    def __post_init__(self) -> None:
        """Refuse a reason before a log-probability: the first token must be the verdict."""
        super().__post_init__()
        if self.method == "logprob" and (self.explain or self.structured):
            raise ConfigError(
                f"judge {self.name!r}: method logprob reads the first token; leave out explain "
                "and structured"
            )

    @property
    def sampling_changes(self) -> Mapping[str, Any]:
        """One token with its alternatives for the method `logprob`."""
        one_token = {"max_tokens": 1, "logprobs": ALTERNATIVES}
        return {**super().sampling_changes, **(one_token if self.method == "logprob" else {})}

    def calls_for(self, item: Item) -> list[JudgeCall[Any]]:
        """Return the calls for the words, or for the probabilities of the words."""
        calls = self.word_calls(item)
        likelihood = Likelihood(least_mass=self.least_mass)
        return calls if self.method == "text" else [replace(c, schema=likelihood) for c in calls]

    def word_calls(self, item: Item) -> list[JudgeCall[Any]]:
        """Return the calls for the words: one by default."""
        return super().calls_for(item)

    def probabilities(self, values: Sequence[Any]) -> list[float]:
        """Return the probability of yes of each reply; 1 or 0 for the method `text`."""
        return [float(v == "yes") if self.method == "text" else v for v in values]
