"""token-K-precision: the answer's tokens found in the context.

It matches tokens like Bert-K-Precision, which is the name of the published models and baselines.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ragstone.components.metrics.encoder_metric import EncoderMetric

if TYPE_CHECKING:
    from ragstone.components.metrics.answer_batch import AnswerBatch
    from ragstone.components.metrics.arrays import Values


@dataclass(frozen=True)
class TokenKPrecision(EncoderMetric):
    """The highest precision of the answer's tokens against a passage of the context.

    K is for knowledge. It needs no gold answer. An empty answer and an empty context give 0. Not
    rescaled.

    Formula: mean over the answer's tokens of the highest cosine with a token of one passage,
    the best passage.

    Source: Bert-K-Precision of MTRAG, Katsis et al., TACL 2025, with another encoder.

    Trap: unrelated texts get well above 0.
    """

    model: str = "all-minilm-l6-v2"

    name: ClassVar[str] = "token-K-precision"
    requires_extra = "local"
    requires: ClassVar[frozenset[str]] = frozenset({"context"})

    def values(self, pairs: AnswerBatch) -> Values:
        """Return the precision per pair."""
        return pairs.best_passage(self._matches(pairs.with_passages, "precision"))
