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
    from ragstone.protocols import Services


@dataclass(frozen=True)
class LanguageMatch(AnswerMetric):
    """1 if fastText's lid.176 guesses the expected language for the answer, else 0.

    The mean is the correct-language rate of multilingual BERGEN (Chirkova et al., 2024). The
    expected language is the query's label `language`, else a guess from the query.

    Args:
        longer_than: the metric does not apply to answers of n characters or fewer, for which
            guesses are unreliable. (They are -1 in BERGEN, and one of its two scorers adds them to
            the sum.)
    """

    longer_than: int = 20

    name: ClassVar[str] = "language-match"
    graded: ClassVar[bool] = False
    requires_extra = "lang"
    description: ClassVar[str] = "1 if the answer is in the expected language, else 0."
    requires: ClassVar[frozenset[str]] = frozenset()

    def check(self, services: Services) -> None:
        """Raise `MissingDependency` if the package with lid.176 is not installed."""
        language_of("", by_model=True)

    def values(self, pairs: AnswerBatch) -> Values:
        """Return 1 or 0 per pair."""
        skipped = self.inapplicable(pairs)
        values = np.zeros(len(pairs))
        for i in set(range(len(pairs))) - skipped.keys():
            stated = pairs.languages[i].lower().partition("-")[0]
            expected = stated or language_of(pairs.query_texts[i], by_model=True)
            values[i] = language_of(pairs.answers[i], by_model=True) == expected
        return values

    def inapplicable(self, pairs: AnswerBatch) -> dict[int, str]:
        """Return the reasons for answers, and for queries without a label, that are too short."""
        limit = f"of {self.longer_than} characters or fewer: too short to identify its language"
        found = {}
        for i, answer in enumerate(pairs.answers):
            if len(answer) <= self.longer_than:
                found[i] = f"the answer is {limit}"
            elif not pairs.languages[i] and len(pairs.query_texts[i]) <= self.longer_than:
                found[i] = f"the query has no label 'language', and is {limit}"
        return found
