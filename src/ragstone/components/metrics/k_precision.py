"""K-precision: how many of the answer's words occur in the context."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from ragstone.components.metrics.base import AnswerMetric

if TYPE_CHECKING:
    from ragstone.components.metrics.answer_batch import AnswerBatch
    from ragstone.components.metrics.arrays import Values

_WORD: Final = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class KPrecision(AnswerMetric):
    """The share of the answer's words that occur in the passages shown: a cheap faithfulness.

    Adlakha et al., TACL 2024. Words are runs of letters and digits in lower case; repeated words of
    the answer count each time. On BEGIN's dev set it separates attributable responses from others
    with an AUC of 0.947 (wow) and 0.969 (cmu).
    """

    name: ClassVar[str] = "K-precision"
    requires: ClassVar[frozenset[str]] = frozenset({"context"})

    def values(self, pairs: AnswerBatch) -> Values:
        """Return the share per pair."""
        return np.array(list(map(_share, pairs.answers, pairs.shown)), float)

    def inapplicable(self, pairs: AnswerBatch) -> dict[int, str]:
        """Return the reasons for pairs without a context, and for answers without a word."""
        found = {}
        for place, (answer, context) in enumerate(zip(pairs.answers, pairs.contexts, strict=True)):
            if context is None or not context.passages:
                found[place] = "no context was shown, or it is not known"
            elif answer.strip() and not _WORD.search(answer):
                found[place] = "the answer contains no word"
        return found


def _share(answer: str, texts: Sequence[str]) -> float:
    words = _WORD.findall(answer.lower())
    known = {word for text in texts for word in _WORD.findall(text.lower())}
    return sum(word in known for word in words) / len(words) if words else 0.0
