"""semantic-similarity: the cosine of answer and gold answer as whole texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ragstone.components.metrics.base import AnswerMetric
from ragstone.components.metrics.greedy_matching import check_encoder, load_encoder, revision_of

if TYPE_CHECKING:
    from ragstone.components.metrics.answer_batch import AnswerBatch
    from ragstone.components.metrics.arrays import Values


@dataclass(frozen=True)
class SemanticSimilarity(AnswerMetric):
    """The highest cosine with a gold answer, of a sentence encoder's vectors; below 0 counts 0.

    A blank answer gives 0: it has no meaning to compare.
    """

    model: str = "all-minilm-l6-v2"

    name: ClassVar[str] = "semantic-similarity"
    requires_extra = "local"

    @property
    def content_revision(self) -> str:
        """Digest of the model's files."""
        return revision_of(self.model)

    def check(self, services: object = None) -> None:
        """Raise unless the encoder's files and the packages that run it are there."""
        check_encoder(self.model)

    def values(self, pairs: AnswerBatch) -> Values:
        """Return the cosine per pair."""
        return np.array(list(map(self._one, pairs.answers, pairs.gold)), float)

    def _one(self, answer: str, gold: Sequence[str]) -> float:
        if not answer or answer.isspace():
            return 0.0
        encoder = load_encoder(self.model)
        said = encoder.sentence(answer).astype(np.float64)
        # Rounding may push the cosine of a text with itself a little above 1.
        return min(1.0, max(0.0, *(float(said @ encoder.sentence(label)) for label in gold)))
