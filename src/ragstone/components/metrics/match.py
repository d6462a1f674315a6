"""Match: whether a gold answer occurs in the answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final, Literal

import numpy as np

from ragstone.components.metrics.arrays import positions
from ragstone.components.metrics.base import AnswerMetric
from ragstone.components.metrics.compiled_tokens import token_overlap
from ragstone.components.metrics.fast_tokens import token_code
from ragstone.components.metrics.published_normalisers import squad_normal
from ragstone.components.metrics.token_overlap import GoldTokens
from ragstone.text.normalise import ARTICLES, contains, pieces_without_articles, words
from ragstone.text.scripts import UNSPACED, is_unspaced

if TYPE_CHECKING:
    from ragstone.components.metrics.answer_batch import AnswerBatch
    from ragstone.components.metrics.arrays import Flags, Values

SHORT: Final = 2
"""A gold answer of at most 2 characters must be a whole word: "s" is not in "Newton's"."""

ECHO_WORDS: Final = 3
"""A query of at least 3 words is removed from an answer that repeats it."""
ECHO_CHARACTERS: Final = 6
"""The same in characters, for scripts without spaces between words."""

_WIDE_ENDS: Final = "\u3002\uff01\uff1f\u061f\u0964"
"""Sentence marks after which no blank follows, or of other scripts."""


@dataclass(frozen=True)
class Match(AnswerMetric):
    """1 if the answer contains the words of a gold answer without a gap, else 0.

    Mallen et al., ACL 2023, with word borders. Words are compared with their punctuation deleted
    ("US" in "the U.S.") and, for gold answers of more than two characters, split at it ("Newton"
    in "Newton's law"). A verbatim repetition of the query at the start of the answer, or as a whole
    sentence, is removed first, because an echo of the query is not an answer; but an answer that
    equals a gold answer stays whole. An empty answer gives 0.

    Formula: 1 if the words of a gold answer occur in the answer without a gap.

    Source: Mallen et al., ACL 2023.

    Trap: an answer that names several candidates matches too, and long answers match more.

    Args:
        variant: "bergen" and "mirage" look for the characters of the gold answer, even inside of
            words ("Art" in "Martha"): after SQuAD's normalisation, or only in lower case (MIRAGE's
            EM_loose).
    """

    variant: Literal["corrected", "bergen", "mirage"] = "corrected"

    name: ClassVar[str] = "Match"
    graded: ClassVar[bool] = False
    description: ClassVar[str] = (
        "1 if a gold answer occurs, as whole words, in the answer after both are normalised, else "
        "0. It forgives long answers and ignores their other claims."
    )
    synonyms: ClassVar[dict[str, str]] = {"paper": "bergen"}

    def values(self, pairs: AnswerBatch) -> Values:
        """Return 1 or 0 per pair."""
        if self.variant == "corrected":
            return _corrected(pairs)
        return np.array(list(map(self._one, pairs.answers, pairs.gold)), float)

    def _one(self, answer: str, gold: Sequence[str]) -> bool:
        normal = str.lower if self.variant == "mirage" else squad_normal
        text = normal(answer)
        return any(normal(label) in text for label in gold)


def _corrected(pairs: AnswerBatch) -> Values:
    """Match all pairs by words; check one by one only those with pieces or an echoed query."""
    contained = pairs.any_gold(pairs.words.contained)
    found = contained.astype(np.float64)
    columns = enumerate(zip(pairs.answers, pairs.query_texts, strict=True))
    echoed = [i for i, (answer, query) in columns if query and _echoed(answer, query)]
    for i in {*_by_pieces(pairs, contained), *echoed}:
        gold, language = pairs.gold[i], pairs.languages[i]
        answer = without_echo(pairs.answers[i], pairs.query_texts[i], gold, language)
        found[i] = occurs(answer, gold, language)
    return found


def _by_pieces(pairs: AnswerBatch, found: Flags) -> list[int]:
    """Return the other pairs whose answer contains a gold answer's pieces, articles left out."""
    articles = [token_code(word) for word in ARTICLES]
    pieces = pairs.pieces
    sizes = pieces.gold.counts - pieces.gold.without(articles).gone
    likely_gold = (pieces.longest_common >= sizes) & (sizes > 0)
    # Without a sign inside a word, pieces and words are the same.
    unsettled = ~found & pairs.signs_inside
    # A gold answer of articles alone may be foreign words, which only the check can decide.
    foreign = positions(pairs.any_gold((sizes == 0) & (pieces.gold.counts > 0)) & unsettled)
    likely = positions(pairs.any_gold(likely_gold) & unsettled)
    if not likely:
        return foreign
    few = pairs.take(likely)
    answers, gold = few.pieces.answers.without(articles), few.pieces.gold.without(articles)
    near = few.any_gold(token_overlap(answers.kept, GoldTokens(gold.kept, few.gold_pair)).contained)
    return [*foreign, *(likely[i] for i in positions(near))]


def _echoed(answer: str, query: str) -> bool:
    if query not in answer:
        return False
    long = len(query.split()) >= ECHO_WORDS
    return long or (len(query.strip()) >= ECHO_CHARACTERS and is_unspaced(query))


def occurs(text: str, gold: Sequence[str], language: str = "") -> bool:
    """Return whether a text contains the words of any gold answer without a gap."""
    tokens, pieces = words(text, language), pieces_without_articles(text, language)
    return any(
        contains(tokens, part)
        or (
            sum(map(len, part)) > SHORT
            and contains(pieces, pieces_without_articles(label, language))
        )
        for label, part in ((label, words(label, language)) for label in gold)
    )


def without_echo(answer: str, query: str, gold: Sequence[str] = (), language: str = "") -> str:
    """Return the answer without a verbatim repetition of the query.

    Only a repetition at the start of the answer, or as a whole sentence, is removed. An answer with
    the same words as a gold answer is returned unchanged.

    >>> without_echo("Is it red or blue? Red.", "Is it red or blue?")
    '  Red.'
    >>> without_echo("I was asked: is it red?", "is it red?")
    'I was asked: is it red?'
    """
    if not _echoed(answer, query):
        return answer
    said = words(answer, language)
    if any(said == words(label, language) for label in gold):
        return answer
    return _echo(query.strip()).sub(" ", answer)


def _echo(query: str) -> re.Pattern[str]:
    """Return a pattern of the query at the start of a text, or as a whole sentence."""
    closed = rf"(?:(?<=[.!?])\s|\n|(?<=[{_WIDE_ENDS}]))\s{{0,200}}{re.escape(query)}"
    ended = query[-1] in f".!?{_WIDE_ENDS}"
    after = "" if ended else rf"(?=\s*(?:[.!?{_WIDE_ENDS}\n]|\Z))"
    border = "" if ended else rf"(?![^\W{UNSPACED}])"
    return re.compile(rf"\A\W*{re.escape(query)}{border}|{closed}{after}")
