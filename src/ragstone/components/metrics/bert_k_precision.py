"""Bert-K-Precision: how much of the answer a passage shown says too, by meaning (K: knowledge)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ragstone.components.metrics.bert_score import BertScore

if TYPE_CHECKING:
    from ragstone.components.metrics.answer_batch import AnswerBatch
    from ragstone.components.metrics.arrays import Values


@dataclass(frozen=True)
class BertKPrecision(BertScore):
    """The highest BERTScore precision of the answer against a passage of the context.

    Katsis et al., MTRAG, TACL 2025; each passage on its own, rescaled as `BERTScore-P`. It needs no
    gold answer. An empty context gives 0, as in the released figures.
    """

    name: ClassVar[str] = "Bert-K-Precision"
    part: ClassVar[str] = "precision"
    requires: ClassVar[frozenset[str]] = frozenset({"context"})

    def values(self, pairs: AnswerBatch) -> Values:
        """Return the precision per pair, 1 at most."""
        shown = [
            [p.text for p in context.passages] if context else [] for context in pairs.contexts
        ]
        texts = [(pairs.answers[i], text) for i, texts in enumerate(shown) for text in texts]
        found = iter(self.parts(texts).tolist())
        return np.array([max((next(found) for _ in texts), default=0.0) for texts in shown], float)

    def inapplicable(self, pairs: AnswerBatch) -> dict[int, str]:
        """Name the pairs whose context is not known."""
        reason = "the context that the generator was shown is not known"
        return {i: reason for i, context in enumerate(pairs.contexts) if context is None}
