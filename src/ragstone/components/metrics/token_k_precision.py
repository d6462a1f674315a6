"""token-K-precision: how much of the answer the passages shown have, token by token (K: knowledge).

mtRAG's Bert-K-Precision with an encoder of one's own, the bundled one by default.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

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
    from ragstone.types import Context


@dataclass(frozen=True)
class TokenKPrecision(AnswerMetric):
    """The highest precision of the answer's tokens against a passage of the context.

    It needs no gold answer. An empty answer and an empty context give 0. Not rescaled.
    """

    model: str = "all-minilm-l6-v2"

    name: ClassVar[str] = "token-K-precision"
    requires_extra = "local"
    requires: ClassVar[frozenset[str]] = frozenset({"context"})

    @property
    def content_revision(self) -> str:
        """Digest of the model's files."""
        return revision_of(self.model)

    def check(self, services: object = None) -> None:
        """Raise unless the encoder's files and the packages that run it are there."""
        check_encoder(self.model)

    def values(self, pairs: AnswerBatch) -> Values:
        """Return the precision per pair."""
        return np.array(list(map(self._one, pairs.answers, pairs.contexts)), float)

    def inapplicable(self, pairs: AnswerBatch) -> dict[int, str]:
        """Name the pairs whose context is not known."""
        reason = "the context that the generator was shown is not known"
        return {i: reason for i, context in enumerate(pairs.contexts) if context is None}

    def _one(self, answer: str, context: Context | None) -> float:
        encoder = load_encoder(self.model)
        said = encoder.vectors(answer)
        texts = [passage.text for passage in context.passages] if context else []
        found = [greedy_match(said, encoder.vectors(text)).precision for text in texts]
        return max(0.0, *found) if found else 0.0
