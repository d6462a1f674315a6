"""Leakage: queries in two splits, and unanswerable queries that look answerable."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from ragstone.components.metrics.match import occurs
from ragstone.core import limits
from ragstone.data_quality.duplicates import LEAST, text_with_history
from ragstone.data_quality.finding import Finding, each_line, report, shown
from ragstone.data_quality.shingles import character_shingles, near_pairs
from ragstone.text.normalise import ENGLISH, pieces
from ragstone.types import Search

if TYPE_CHECKING:
    from ragstone.data_quality.checked_dataset import Subject
    from ragstone.types import Query

_LEAST_WORDS: Final = 4
_TOP: Final = 10
_QUESTION_WORDS: Final = frozenset(
    re.findall(
        r"\w+", "what who when where which why how did does do many much can could there i you it"
    )
)


def check_splits(subject: Subject) -> Iterator[Finding]:
    """Find queries of one split with an equal or nearly equal query in another one."""
    by_id = {query.query_id: query for query in subject.queries}
    sides = {
        name: [by_id[query_id] for query_id in sorted(ids) if query_id in by_id]
        for name, ids in subject.splits.items()
    }
    pairs = list(itertools.combinations(sides, 2))
    for one, other in pairs:
        yield from _shared(subject, f"{one}, {other}", sides[one], sides[other])
    if subject.others:
        yield from _shared(subject, "this set, the other one", subject.queries, subject.others)


def _shared(
    subject: Subject, name: str, ours: Sequence[Query], theirs: Sequence[Query] | tuple[Query, ...]
) -> Iterator[Finding]:
    texts = [text_with_history(query) for query in (*ours, *theirs)]
    met: dict[int, tuple[int, float]] = {}
    for pair in near_pairs(character_shingles(texts), LEAST):
        if pair.first < len(ours) <= pair.second:
            met.setdefault(pair.first, (pair.second - len(ours), pair.similarity))
    exact = sum(texts[a] == texts[b + len(ours)] for a, (b, _) in met.items())
    yield from report(
        "leakage/splits",
        "error",
        [
            (
                ours[a].query_id,
                f"{ours[a].query_id} ~ {theirs[b].query_id} ({s:.2f}): {ours[a].text}",
            )
            for a, (b, s) in met.items()
        ],
        len(ours),
        f"queries are in the other split too ({name}), {exact:,} of them word for word",
        advice="a system tuned on one split has seen the other: remove them from one of the two",
        pairs=[(ours[a].query_id, theirs[b].query_id) for a, (b, _) in met.items()],
    )
    gold = [{p for q in side for p in subject.gold.get(q.query_id, ())} for side in (ours, theirs)]
    both = gold[0] & gold[1]
    if both:
        yield Finding(
            "leakage/passages",
            "note",
            f"{len(both):,} passages are gold in two splits ({name})",
            len(both),
            len(gold[0]),
            "training on a passage helps with other questions about it; if that matters, split by "
            "document",
            each_line(sorted(both)),
            tuple(sorted(both)),
            "passage",
        )


def check_unanswerable(subject: Subject) -> Iterator[Finding]:
    """Find unanswerable queries with a relevant passage, an answerable copy or a likely answer."""
    unanswerable = [query for query in subject.queries if query.query_id in subject.unanswerable]
    if not unanswerable:
        return
    judged = [q for q in unanswerable if subject.gold.get(q.query_id)]
    others = (q for q in subject.queries if q.query_id not in subject.unanswerable)
    answerable = set(map(text_with_history, others))
    twice = [q for q in unanswerable if text_with_history(q) in answerable]
    for name, found, why in (
        ("judged", judged, "have a relevant passage in the qrels"),
        ("asked", twice, "have an answerable copy, word for word"),
    ):
        yield from report(
            f"unanswerable/{name}",
            "error",
            [(q.query_id, f"{q.query_id}: {q.text}") for q in found],
            len(unanswerable),
            f"unanswerable queries {why}",
            advice="a system that answers them counts as wrong: check each, and correct the label "
            "or the judgement",
        )
    yield from _in_corpus(subject, unanswerable)


def _in_corpus(subject: Subject, unanswerable: list[Query]) -> Iterator[Finding]:
    """Search the ten best passages by BM25 for a gold answer, or for all words of the query."""
    from ragstone.components.retrievers.bm25 import BM25
    from ragstone.protocols import Services

    corpus = subject.dataset.corpus
    if not len(corpus):
        return
    searches = [Search(q.query_id, q.rewrite or q.text) for q in unanswerable]
    outcomes = BM25(top_k=_TOP).retrieve(searches, Services(corpus=corpus))
    answered, covered = [], []
    for query, outcome in zip(unanswerable, outcomes, strict=True):
        texts = {place.passage_id: corpus[place.passage_id].full_text for place in outcome.value}
        answers = [a for a in query.gold_answers if a.strip()]
        hit = next((i for i, text in texts.items() if answers and occurs(text, answers)), "")
        if hit:
            answer = shown(answers[0], limits.EXAMPLE_ANSWER_CHARACTERS)
            answered.append((query.query_id, f"{query.query_id}: {answer!r} in {hit}"))
        elif covering := covering_passage(query.rewrite or query.text, texts):
            text = shown(query.text, limits.EXAMPLE_QUERY_CHARACTERS)
            covered.append((query.query_id, f"{query.query_id}: {text} ({covering})"))
    yield from report(
        "unanswerable/answer-in-corpus",
        "warning",
        answered,
        len(unanswerable),
        "unanswerable queries have a gold answer that occurs in a passage",
        advice="check whether the passage answers the query; if so, judge it and correct the label",
    )
    yield from report(
        "unanswerable/covered",
        "note",
        covered,
        len(unanswerable),
        "unanswerable queries have a passage with all of their content words",
        advice="the passage may contain the answer: read these before relying on refusals",
    )


def covering_passage(text: str, passages: dict[str, str]) -> str:
    """Return the id of the first passage with all content words of a text, or ""."""
    wanted = content_words(text)
    if len(wanted) < _LEAST_WORDS:
        return ""
    return next((i for i, passage in passages.items() if wanted <= set(pieces(passage))), "")


def content_words(text: str) -> set[str]:
    """Return the words of a query without English function words and question words."""
    return set(pieces(text)) - ENGLISH - _QUESTION_WORDS
