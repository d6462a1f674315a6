"""language-match: whether the answer is in the language of the query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ragstone.components.metrics.base import AnswerMetric
from ragstone.core.component import IN_CACHE_KEY_IF_SET
from ragstone.text.language import SHORT, likely_language, query_language, tells_no_language
from ragstone.text.language_names import base_code, checked_code, one_language

if TYPE_CHECKING:
    from ragstone.components.metrics.answer_batch import AnswerBatch
    from ragstone.components.metrics.arrays import Values
    from ragstone.protocols import Services


@dataclass(frozen=True)
class LanguageMatch(AnswerMetric):
    """1 if the answer is in the language of the query by fastText's lid.176, else 0.

    The mean is the correct-language rate of multilingual BERGEN (Chirkova et al., 2024). The
    expected language is the query's label `language`, else the recognised one of its text. An
    answer of at most 20 characters, or of at most three words with spaces between them, is too
    short to tell, and has no value.

    A text under 50 characters is recognised among few languages, unless all of them are improbable:
    the expected one, those of the passages that were shown, English and `languages`. The value
    depends on its own query alone, never on the other queries of a sample.

    Formula: 1 if the recognised language is the expected one.

    Source: Chirkova et al., 2024.

    Trap: names and short answers are recognised badly.

    Args:
        longer_than: the rule of BERGEN: the metric does not apply to answers of n characters or
            fewer, and any longer text is recognised among all languages. (The short ones are -1 in
            BERGEN, and one of its two scorers adds them to the sum.)
        languages: further languages of short answers, such as those of the prompts.
    """

    longer_than: int | None = None
    languages: tuple[str, ...] = field(default=(), metadata=IN_CACHE_KEY_IF_SET)

    name: ClassVar[str] = "language-match"
    graded: ClassVar[bool] = False
    requires_extra = "lang"
    description: ClassVar[str] = (
        "1 if the answer is in the expected language, else 0. It does not apply to answers that "
        "are too short to tell their language."
    )
    requires: ClassVar[frozenset[str]] = frozenset()

    def __post_init__(self) -> None:
        """Raise `ConfigError` for an unknown language."""
        for language in self.languages:
            checked_code(language)

    def check(self, services: Services) -> None:
        """Raise `MissingDependency` if the package with lid.176 is not installed."""
        likely_language("", ())

    def values(self, pairs: AnswerBatch) -> Values:
        """Return 1 or 0 per pair."""
        skipped = self.inapplicable(pairs)
        values = np.zeros(len(pairs))
        for i in set(range(len(pairs))) - skipped.keys():
            values[i] = self._is_in_language(pairs, i)
        return values

    def _is_in_language(self, pairs: AnswerBatch, i: int) -> bool:
        answer, query, stated = (
            pairs.answers[i],
            pairs.query_texts[i],
            base_code(pairs.languages[i]),
        )
        if self.longer_than is not None:
            return likely_language(answer, None) == (stated or likely_language(query, None))
        known = set(map(checked_code, self.languages))
        if len(answer) < SHORT:
            known |= _languages_of(pairs.shown[i])
        expected = one_language(stated or query_language(query, {}) or likely_language(query, None))
        return one_language(likely_language(answer, {*known, expected})) == expected

    def inapplicable(self, pairs: AnswerBatch) -> dict[int, str]:
        """Return the reasons for answers, and for queries without a label, that are too short."""
        found = {}
        for i, answer in enumerate(pairs.answers):
            if self._is_short(answer):
                found[i] = f"the answer is {self._limit}"
            elif not pairs.languages[i] and self._is_short(pairs.query_texts[i]):
                found[i] = f"the query has no label 'language', and is {self._limit}"
        return found

    def _is_short(self, text: str) -> bool:
        return (
            tells_no_language(text) if self.longer_than is None else len(text) <= self.longer_than
        )

    @property
    def _limit(self) -> str:
        if self.longer_than is None:
            return "too short to tell"
        return f"of {self.longer_than} characters or fewer: too short to identify its language"


def _languages_of(passages: Sequence[str]) -> set[str]:
    return {language for text in passages if (language := query_language(text, {}))}
