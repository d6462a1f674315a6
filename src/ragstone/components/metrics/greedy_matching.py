"""Texts as the vectors of their tokens, and how well two such texts match (BERTScore's matching).

Zhang et al., "BERTScore", ICLR 2020, without idf weights: each token of one text is paired with the
most similar token of the other, by cosine. As in the released package the marks that begin and end
a text may be paired with, but are not counted themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ragstone.components.metrics.precision_recall import Overlap
from ragstone.errors import ConfigError

if TYPE_CHECKING:
    import numpy.typing as npt

    Vectors = npt.NDArray[np.float32]
    Flags = npt.NDArray[np.bool_]

PLACES = 512
"""Tokens of a text that are read; what is beyond is cut."""


def greedy_match(said: Vectors, wanted: Vectors, own: tuple[Flags, Flags] | None = None) -> Overlap:
    """Return precision, recall and F1 of two texts' token vectors.

    Args:
        said: of shape (tokens, dimension), rows of length 1.
        wanted: the same of the gold answer or passage.
        own: which rows of `said` and of `wanted` are tokens of the text itself, and count; all but
            the first and the last, which are marks, where not given.

    Returns:
        Means of the highest cosines, from -1 to 1; all 0 where a text has no token of its own, as
        in the released package.

    >>> one, two, mark = np.eye(3, dtype=np.float32)
    >>> greedy_match(np.stack([mark, one, mark]), np.stack([mark, one, two, mark]))
    Overlap(precision=1.0, recall=0.5, f1=0.6666666666666666)
    """
    ours, theirs = own or (_between_marks(len(said)), _between_marks(len(wanted)))
    if not (ours.any() and theirs.any()):
        return Overlap()
    cosine = said.astype(np.float64) @ wanted.astype(np.float64).T
    precision = float(cosine.max(axis=1)[ours].mean())
    recall = float(cosine.max(axis=0)[theirs].mean())
    total = precision + recall
    return Overlap(precision, recall, 2 * precision * recall / total if total > 0 else 0.0)


def _between_marks(tokens: int) -> Flags:
    places = np.arange(tokens)
    return (places > 0) & (places < tokens - 1)


def rescaled(value: float, baseline: float) -> float:
    """Return a BERTScore such that what unrelated texts get becomes 0, and 1 stays 1.

    For microsoft/deberta-xlarge-mnli at layer 40 the released baseline is 0.5169 for precision,
    0.5170 for recall and 0.5150 for F1. Values below the baseline become negative.

    >>> round(rescaled(0.7585, 0.5170), 4)
    0.5
    """
    if not 0.0 <= baseline < 1.0:
        raise ConfigError(f"the baseline must be from 0 up to 1, found {baseline}")
    return (value - baseline) / (1.0 - baseline)


@dataclass(frozen=True)
class TokenEncoder:
    """A BERT encoder, run without torch."""

    encoder: Any

    def vectors(self, text: str) -> Vectors:
        """Return the vectors of the text's tokens, rows of length 1, marks first and last."""
        found = self.encoder.run(text, "tokens")
        length = np.linalg.norm(found, axis=1, keepdims=True)
        rows: Vectors = found / np.maximum(length, np.finfo(np.float32).tiny)
        return rows

    def sentence(self, text: str) -> Vectors:
        """Return the vector of the whole text, of shape (dimension,) and length 1."""
        vector: Vectors = self.encoder.run(text, "mean")
        return vector


@lru_cache(maxsize=2)
def load_encoder(model: str) -> TokenEncoder:
    """Return a bundled encoder by name, or one from a folder with a BERT encoder's files."""
    from ragstone.components.embedders.minilm import load_minilm

    return TokenEncoder(load_minilm(model, "float32", PLACES))


def check_encoder(model: str) -> None:
    """Raise `MissingDependency` or `ModelFileError` where an encoder cannot be loaded."""
    from ragstone.models.onnx_encoder import check_runnable

    check_runnable(model, "minilm")


def revision_of(model: str) -> str:
    """Return the digest of a model's files."""
    from ragstone.models.onnx_encoder import digest_of

    return digest_of(model)
