"""answer-in-context: whether the context shows a gold answer at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ragstone.components.metrics.answer_batch import AnswerBatch
from ragstone.components.metrics.base import AnswerMetric
from ragstone.components.metrics.match import Match, occurs

if TYPE_CHECKING:
    from ragstone.components.metrics.arrays import Values


@dataclass(frozen=True)
class AnswerInContext(AnswerMetric):
    """1 where a passage of the context holds a gold answer as whole words (see `Match`), else 0.

    It needs no qrels, and it is of the passages that the generator saw. An empty context gives 0.
    """

    name: ClassVar[str] = "answer-in-context"
    description: ClassVar[str] = (
        "1 if the context contains a gold answer, else 0: the best that a reader of the context "
        "alone could do."
    )
    requires: ClassVar[frozenset[str]] = frozenset({"gold_answers", "context"})

    def values(self, pairs: AnswerBatch) -> Values:
        """Return 1 or 0 per pair."""
        shown = [
            [p.text for p in context.passages] if context else [] for context in pairs.contexts
        ]
        owner = [i for i, texts in enumerate(shown) for _ in texts]
        passages = AnswerBatch(
            answers=[text for texts in shown for text in texts],
            gold=[pairs.gold[i] for i in owner],
            query_texts=[""] * len(owner),
            contexts=[None] * len(owner),
            languages=[pairs.languages[i] for i in owner],
        )
        found = np.zeros(len(pairs))
        np.maximum.at(found, np.array(owner, np.int64), Match().values(passages))
        return found

    def inapplicable(self, pairs: AnswerBatch) -> dict[int, str]:
        """Name the pairs whose context is not known."""
        reason = "the context that the generator was shown is not known"
        return {i: reason for i, context in enumerate(pairs.contexts) if context is None}


def answer_in_context(texts: Sequence[str], gold_answers: Sequence[str]) -> float:
    """Return 1 where one of the context's texts holds a gold answer, else 0.

    The recall of answer strings that FlashRAG and DPR report as top-k accuracy, with word borders.

    >>> answer_in_context(["Lisbon lies on the Tagus."], ["the Tagus", "Tejo"])
    1.0
    """
    return float(any(occurs(text, gold_answers) for text in texts))
