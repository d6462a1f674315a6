"""Similarity by an encoder of your choice, by default the bundled one.

token-similarity and token-K-precision match tokens like BERTScore and Bert-K-Precision. They have
other names because those are for the models and baselines that were published under them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from ragstone.components.metrics.base import AnswerMetric
from ragstone.components.metrics.bert_encoder import load_bundled
from ragstone.models.onnx_encoder import check_runnable, digest_of

if TYPE_CHECKING:
    from ragstone.components.metrics.answer_batch import AnswerBatch
    from ragstone.components.metrics.arrays import Values
    from ragstone.components.metrics.bert_encoder import TextPair
    from ragstone.protocols import Services


class EncoderMetric(AnswerMetric):
    """A metric that runs an encoder without torch: `model` is its name or its folder."""

    model: str
    requires_extra = "local"

    @property
    def content_revision(self) -> str:
        """Digest of the model's files."""
        return digest_of(self.model)

    def check(self, services: Services) -> None:
        """Raise if the encoder's files, or the packages that run it, are missing."""
        check_runnable(self.model, "minilm")

    def _matches(self, texts: list[TextPair], part: str) -> Values:
        """Return the precision, recall or F1 of each pair of texts; below 0 counts 0."""
        scores = load_bundled(self.model).scores(texts)
        return np.array([max(0.0, getattr(score, part)) for score in scores], float)


@dataclass(frozen=True)
class TokenSimilarity(EncoderMetric):
    """F1 (or precision, or recall) of the tokens' cosines, for the gold answer of the highest.

    Not rescaled: unrelated texts get well above 0. An empty answer gives 0.
    """

    of: Literal["f1", "precision", "recall"] = "f1"
    model: str = "all-minilm-l6-v2"

    name: ClassVar[str] = "token-similarity"

    def values(self, pairs: AnswerBatch) -> Values:
        """Return the similarity per pair."""
        return pairs.best_lane(self._matches(pairs.with_labels, self.of))


@dataclass(frozen=True)
class TokenKPrecision(EncoderMetric):
    """The highest precision of the answer's tokens against a passage of the context.

    K is for knowledge. It needs no gold answer. An empty answer and an empty context give 0. Not
    rescaled.
    """

    model: str = "all-minilm-l6-v2"

    name: ClassVar[str] = "token-K-precision"
    requires: ClassVar[frozenset[str]] = frozenset({"context"})

    def values(self, pairs: AnswerBatch) -> Values:
        """Return the precision per pair."""
        return pairs.best_passage(self._matches(pairs.with_passages, "precision"))


@dataclass(frozen=True)
class SemanticSimilarity(EncoderMetric):
    """The highest cosine with a gold answer, of a sentence encoder's vectors; below 0 counts 0.

    A blank answer gives 0: it has no meaning to compare.
    """

    model: str = "all-minilm-l6-v2"

    name: ClassVar[str] = "semantic-similarity"

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
