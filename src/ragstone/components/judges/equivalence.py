"""equivalence: whether the answer means the same as a gold answer; BERGEN's LLMeval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from ragstone.components.judges.judge_calls import JudgeCall, JudgeReply
from ragstone.components.judges.llm_base import TURN, Refusals, user_template
from ragstone.components.judges.logprob_base import LogprobJudge, Method
from ragstone.components.judges.verdict import Item, Verdict
from ragstone.components.judges.verdict_schemas import Choice


@dataclass(frozen=True)
class Equivalence(LogprobJudge):
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
    method: Method = "text"
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
        """The metric's name, with the differences from the default."""
        said = ", ".join(one for one in (self.variant, self.labels) if one in {"bergen", "each"})
        return f"equivalence({said})" if said else "equivalence"

    @property
    def graded(self) -> bool:
        """Whether the value is a share or a probability: not from a single reply."""
        return self.method != "text" or self.repeats * len(self.backends) > 1

    def word_calls(self, item: Item) -> list[JudgeCall[Any]]:
        """Return a call for all gold answers, or one for each."""
        golds = [(gold,) for gold in item.query.gold_answers] if self.labels == "each" else []
        queries = [replace(item.query, gold_answers=gold) for gold in golds] or [item.query]
        of_one = super().word_calls
        return [call for query in queries for call in of_one(replace(item, query=query))]

    def verdict_of(self, item: Item, replies: Sequence[JudgeReply[Any]]) -> Verdict:
        """Return the verdict; with the variant `bergen` an unreadable reply counts as no."""
        problems = [reply.reason for reply in replies if reply.is_unreadable]
        if self.variant != "bergen" or not problems:
            return super().verdict_of(item, replies)
        no = "no" if self.method == "text" else 0.0
        read = [replace(reply, value=no) if reply.is_unreadable else reply for reply in replies]
        found = super().verdict_of(item, read)
        return replace(found, reason=f"an unreadable reply counts as no: {problems[0]}")

    def verdict(self, item: Item, values: Sequence[Any]) -> Verdict:
        """Return 1 for yes and 0 for no, or the probability of yes; the best of several labels."""
        value = max(self.probabilities(values))
        return Verdict(item.item_id, value, label="yes" if value >= 0.5 else "no")  # noqa: PLR2004 - the likelier word
