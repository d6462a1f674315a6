"""semantic-similarity: cosine of whole texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ragstone.components.metrics.bert_encoder import load_bundled
from ragstone.components.metrics.encoder_metric import EncoderMetric

if TYPE_CHECKING:
    from ragstone.components.metrics.answer_batch import AnswerBatch
    from ragstone.components.metrics.arrays import Values


@dataclass(frozen=True)
class SemanticSimilarity(EncoderMetric):
    """The highest cosine with a gold answer, of a sentence encoder's vectors; at least 0.

    A blank answer gives 0: it has no meaning to compare.

    Formula: max(0, cosine of the vectors of the two texts), for the best gold answer.

    Source: the cosine of Reimers and Gurevych, Sentence-BERT, EMNLP 2019. The metric SAS of Risch
    et al., 2021, is a cross-encoder and has other values.

    Trap: a negation hardly changes it.
    """

    model: str = "all-minilm-l6-v2"

    name: ClassVar[str] = "semantic-similarity"
    requires_extra = "local"

    def values(self, pairs: AnswerBatch) -> Values:
        """Return the cosine per pair."""
        return np.array(list(map(self._one, pairs.answers, pairs.gold)), float)

    def _one(self, answer: str, gold: Sequence[str]) -> float:
        if not answer or answer.isspace():
            return 0.0
        encoder = load_bundled(self.model).encoder
        vector = encoder.run(answer, "mean").astype(np.float64)
        cosines = [float(vector @ encoder.run(label, "mean")) for label in gold]
        # Rounding may push the cosine of a text with itself a little above 1.
        return min(1.0, max(0.0, *cosines))
