"""F1: the words that answer and gold answer share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from ragstone.components.metrics.answer_batch import AnswerBatch
from ragstone.components.metrics.base import AnswerMetric
from ragstone.components.metrics.precision_recall import Overlap, best, many_rates, overlap
from ragstone.components.metrics.published_normalisers import mirage_overlap, squad_words

if TYPE_CHECKING:
    from ragstone.components.metrics.arrays import Values


@dataclass(frozen=True)
class TokenF1(AnswerMetric):
    """F1 of the answer's words against those of the gold answer that gives the highest F1.

    Variants: "squad" uses SQuAD's normalisation (BERGEN's F1 is the same), "mirage" compares the
    set of the answer's words with the united set of all gold answers', so that a gold answer
    itself scores below 1 where there are several.
    """

    variant: Literal["corrected", "squad", "mirage"] = "corrected"

    name: ClassVar[str] = "F1"
    description: ClassVar[str] = (
        "Token F1: the harmonic mean of token precision and token recall against the best- "
        "matching gold answer. Long answers lose precision."
    )
    synonyms: ClassVar[dict[str, str]] = {"paper": "mirage", "bergen": "squad"}

    def values(self, pairs: AnswerBatch) -> Values:
        """Return F1 per pair."""
        if self.variant == "corrected":
            return best_rates(pairs)[2]
        one = mirage_overlap if self.variant == "mirage" else _squad
        return np.array([one(a, g).f1 for a, g in zip(pairs.answers, pairs.gold, strict=True)])


def _squad(answer: str, gold: Sequence[str]) -> Overlap:
    said = squad_words(answer)
    return best(overlap(said, squad_words(label)) for label in gold)


def best_rates(pairs: AnswerBatch) -> tuple[Values, Values, Values]:
    """Return precision, recall and F1 against each pair's gold answer of highest F1.

    All three belong to one gold answer: the first of those with the highest F1.
    """
    words, lanes = pairs.words, np.arange(len(pairs.lane_pair))
    found = many_rates(words.shared, words.answers.counts[pairs.lane_pair], words.gold.counts)
    top = pairs.best_lane(found[2])
    first = np.full(len(pairs), len(lanes))
    np.minimum.at(
        first,
        pairs.lane_pair,
        np.where(found[2] == top[pairs.lane_pair], lanes, first.max(initial=0)),
    )
    precision, recall, f1 = (np.append(rate, 0.0)[first] for rate in found)
    return precision, recall, f1


def token_f1(answer: str, gold_answers: Sequence[str], *, language: str = "") -> float:
    """Return the highest F1 of the answer's words against a gold answer's.

    Rajpurkar et al., EMNLP 2016, with `ragstone.text.normalise`'s words. An empty answer gives 0.

    >>> token_f1("the capital is Paris", ["Paris", "Paris, France"])
    0.5
    """
    return float(TokenF1().values(AnswerBatch.of(answer, gold_answers, language=language))[0])
