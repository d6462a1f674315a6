"""support: whether a passage supports this answer to this question; MIRAGE's label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ragstone.components.judges.judge_calls import JudgeCall
from ragstone.components.judges.llm_base import user_template
from ragstone.components.judges.logprob_base import LogprobJudge
from ragstone.components.judges.verdict import Item, Verdict
from ragstone.components.judges.verdict_schemas import Choice


@dataclass(frozen=True)
class Support(LogprobJudge):
    """1 if at least one passage of the context supports the answer, else 0.

    One call per passage, as MIRAGE labels (passage, query, answer); the part `support:share` is the
    share of supporting passages.

    Args:
        of_gold: whether the first gold answer is judged in place of the system's: does the context
            contain the answer?
        method: `text` reads the verdict on a passage. `logprob` takes the probability of yes
            against no from the first token: the value is the largest of the passages, the share is
            their mean; both are the mean of several models.
        least_mass: for `logprob`: lowest sum of the two probabilities that gives a verdict.
    """

    explain: bool = False
    max_tokens: int = 64
    of_gold: bool = False

    name = "support"
    schema = Choice()
    needs = frozenset({"answer", "passages"})
    variables = ("query", "history", "answer", "passages")
    default_user = user_template(
        "Could somebody who knows nothing but this passage give this answer to the question? Say "
        "yes only if the passage itself states the answer or leaves no other; that it is about the "
        "same subject is not enough.",
        {"query": "question", "answer": "answer", "passages": "passage"},
    )

    @property
    def own_name(self) -> str:
        """The metric's name with the judge's own prompt."""
        return "support(gold)" if self.of_gold else "support"

    @property
    def own_metrics(self) -> tuple[str, ...]:
        """The verdict, and the share of supporting passages."""
        return (self.own_name, f"{self.own_name}:share")

    def cost(self, n_queries: int, n_passages: int) -> int:
        """Return one call per passage, repeat and model; at least one per query."""
        return super().cost(max(n_queries, n_passages), n_passages)

    def without_call(self, item: Item) -> Verdict | None:
        """Decide by the answer that is judged."""
        if self.of_gold and not item.query.gold_answers:
            return Verdict.settled(item, "the query has no gold answer")
        return super().without_call(self._judged(item))

    def word_calls(self, item: Item) -> list[JudgeCall[Any]]:
        """Return one call per passage."""
        values = self.values(self._judged(item))
        return [
            self.judge_call(self.schema, {**values, "passages": text}, (values["answer"], text))
            for text in item.passages
        ]

    def verdict(self, item: Item, values: Sequence[Any]) -> Verdict:
        """Return whether any passage supports the answer, or the largest probability of it."""
        supporting = self.probabilities(values)
        value, share = max(supporting), sum(supporting) / len(supporting)
        label = "yes" if value >= 0.5 else "no"  # noqa: PLR2004 - the likelier word
        return Verdict(item.item_id, value, label, {f"{self.own_name}:share": share})

    def _judged(self, item: Item) -> Item:
        return Item(item.query, item.gold, item.passages) if self.of_gold else item
