"""token-similarity: BERTScore's matching with an encoder of one's own, the bundled one by default.

Not BERTScore: that name is for the models and baselines that were published under it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from ragstone.components.metrics.base import AnswerMetric
from ragstone.components.metrics.greedy_matching import (
    check_encoder,
    greedy_match,
    load_encoder,
    revision_of,
)

if TYPE_CHECKING:
    from ragstone.components.metrics.answer_batch import AnswerBatch
    from ragstone.components.metrics.arrays import Values


@dataclass(frozen=True)
class TokenSimilarity(AnswerMetric):
    """F1 (or precision, or recall) of the tokens' cosines, for the gold answer of the highest.

    Not rescaled: unrelated texts get well above 0. An empty answer gives 0.
    """

    of: Literal["f1", "precision", "recall"] = "f1"
    model: str = "all-minilm-l6-v2"

    name: ClassVar[str] = "token-similarity"
    requires_extra = "local"

    @property
    def content_revision(self) -> str:
        """Digest of the model's files."""
        return revision_of(self.model)

    def check(self, services: object = None) -> None:
        """Raise unless the encoder's files and the packages that run it are there."""
        check_encoder(self.model)

    def values(self, pairs: AnswerBatch) -> Values:
        """Return the similarity per pair."""
        return np.array(list(map(self._one, pairs.answers, pairs.gold)), float)

    def _one(self, answer: str, gold: Sequence[str]) -> float:
        encoder = load_encoder(self.model)
        said = encoder.vectors(answer)
        found = [greedy_match(said, encoder.vectors(label)) for label in gold]
        return max(0.0, *(float(getattr(one, self.of)) for one in found))
