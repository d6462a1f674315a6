"""char3-recall: the character 3-grams of the gold answer that the answer has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final, Literal

import numpy as np

from ragstone.components.metrics.answer_batch import AnswerBatch
from ragstone.components.metrics.base import AnswerMetric
from ragstone.components.metrics.published_normalisers import char_grams, squad_char3
from ragstone.text.normalise import UNSPACED_RUN, words

if TYPE_CHECKING:
    from ragstone.components.metrics.arrays import Values

N: Final = 3


@dataclass(frozen=True)
class Char3Recall(AnswerMetric):
    """Recall of character 3-grams within words, for the gold answer of which most is found.

    A run of characters without spaces (Chinese, Japanese, Thai, Korean) is one word, and one of
    fewer than three characters is looked for inside the answer's runs: 北京 is in 答案是北京市.

    Variant: "bergen" works on SQuAD-normalised text split at spaces, where 北京 is not found there.
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
            said = Counter(squad_char3(answer))
            return max(_recall(said, squad_char3(label)) for label in gold)
        held = Counter(gram for word in chunks(answer, language) for gram in _all_grams(word))
        return max(_recall(held, _grams(label, language)) for label in gold)


def _recall(said: Counter[str], wanted: Sequence[str]) -> float:
    shared = sum((said & Counter(wanted)).values())
    return shared / len(wanted) if wanted else 0.0


def _grams(label: str, language: str) -> list[str]:
    return [gram for word in chunks(label, language) for gram in char_grams(word, N)]


def _all_grams(word: str) -> list[str]:
    """Return what a gold answer's grams may be found among: in a run, shorter ones too."""
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


def char3_recall(answer: str, gold_answers: Sequence[str], *, language: str = "") -> float:
    """Return the share of a gold answer's character 3-grams that the answer has.

    Chirkova et al., 2024 (multilingual BERGEN), who meant it for answers in other spellings and
    inflections. An empty answer gives 0.

    >>> char3_recall("答案是北京市", ["北京"]), char3_recall("the Moscovites", ["Moscow"])
    (1.0, 0.75)
    """
    return float(Char3Recall().values(AnswerBatch.of(answer, gold_answers, language=language))[0])
