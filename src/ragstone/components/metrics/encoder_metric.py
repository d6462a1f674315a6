"""The base of metrics that run an encoder of your choice, by default the bundled one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ragstone.components.metrics.base import AnswerMetric
from ragstone.components.metrics.bert_encoder import load_bundled
from ragstone.models.onnx_encoder import check_runnable, digest_of

if TYPE_CHECKING:
    from ragstone.components.metrics.arrays import Values
    from ragstone.components.metrics.bert_encoder import TextPair
    from ragstone.protocols import Services


class EncoderMetric(AnswerMetric):
    """A metric that runs an encoder without torch.

    Args:
        model: name of a bundled encoder, or the folder of another.
    """

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
        """Return the precision, recall or F1 of each pair of texts; at least 0."""
        scores = load_bundled(self.model).scores(texts)
        return np.array([max(0.0, getattr(score, part)) for score in scores], float)
