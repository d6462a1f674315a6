"""Answers with their gold answers and contexts: the input of every answer metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Final

import numpy as np

from ragstone.components.metrics.compiled_tokens import CutTexts, cut_texts, token_overlap
from ragstone.components.metrics.published_normalisers import ascii_tokens, squad_tokens
from ragstone.components.metrics.token_overlap import GoldTokens
from ragstone.core import limits

if TYPE_CHECKING:
    from ragstone.components.metrics.arrays import Flags, Ints, Values
    from ragstone.components.metrics.fast_tokens import Texts
    from ragstone.components.metrics.token_overlap import TokenOverlap
    from ragstone.types import Context, Label, Prediction

_KEPT_CHARACTERS: Final = 1 << 17
"""Characters of the gold answers of a block that is kept: its tokens take about 20 times as much.
"""


@dataclass(frozen=True)
class AnswerBatch:
    """Columns of equal length, one entry per pair of an answer and its gold answers.

    Intermediate results are computed once and shared by the metrics.
    """

    answers: Sequence[str]
    gold: Sequence[tuple[str, ...]]
    """Gold answers that are not blank; metrics that need them only get pairs that have some."""
    query_texts: Sequence[str]
    contexts: Sequence[Context | None]
    languages: Sequence[str]
    """Language codes; empty if the data set has none."""
    query_labels: Sequence[Mapping[str, Label]] = ()
    """Labels of the queries; () if they are not known."""
    predictions: Sequence[Prediction] = ()
    """The predictions of the answers, for their time and cost; () if they are not known."""

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.answers)

    @cached_property
    def labels(self) -> list[str]:
        """All gold answers, pair by pair; the position in this list is the *gold index*."""
        return self._gold.labels

    @property
    def gold_pair(self) -> Ints:
        """The pair of each gold answer."""
        return self._gold.pair

    @cached_property
    def shown(self) -> list[tuple[str, ...]]:
        """The texts of the passages shown for each answer; () for an unknown context."""
        return [
            tuple(p.text for p in context.passages) if context else () for context in self.contexts
        ]

    @property
    def with_labels(self) -> list[tuple[str, str]]:
        """Answer and gold answer per gold index."""
        return [
            (a, label) for a, gold in zip(self.answers, self.gold, strict=True) for label in gold
        ]

    @property
    def with_passages(self) -> list[tuple[str, str]]:
        """Answer and passage, for each passage of each pair."""
        return [
            (a, text) for a, shown in zip(self.answers, self.shown, strict=True) for text in shown
        ]

    @cached_property
    def passage_pair(self) -> Ints:
        """The pair of each of `with_passages`."""
        return np.repeat(np.arange(len(self)), [len(texts) for texts in self.shown])

    @cached_property
    def _gold(self) -> _GoldBlock:
        return gold_block(tuple(self.gold), tuple(self.languages))

    @cached_property
    def _cut(self) -> CutTexts | Texts:
        return cut_texts(self.answers, self.languages)

    @cached_property
    def words(self) -> TokenOverlap:
        """Overlap of answers and gold answers in words."""
        return token_overlap(self._cut.words, self._gold.words)

    @cached_property
    def pieces(self) -> TokenOverlap:
        """Overlap of answers and gold answers in pieces."""
        return token_overlap(self._cut.pieces, self._gold.pieces)

    @cached_property
    def squad(self) -> TokenOverlap:
        """Overlap of answers and gold answers in the words of SQuAD's script."""
        return token_overlap(squad_tokens(self.answers), self._gold.squad)

    @cached_property
    def ascii_pieces(self) -> TokenOverlap:
        """Overlap of answers and their first gold answers in the pieces of Google's ROUGE."""
        return token_overlap(ascii_tokens(self.answers), self._gold.ascii_pieces)

    @property
    def signs_inside(self) -> Flags:
        """Whether a word of the answer or of a gold answer contains a sign."""
        inside: Flags = (self._cut.tails > 0) | self.any_gold(self._gold.cut.tails > 0)
        return inside

    def any_gold(self, flags: Flags) -> Flags:
        """Return whether a gold answer of each pair is flagged."""
        return np.bincount(self.gold_pair[flags], minlength=len(self)) > 0

    def best_gold(self, values: Values) -> Values:
        """Return the highest value of each pair's gold answers; 0 if it has none."""
        return self._best(self.gold_pair, values)

    def best_passage(self, values: Values) -> Values:
        """Return the highest value of each pair's passages; 0 if it has none."""
        return self._best(self.passage_pair, values)

    def _best(self, owner: Ints, values: Values) -> Values:
        best = np.full(len(self), -np.inf)
        np.maximum.at(best, owner, values)
        return np.where(np.isfinite(best), best, 0.0)

    def take(self, chosen: Sequence[int]) -> AnswerBatch:
        """Return the pairs at some positions."""
        return AnswerBatch(
            answers=[self.answers[i] for i in chosen],
            gold=[self.gold[i] for i in chosen],
            query_texts=[self.query_texts[i] for i in chosen],
            contexts=[self.contexts[i] for i in chosen],
            languages=[self.languages[i] for i in chosen],
            query_labels=[self.query_labels[i] for i in chosen] if self.query_labels else (),
            predictions=[self.predictions[i] for i in chosen] if self.predictions else (),
        )


@dataclass(frozen=True)
class _GoldBlock:
    """The gold answers of a block of pairs, cut once for all systems that answer them."""

    gold: tuple[tuple[str, ...], ...]
    languages: tuple[str, ...]

    @cached_property
    def labels(self) -> list[str]:
        """All gold answers, pair by pair."""
        return list(chain.from_iterable(self.gold))

    @cached_property
    def pair(self) -> Ints:
        """The pair of each gold answer."""
        return np.repeat(np.arange(len(self.gold)), list(map(len, self.gold)))

    @cached_property
    def cut(self) -> CutTexts | Texts:
        """The gold answers as words and as pieces."""
        return cut_texts(self.labels, [self.languages[pair] for pair in self.pair.tolist()])

    @cached_property
    def words(self) -> GoldTokens:
        return GoldTokens(self.cut.words, self.pair)

    @cached_property
    def pieces(self) -> GoldTokens:
        return GoldTokens(self.cut.pieces, self.pair)

    @cached_property
    def squad(self) -> GoldTokens:
        return GoldTokens(squad_tokens(self.labels), self.pair)

    @cached_property
    def ascii_pieces(self) -> GoldTokens:
        """The pieces of the first gold answers."""
        first = [gold[0] for gold in self.gold]
        return GoldTokens(ascii_tokens(first), np.arange(len(first)))


def gold_block(gold: tuple[tuple[str, ...], ...], languages: tuple[str, ...]) -> _GoldBlock:
    """Return the gold answers of a block; those of few characters are kept."""
    short = sum(map(len, chain.from_iterable(gold))) <= _KEPT_CHARACTERS
    return kept_gold(gold, languages) if short else _GoldBlock(gold, languages)


kept_gold: Final = lru_cache(maxsize=limits.CACHED_GOLD_BLOCKS)(_GoldBlock)


def without_blank(gold: Sequence[str]) -> tuple[str, ...]:
    """Return the gold answers that are not blank."""
    given = tuple(gold)
    if all(given) and not any(map(str.isspace, given)):
        return given
    return tuple([answer for answer in given if answer and not answer.isspace()])
