"""Answers and what they are held against: the columns that every answer metric reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ragstone.components.metrics.fast_tokens import Texts, cut
from ragstone.components.metrics.token_overlap import TokenOverlap

if TYPE_CHECKING:
    from ragstone.components.metrics.arrays import Values
    from ragstone.components.metrics.fast_tokens import Flags, Ints
    from ragstone.types import Context


@dataclass(frozen=True)
class AnswerBatch:
    """Equally long columns, one place per answer; what was computed once is shared by metrics."""

    answers: Sequence[str]
    gold: Sequence[tuple[str, ...]]
    """Gold answers that are not blank; metrics that need them are asked of pairs that have them."""
    query_texts: Sequence[str]
    contexts: Sequence[Context | None]
    languages: Sequence[str]
    """Language codes where the data set states them, else empty."""
    answerability: Sequence[str] = ()
    """Labels of that name, empty where a query has none; none at all where nobody knows them."""

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.answers)

    @cached_property
    def labels(self) -> list[str]:
        """All gold answers, pair by pair; the place of one in this list is its lane."""
        return [label for gold in self.gold for label in gold]

    @cached_property
    def lane_pair(self) -> Ints:
        """The pair of each lane."""
        return np.repeat(np.arange(len(self)), [len(gold) for gold in self.gold])

    @cached_property
    def _cut(self) -> tuple[Texts, Texts]:
        spoken = [self.languages[pair] for pair in self.lane_pair.tolist()]
        return cut(self.answers, self.languages), cut(self.labels, spoken)

    @cached_property
    def words(self) -> TokenOverlap:
        """Answers against gold answers, by words."""
        answers, labels = self._cut
        return TokenOverlap(answers.words, labels.words, self.lane_pair)

    @cached_property
    def pieces(self) -> TokenOverlap:
        """Answers against gold answers, by pieces."""
        answers, labels = self._cut
        return TokenOverlap(answers.pieces, labels.pieces, self.lane_pair)

    @property
    def signs_inside(self) -> Flags:
        """Whether a word of the answer or of a gold answer has a sign inside."""
        answers, labels = self._cut
        inside: Flags = (answers.tails > 0) | (self.any_lane(labels.tails > 0) > 0)
        return inside

    def any_lane(self, flags: Flags) -> Values:
        """Return 1 for the pairs with a lane that is flagged, else 0."""
        found = np.bincount(self.lane_pair[flags], minlength=len(self))
        return (found > 0).astype(np.float64)

    def best_lane(self, values: Values) -> Values:
        """Return the highest value of each pair's lanes; 0 where it has none."""
        best = np.zeros(len(self))
        np.maximum.at(best, self.lane_pair, values)
        return best

    @classmethod
    def of(
        cls, answer: str, gold: Sequence[str] = (), query: str = "", language: str = ""
    ) -> AnswerBatch:
        """Return a single pair."""
        return cls([answer], [without_blank(gold)], [query], [None], [language])

    def take(self, chosen: Sequence[int]) -> AnswerBatch:
        """Return the pairs at some positions."""
        return AnswerBatch(
            answers=[self.answers[i] for i in chosen],
            gold=[self.gold[i] for i in chosen],
            query_texts=[self.query_texts[i] for i in chosen],
            contexts=[self.contexts[i] for i in chosen],
            languages=[self.languages[i] for i in chosen],
            answerability=[self.answerability[i] for i in chosen] if self.answerability else (),
        )


def without_blank(gold: Sequence[str]) -> tuple[str, ...]:
    """Return the gold answers that hold anything but white space."""
    return tuple(answer for answer in gold if answer and not answer.isspace())
