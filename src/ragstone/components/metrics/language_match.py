"""language-match: whether the answer is in the language of the query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ragstone.components.metrics.base import AnswerMetric
from ragstone.text.language import language_of

if TYPE_CHECKING:
    from ragstone.components.metrics.answer_batch import AnswerBatch
    from ragstone.components.metrics.arrays import Values


@dataclass(frozen=True)
class LanguageMatch(AnswerMetric):
    """1 where the answer's language, as fastText's lid.176 guesses it, is the query's, else 0.

    The mean is the correct-language rate of multilingual BERGEN (Chirkova et al., 2024). Guesses
    about short texts are worthless, so that answers of `longer_than` characters or fewer are not
    applicable (-1 in BERGEN, where one of its two scorers adds those to the sum). The wanted
    language is the query's label `language`, or else guessed from the query.
    """

    longer_than: int = 20

    name: ClassVar[str] = "language-match"
    requires_extra = "lang"
    description: ClassVar[str] = "1 if the answer is in the expected language, else 0."
    requires: ClassVar[frozenset[str]] = frozenset()

    def check(self, services: object = None) -> None:
        """Raise `MissingDependency` if the package with lid.176 is not installed."""
        language_of("", by_model=True)

    def values(self, pairs: AnswerBatch) -> Values:
        """Return 1 or 0 per pair."""
        skipped = self.inapplicable(pairs)
        return np.array(
            [
                i not in skipped
                and language_of(pairs.answers[i], by_model=True) == self._wanted(pairs, i)
                for i in range(len(pairs))
            ],
            float,
        )

    def inapplicable(self, pairs: AnswerBatch) -> dict[int, str]:
        """Name the pairs whose answer, or whose query without a label, is too short to judge."""
        limit = f"of {self.longer_than} characters or fewer: too short to tell its language"
        found = {}
        for i, answer in enumerate(pairs.answers):
            if len(answer) <= self.longer_than:
                found[i] = f"the answer is {limit}"
            elif not pairs.languages[i] and len(pairs.query_texts[i]) <= self.longer_than:
                found[i] = f"the query has no label 'language', and is {limit}"
        return found

    def _wanted(self, pairs: AnswerBatch, i: int) -> str:
        stated = pairs.languages[i].lower().partition("-")[0]
        return stated or language_of(pairs.query_texts[i], by_model=True)
