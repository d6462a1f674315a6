"""Gold answers that should occur literally in a gold passage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ragstone.components.metrics.match import occurs
from ragstone.text.normalise import pieces_without_articles
from ragstone.types import Query

SPAN_WORDS: Final = 10
"""Maximum number of words of an answer that should occur literally in its passage."""
_POLAR: Final = frozenset({"yes", "no", "maybe", "true", "false", "both", "neither", "none"})
_NOT_SPANS: Final = ("reasoning", "summary")
"""Know Your RAG's labels of queries whose answers are not literal."""


def literal_answers(query: Query) -> list[str]:
    """Return the gold answers of a query that should occur literally in its gold passages."""
    if query.labels.get("taxonomy") in _NOT_SPANS:
        return []
    return [a for a in query.gold_answers if a.strip() and not is_polar(a)]


def is_absent_span(answers: Sequence[str], texts: Sequence[str]) -> bool:
    """Return whether one of the answers is short, and none of them occurs in a text.

    >>> is_absent_span(["1912"], ["It opened in 1921."])
    True
    """
    short = any(answer_length(answer) <= SPAN_WORDS for answer in answers)
    return short and not any(occurs(text, answers) for text in texts)


def answer_length(answer: str) -> int:
    """Return the number of words of an answer without articles."""
    return len(pieces_without_articles(answer))


def is_polar(answer: str) -> bool:
    """Return whether an answer is `yes`, `no` or another that occurs anywhere."""
    return answer.strip().strip(".").lower() in _POLAR
