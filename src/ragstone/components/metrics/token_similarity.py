"""token-similarity: similarity of tokens by an encoder.

It matches tokens like BERTScore, which is the name of the published models and baselines.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from ragstone.components.metrics.encoder_metric import EncoderMetric

if TYPE_CHECKING:
    from ragstone.components.metrics.answer_batch import AnswerBatch
    from ragstone.components.metrics.arrays import Values


@dataclass(frozen=True)
class TokenSimilarity(EncoderMetric):
    """F1 (or precision, or recall) of the tokens' cosines, for the gold answer of the highest.

    Not rescaled: unrelated texts get well above 0. An empty answer gives 0.

    Formula: 2 P R / (P + R), of the highest cosine of each token with a token of the other
    text.

    Source: the matching of BERTScore, Zhang et al., ICLR 2020.

    Trap: it is not BERTScore: encoder and scale are others.

    Args:
        of: the value: F1, precision or recall.
    """

    of: Literal["f1", "precision", "recall"] = "f1"
    model: str = "all-minilm-l6-v2"

    name: ClassVar[str] = "token-similarity"
    requires_extra = "local"

    def values(self, pairs: AnswerBatch) -> Values:
        """Return the similarity per pair."""
        return pairs.best_gold(self._matches(pairs.with_labels, self.of))
