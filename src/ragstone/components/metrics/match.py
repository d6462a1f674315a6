"""Match: whether a gold answer occurs in the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final, Literal

import numpy as np

from ragstone.components.metrics.answer_batch import AnswerBatch
from ragstone.components.metrics.base import AnswerMetric
from ragstone.components.metrics.fast_tokens import token_code, where
from ragstone.components.metrics.published_normalisers import squad_normal
from ragstone.components.metrics.token_overlap import TokenOverlap
from ragstone.text.normalise import ARTICLES, contains, pieces_without_articles, words

if TYPE_CHECKING:
    from ragstone.components.metrics.arrays import Values
    from ragstone.components.metrics.fast_tokens import Flags

SHORT: Final = 2
"""A gold answer of so few characters must be a whole word: "s" is not in "Newton's"."""

ECHO_WORDS: Final = 3
"""A query of so many words or more, repeated in the answer, is taken out of it."""


@dataclass(frozen=True)
class Match(AnswerMetric):
    """1 where the words of a gold answer stand in the answer without a gap, else 0.

    Words are compared with their punctuation deleted ("1,000" in "1000 men") and, for gold answers
    of more than two characters, split at it ("Newton" in "Newton's law"). A verbatim repetition of
    the query is taken out of the answer first, lest an echo score.

    Variants: "bergen" and "mirage" look for the gold answer's characters, wherever they stand
    ("Art" in "Martha"): after SQuAD's normalisation, and in lower case alone (MIRAGE's EM_loose).
    """

    variant: Literal["corrected", "bergen", "mirage"] = "corrected"

    name: ClassVar[str] = "Match"
    description: ClassVar[str] = (
        "1 if a gold answer occurs, as whole words, in the answer after both are normalised, else "
        "0. It forgives long answers and ignores their other claims."
    )
    synonyms: ClassVar[dict[str, str]] = {"paper": "bergen"}

    def values(self, pairs: AnswerBatch) -> Values:
        """Return 1 or 0 per pair."""
        if self.variant == "corrected":
            return _corrected(pairs)
        one = _mirage if self.variant == "mirage" else _bergen
        return np.array(list(map(one, pairs.answers, pairs.gold)), float)


def _mirage(answer: str, gold: Sequence[str]) -> bool:
    return any(label.lower() in answer.lower() for label in gold)


def _bergen(answer: str, gold: Sequence[str]) -> bool:
    said = squad_normal(answer)
    return any(squad_normal(label) in said for label in gold)


def _corrected(pairs: AnswerBatch) -> Values:
    """Match by words at once; look closer where pieces may match, or where a query is echoed."""
    found = pairs.any_lane(pairs.words.contained)
    columns = enumerate(zip(pairs.answers, pairs.query_texts, strict=True))
    echoed = [i for i, (answer, query) in columns if query and _echoed(answer, query)]
    for i in {*_by_pieces(pairs, found > 0), *echoed}:
        answer = without_echo(pairs.answers[i], pairs.query_texts[i])
        found[i] = occurs(answer, pairs.gold[i], pairs.languages[i])
    return found


def _by_pieces(pairs: AnswerBatch, found: Flags) -> list[int]:
    """Return the other pairs that hold a gold answer's pieces without a gap, articles aside."""
    articles = [token_code(word) for word in ARTICLES]
    pieces = pairs.pieces
    wanted = pieces.gold.counts - pieces.gold.without(articles).gone
    held = pairs.any_lane((pieces.longest_common >= wanted) & (wanted > 0))
    # Without a sign inside a word, pieces and words are the same.
    unsettled = ~found & pairs.signs_inside
    # A gold answer of articles alone may be foreign words: whether they count is seen up close.
    foreign = where((pairs.any_lane((wanted == 0) & (pieces.gold.counts > 0)) > 0) & unsettled)
    likely = where((held > 0) & unsettled)
    if not likely:
        return foreign
    few = pairs.take(likely)
    answers, gold = few.pieces.answers.without(articles), few.pieces.gold.without(articles)
    near = few.any_lane(TokenOverlap(answers.kept, gold.kept, few.lane_pair).contained)
    return [*foreign, *(likely[i] for i in where(near > 0))]


def _echoed(answer: str, query: str) -> bool:
    return query in answer and len(query.split()) >= ECHO_WORDS


def occurs(text: str, gold: Sequence[str], language: str = "") -> bool:
    """Say whether the words of any gold answer stand in the text without a gap."""
    said, split = words(text, language), pieces_without_articles(text, language)
    return any(
        contains(said, wanted)
        or (
            sum(map(len, wanted)) > SHORT
            and contains(split, pieces_without_articles(label, language))
        )
        for label, wanted in ((label, words(label, language)) for label in gold)
    )


def without_echo(answer: str, query: str) -> str:
    """Return the answer less a verbatim repetition of the query.

    >>> without_echo("Is it red or blue? Red.", "Is it red or blue?")
    '  Red.'
    """
    return answer.replace(query, " ") if _echoed(answer, query) else answer


def match(
    answer: str, gold_answers: Sequence[str], *, query: str = "", language: str = ""
) -> float:
    """Return 1 where a gold answer occurs in the answer as whole words, else 0.

    Mallen et al., ACL 2023, with word borders. An empty answer gives 0.

    >>> match("It was Newton's law.", ["Newton"]), match("He is famous.", ["U.S."])
    (1.0, 0.0)
    """
    return float(Match().values(AnswerBatch.of(answer, gold_answers, query, language))[0])
