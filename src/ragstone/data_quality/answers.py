"""Gold answers that are not in their gold passage, match anything, or are part of the query."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from ragstone.components.metrics.literal_answers import (
    SPAN_WORDS,
    is_absent_span,
    is_polar,
    literal_answers,
)
from ragstone.components.metrics.match import occurs
from ragstone.core import limits
from ragstone.data_quality.finding import Finding, each_line, report, shown
from ragstone.text.normalise import UNSPACED_CHARACTER, pieces_without_articles

if TYPE_CHECKING:
    from ragstone.data_quality.checked_dataset import Subject
    from ragstone.types import Query

_COVERED: Final = 0.5
"""Minimum share of a longer answer's words that should occur in its passage."""
_TINY, _SMALL = 2, 3


def check_in_passage(subject: Subject) -> Iterator[Finding]:
    """Find queries without a gold answer that occurs in a gold passage."""
    corpus, checked = subject.dataset.corpus, 0
    spans: list[tuple[str, str]] = []
    long: list[tuple[str, str]] = []
    for query in subject.expecting:
        gold = subject.gold.get(query.query_id, [])
        answers = literal_answers(query)
        if not (gold and answers):
            continue
        checked += 1
        texts = [corpus[passage_id].full_text for passage_id in gold]
        answer = shown(answers[0], limits.EXAMPLE_ANSWER_CHARACTERS)
        ids = ", ".join(gold[: limits.MAX_EXAMPLE_IDS])
        example = query.query_id, f"{query.query_id}: {answer!r} not in {ids}"
        if is_absent_span(answers, texts):
            spans.append(example)
        elif any(occurs(text, answers) for text in texts):
            continue
        elif max(_covered(answer, texts) for answer in answers) < _COVERED:
            long.append(example)
    yield from report(
        "answers/not-in-passage",
        "warning",
        spans,
        checked,
        f"queries have short gold answers (up to {SPAN_WORDS} words), none of which occurs in a "
        "gold passage",
        advice="either the passage does not answer the query, or it words the answer differently, "
        "and correct answers count as wrong: correct the qrels, or add the wording as an answer",
    )
    yield from report(
        "answers/hardly-in-passage",
        "note",
        long,
        checked,
        "queries have long gold answers that share less than half of their words with their gold "
        "passages",
        advice="check some of them: free wording is fine, an answer from another source is not",
    )


def _covered(answer: str, texts: list[str]) -> float:
    wanted = set(pieces_without_articles(answer))
    available = {piece for text in texts for piece in pieces_without_articles(text)}
    return len(wanted & available) / max(len(wanted), 1)


def check_short(subject: Subject) -> Iterator[Finding]:
    """Find answers of one or two characters, and count those of three."""
    aliases = [(q, answer) for q in subject.queries for answer in q.gold_answers if answer.strip()]
    short = [(q, answer) for q, answer in aliases if len(answer) <= _TINY]
    small = [answer for _, answer in aliases if len(answer) <= _SMALL]
    if not small:
        return
    queries = {q.query_id for q, _ in short}
    # A character can be a word, in Chinese for example.
    harmless = sum(bool(UNSPACED_CHARACTER.search(answer)) for answer in small)
    hazards = [(q, answer) for q, answer in short if not UNSPACED_CHARACTER.search(answer)]
    note = f" ({harmless:,} are in scripts with words of one character)" if harmless else ""
    yield Finding(
        "answers/short",
        "warning" if hazards else "note",
        f"{len(small):,} gold answers have three characters or fewer{note}; {len(queries):,} "
        f"queries have one of two or fewer",
        len(queries),
        len(aliases),
        "substring metrics find them anywhere ('de' in 'provide'): use Match with its defaults, "
        "which requires whole words, or remove such aliases",
        each_line([f"{q.query_id}: {answer!r}" for q, answer in hazards or short]),
        tuple(sorted(queries)),
        "query",
    )


def check_in_query(subject: Subject) -> Iterator[Finding]:
    """Find queries that contain one of their gold answers."""
    asked = [query for query in subject.queries if query.gold_answers]
    given = [(query, answer) for query in asked for answer in [_given(query)] if answer]
    return report(
        "answers/in-query",
        "warning",
        [(q.query_id, f"{q.query_id}: {answer!r} in {q.text}") for q, answer in given],
        len(asked),
        "queries contain one of their gold answers",
        advice="a system that repeats the query counts as correct: reword the query, or score with "
        "Match with its defaults, which removes a repeated query from the answer",
    )


def _given(query: Query) -> str:
    """Return the first gold answer that occurs in the query in whole words, or ""."""
    found = (a for a in query.gold_answers if not is_polar(a) and occurs(query.text, [a]))
    return next(found, "")
