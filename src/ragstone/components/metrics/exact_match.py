"""EM: whether the answer is one of the gold answers, after normalisation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from ragstone.components.metrics.answer_batch import AnswerBatch
from ragstone.components.metrics.base import AnswerMetric
from ragstone.components.metrics.published_normalisers import squad_normal

if TYPE_CHECKING:
    from ragstone.components.metrics.arrays import Values


@dataclass(frozen=True)
class ExactMatch(AnswerMetric):
    """1 where answer and a gold answer have the same words, else 0.

    Variants: "squad" is SQuAD's script (BERGEN's EM is the same), "mirage" the released scorer's
    strict form, which only lowers case.
    """

    variant: Literal["corrected", "squad", "mirage"] = "corrected"

    name: ClassVar[str] = "EM"
    description: ClassVar[str] = (
        "Exact match: 1 if the normalised answer equals a gold answer, else 0."
    )
    synonyms: ClassVar[dict[str, str]] = {"paper": "squad", "bergen": "squad"}

    def values(self, pairs: AnswerBatch) -> Values:
        """Return 1 or 0 per pair."""
        if self.variant == "corrected":
            return pairs.any_lane(pairs.words.equal)
        one = _mirage if self.variant == "mirage" else _squad
        return np.array(list(map(one, pairs.answers, pairs.gold)), float)


def _mirage(answer: str, gold: Sequence[str]) -> bool:
    return answer.lower() in [label.lower() for label in gold]


def _squad(answer: str, gold: Sequence[str]) -> bool:
    return squad_normal(answer) in [squad_normal(label) for label in gold]


def exact_match(answer: str, gold_answers: Sequence[str], *, language: str = "") -> float:
    """Return 1 where the answer has the same words as a gold answer, else 0.

    Rajpurkar et al., EMNLP 2016, with `ragstone.text.normalise`'s words. An empty answer gives 0.

    >>> exact_match("the Eiffel Tower!", ["Eiffel tower"]), exact_match("東京", ["「東京」。"])
    (1.0, 1.0)
    """
    return float(ExactMatch().values(AnswerBatch.of(answer, gold_answers, language=language))[0])
