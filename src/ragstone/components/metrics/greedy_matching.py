"""BERTScore's matching of two texts by the vectors of their tokens.

Zhang et al., "BERTScore", ICLR 2020, without idf weights: each token of one text is paired with the
most similar token of the other, by cosine. As in the released package, tokens may be paired with
the special tokens around a text, but the special tokens themselves are not counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ragstone.components.metrics.precision_recall import Overlap
from ragstone.errors import ConfigError

if TYPE_CHECKING:
    from ragstone.components.metrics.arrays import Flags, Vectors


def greedy_match(
    answer: Vectors, reference: Vectors, counted: tuple[Flags, Flags] | None = None
) -> Overlap:
    """Return precision, recall and F1 of two texts' token vectors.

    Args:
        answer: vectors of the answer, of shape (tokens, dimension), rows of length 1.
        reference: the same for the gold answer or passage.
        counted: flags of the rows of `answer` and of `reference` that count; by default all but the
            first and the last.

    Returns:
        Means of the highest cosines, from -1 to 1; all 0 if a text has only special tokens, as in
        the released package.

    >>> one, two, mark = np.eye(3, dtype=np.float32)
    >>> greedy_match(np.stack([mark, one, mark]), np.stack([mark, one, two, mark]))
    Overlap(precision=1.0, recall=0.5, f1=0.6666666666666666)
    """
    ours, theirs = counted or (between_marks(len(answer)), between_marks(len(reference)))
    if not (ours.any() and theirs.any()):
        return Overlap()
    cosine = answer.astype(np.float64) @ reference.astype(np.float64).T
    precision = float(cosine.max(axis=1)[ours].mean())
    recall = float(cosine.max(axis=0)[theirs].mean())
    total = precision + recall
    return Overlap(precision, recall, 2 * precision * recall / total if total > 0 else 0.0)


def between_marks(tokens: int) -> Flags:
    """Return flags that are set for all tokens of a text but the first and the last."""
    places = np.arange(tokens)
    return (places > 0) & (places < tokens - 1)


def rescaled(value: float, baseline: float) -> float:
    """Return a BERTScore shifted and scaled so that the baseline becomes 0 and 1 stays 1.

    The baseline is the mean score of unrelated texts; scores below it become negative.

    >>> round(rescaled(0.7585, 0.5170), 4)
    0.5
    """
    if not 0.0 <= baseline < 1.0:
        raise ConfigError(f"the baseline must be from 0 up to 1, found {baseline}")
    return (value - baseline) / (1.0 - baseline)
