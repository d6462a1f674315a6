"""answer-in-context: whether the context shows a gold answer at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ragstone.metrics.kinds import AnswerMetric
from ragstone.metrics.match import occurs

if TYPE_CHECKING:
    from ragstone.metrics.kinds import Values
    from ragstone.metrics.pairs import Pairs
    from ragstone.types import Context


@dataclass(frozen=True)
class AnswerInContext(AnswerMetric):
    """1 where a passage of the context holds a gold answer as whole words (see `Match`), else 0.

    It needs no qrels, and it is of the passages that the generator saw. An empty context gives 0.
    """

    name: ClassVar[str] = "answer-in-context"
    requires: ClassVar[frozenset[str]] = frozenset({"gold_answers", "context"})

    def values(self, pairs: Pairs) -> Values:
        """Return 1 or 0 per pair."""
        columns = (pairs.contexts, pairs.gold, pairs.languages)
        return np.array(list(map(_one, *columns)), float)

    def inapplicable(self, pairs: Pairs) -> dict[int, str]:
        """Name the pairs whose context is not known."""
        reason = "the context that the generator was shown is not known"
        return {i: reason for i, context in enumerate(pairs.contexts) if context is None}


def _one(context: Context | None, gold: Sequence[str], language: str) -> bool:
    texts = [passage.text for passage in context.passages] if context else []
    return any(occurs(text, gold, language) for text in texts)


def answer_in_context(texts: Sequence[str], gold_answers: Sequence[str]) -> float:
    """Return 1 where one of the context's texts holds a gold answer, else 0.

    The recall of answer strings that FlashRAG and DPR report as top-k accuracy, with word borders.

    >>> answer_in_context(["Lisbon lies on the Tagus."], ["the Tagus", "Tejo"])
    1.0
    """
    return float(any(occurs(text, gold_answers) for text in texts))
