"""Gold answers that contradict each other: of one query, and of queries that ask the same."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Final

from ragstone.components.metrics.match import occurs
from ragstone.data_quality.duplicates import groups, near_query_pairs, text_with_history
from ragstone.data_quality.finding import Finding, report, shown
from ragstone.text.normalise import ENGLISH, pieces
from ragstone.text.stop_words import STOP_WORDS

if TYPE_CHECKING:
    from ragstone.data_quality.checked_dataset import Subject
    from ragstone.types import Query

_YES: Final = frozenset(
    ["yes", "true", "correct", "是", "对", "是的", "نعم", "はい", "sì", "si", "oui", "ja", "sí"]
)
_NO: Final = frozenset(
    ["no", "false", "incorrect", "否", "不是", "不", "لا", "いいえ", "non", "nein"]
)
_EMPTY: Final = (
    ENGLISH
    | frozenset().union(*STOP_WORDS.values())
    | frozenset(
        [
            "please",
            "tell",
            "me",
            "do",
            "does",
            "did",
            "s",
            "exactly",
            "so",
            "then",
            "now",
            "also",
            "请",
            "问",
            "的",
            "了",
            "呢",
            "吗",
            "在",
            "是",
            "呀",
            "啊",
            "究",
            "竟",
            "到",
            "底",
            "من",
            "فضلك",
            "في",
            "على",
            "هل",
            "هو",
            "هي",
            "إلى",
            "ال",
            "か",
            "の",
            "は",
            "が",
            "を",
            "に",
            "で",
            "と",
            "って",
            "ね",
            "さ",
            "て",
            "です",
            "ます",
            "per",
            "favore",
        ]
    )
)
"""Words without which a question stays the same."""


def check_gold_answers(subject: Subject) -> Iterator[Finding]:
    """Find queries of which one gold answer says yes and one no, or that differ in a number."""
    asked = [query for query in subject.queries if len(query.gold_answers) > 1]
    found = [(query, pair) for query in asked for pair in [opposed(query.gold_answers)] if pair]
    yield from report(
        "contradictions/gold-answers",
        "warning",
        [(q.query_id, f"{q.query_id}: {shown(a)!r}, {shown(b)!r}") for q, (a, b) in found],
        len(asked),
        "queries with several gold answers have two that contradict each other (yes and no, or "
        "different numbers)",
        advice="each of them counts as right: remove the wrong one; if both are right, a list of "
        "answers is meant",
    )


def opposed(answers: Sequence[str]) -> tuple[str, str] | None:
    """Return two of the answers that are yes and no, or equal but for their numbers.

    >>> opposed(["May 1912", "May 1921"]), opposed(["1912", "in May 1912"])
    (('May 1912', 'May 1921'), None)
    """
    forms = [(answer, *_form(answer)) for answer in dict.fromkeys(answers)]
    for (one, words, numbers), (other, others, theirs) in combinations(forms, 2):
        if words == others and numbers and theirs and numbers != theirs:
            return one, other
        polar = {word in _YES for word in (words, others) if word in _YES | _NO}
        if len(polar) > 1:
            return one, other
    return None


def _form(answer: str) -> tuple[str, list[str]]:
    """Return the words of an answer with # for each number, and the numbers."""
    parts = pieces(answer)
    numbers = [part for part in parts if re.search(r"\d", part)]
    return " ".join("#" if part in numbers else part for part in parts), numbers


def check_same_questions(subject: Subject) -> Iterator[Finding]:
    """Find queries that ask the same and have no gold answer in common."""
    queries = {query.query_id: query for query in subject.queries}
    same = groups({i: text_with_history(query) for i, query in queries.items()})
    pairs = [pair for ids in same for pair in combinations(ids, 2)]
    pairs += [
        (a, b) for a, b, _ in near_query_pairs(subject) if _asks(queries[a]) == _asks(queries[b])
    ]
    apart = [(a, b) for a, b in pairs if _disagree(queries[a], queries[b])]
    yield from report(
        "contradictions/queries",
        "warning",
        [
            (b, f"{a} ~ {b}: {shown(queries[b].text)}: {_first(queries[a])}, {_first(queries[b])}")
            for a, b in apart
        ],
        len(queries),
        "queries ask the same as another one, and their gold answers have nothing in common",
        advice="no system can be right on both: correct one, join the answers, or name what differs",
        pairs=apart,
    )


def _asks(query: Query) -> list[str]:
    return sorted(word for word in pieces(query.text) if word not in _EMPTY)


def _first(query: Query) -> str:
    return repr(shown(query.gold_answers[0]))


def _disagree(one: Query, other: Query) -> bool:
    a, b = one.gold_answers, other.gold_answers
    if not (a and b):
        return False
    return not any(occurs(text, b) for text in a) and not any(occurs(text, a) for text in b)
