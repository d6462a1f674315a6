"""char3-recall: the character 3-grams of the gold answer that the answer contains."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final, Literal

import numpy as np

from ragstone.components.metrics.base import AnswerMetric
from ragstone.components.metrics.published_normalisers import char_grams, squad_words
from ragstone.text.normalise import UNSPACED_RUN, words

if TYPE_CHECKING:
    from ragstone.components.metrics.answer_batch import AnswerBatch
    from ragstone.components.metrics.arrays import Values

N: Final = 3


@dataclass(frozen=True)
class Char3Recall(AnswerMetric):
    """Recall of character 3-grams within words, maximum over the gold answers.

    Chirkova et al., 2024 (multilingual BERGEN), for answers in other spellings and inflections. An
    empty answer gives 0.

    A run of characters without spaces (Chinese, Japanese, Thai, Korean) is one word. If it has
    fewer than three characters, it is searched in the runs of the answer: 北京 is in 答案是北京市.

    Formula: character 3-grams of the gold answer that the answer has / all of them.

    Source: Chirkova et al., 2024.

    Trap: long answers have many 3-grams.

    Args:
        variant: "bergen" works on SQuAD-normalised text split at spaces. It does not find 北京
            there.
    """

    variant: Literal["corrected", "bergen"] = "corrected"

    name: ClassVar[str] = "char3-recall"
    description: ClassVar[str] = (
        "The share of a gold answer's character 3-grams that occur in the answer. It forgives "
        "spelling and inflection."
    )
    synonyms: ClassVar[dict[str, str]] = {"paper": "bergen"}

    def values(self, pairs: AnswerBatch) -> Values:
        """Return recall per pair."""
        columns = (pairs.answers, pairs.gold, pairs.languages)
        return np.array(list(map(self._one, *columns)), float)

    def _one(self, answer: str, gold: Sequence[str], language: str) -> float:
        if self.variant == "bergen":
            answered = Counter(_grams(squad_words(answer)))
            return max(_recall(answered, _grams(squad_words(label))) for label in gold)
        answered = Counter(gram for word in chunks(answer, language) for gram in _all_grams(word))
        return max(_recall(answered, _grams(chunks(label, language))) for label in gold)


def _recall(answered: Counter[str], gold: Sequence[str]) -> float:
    shared = sum((answered & Counter(gold)).values())
    return shared / len(gold) if gold else 0.0


def _grams(found: Sequence[str]) -> list[str]:
    return [gram for word in found for gram in char_grams(word, N)]


def _all_grams(word: str) -> list[str]:
    """Return the 3-grams of a word of the answer; of a run, the shorter n-grams as well."""
    sizes = range(1, min(N, len(word)) + 1) if UNSPACED_RUN.fullmatch(word) else (N,)
    return [gram for n in sizes for gram in char_grams(word, n)]


def chunks(text: str, language: str = "") -> list[str]:
    """Return the words of a text, neighbouring characters of scripts without spaces as one.

    >>> chunks("The answer is 北京市, in China")
    ['answer', 'is', '北京市', 'in', 'china']
    """
    found: list[str] = []
    run = False
    for word in words(text, language):
        unspaced = UNSPACED_RUN.fullmatch(word) is not None
        if unspaced and run:
            found[-1] += word
        else:
            found.append(word)
        run = unspaced
    return found
