"""Duplicates and near-duplicates among passages and queries."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from ragstone.core import limits
from ragstone.data_quality.finding import Finding, each_line, shown
from ragstone.data_quality.shingles import Pair, character_shingles, near_pairs

if TYPE_CHECKING:
    from ragstone.data_quality.checked_dataset import Subject
    from ragstone.types import Query

LEAST: Final = 0.8
"""Minimum Jaccard similarity of near-duplicates."""
_DIGITS: Final = re.compile(r"\d+")


def squeezed(text: str) -> str:
    r"""Return a text in lower case, with runs of white space as single blanks.

    >>> squeezed("Who  is\nIT? ")
    'who is it?'
    """
    return " ".join(text.lower().split())


def text_with_history(query: Query) -> str:
    """Return the text of a query with its history: different turns may have equal last texts."""
    return squeezed(" ".join([*(m.text for m in query.history), query.text]))


def groups(texts: Mapping[str, str]) -> list[list[str]]:
    """Return groups of ids with equal texts, in order of their first ids; empty texts are skipped.

    >>> groups({"a": "x", "b": "y", "c": "x", "d": ""})
    [['a', 'c']]
    """
    found: dict[str, list[str]] = {}
    for text_id, text in texts.items():
        if text:
            found.setdefault(text, []).append(text_id)
    return [ids for ids in found.values() if len(ids) > 1]


def _copies(ids: Sequence[str], texts: Mapping[str, str]) -> str:
    return f"{' = '.join(ids[: limits.MAX_EXAMPLE_IDS])}: {texts[ids[0]]}"


def check_passages(subject: Subject) -> Iterator[Finding]:
    """Find passages with equal or nearly equal texts."""
    texts = {passage_id: squeezed(text) for passage_id, text in subject.texts()}
    same = groups(texts)
    if same:
        extra = sum(len(ids) - 1 for ids in same)
        yield Finding(
            "duplicates/passages",
            "warning",
            f"{extra:,} passages repeat the text of another one ({len(same):,} different texts)",
            extra,
            len(texts),
            "copies fill up a ranking, and only the judged one counts: keep one of each (`--fix` "
            "does, and moves the judgements to it)",
            each_line([_copies(ids, texts) for ids in same]),
            tuple(passage_id for ids in same for passage_id in ids[1:]),
            "passage",
            tuple((ids[0], passage_id) for ids in same for passage_id in ids[1:]),
            "fix",
        )
    yield from _near_passages(subject, texts, same)


def _near_passages(
    subject: Subject, texts: Mapping[str, str], same: Sequence[Sequence[str]]
) -> Iterator[Finding]:
    copies = {passage_id for ids in same for passage_id in ids[1:]}
    places = [place for place, i in enumerate(texts) if i not in copies]
    ids = [subject.passage_ids[place] for place in places]
    pairs = near_pairs(subject.shingles.take(places), LEAST)
    if not pairs:
        return
    judged = {passage_id for found in subject.gold.values() for passage_id in found}
    with_gold = sum(ids[p.first] in judged or ids[p.second] in judged for p in pairs)
    concerned = {place for p in pairs for place in (p.first, p.second)}
    yield Finding(
        "near-duplicates/passages",
        "warning" if with_gold else "note",
        f"{len(pairs):,} pairs of passages share {LEAST:.0%} or more of their runs of five words; "
        f"{with_gold:,} of the pairs include a gold passage",
        len(concerned),
        len(texts),
        "the copy of a gold passage answers too, but counts as a miss: judge both, or keep one",
        each_line([f"{ids[p.first]} ~ {ids[p.second]} ({p.similarity:.2f})" for p in pairs]),
        tuple(ids[place] for place in sorted(concerned)),
        "passage",
        tuple((ids[p.first], ids[p.second]) for p in pairs),
    )


def check_queries(subject: Subject) -> Iterator[Finding]:
    """Find queries with equal or nearly equal texts, and differing expected answers among them."""
    queries = {query.query_id: query for query in subject.queries}
    texts = {query_id: text_with_history(query) for query_id, query in queries.items()}
    same = groups(texts)
    split = [ids for ids in same if len({expects(subject, queries[i]) for i in ids}) > 1]
    if same:
        extra = sum(len(ids) - 1 for ids in same)
        yield Finding(
            "duplicates/queries",
            "warning",
            f"{extra:,} queries repeat another one word for word; {len(split):,} of the "
            f"{len(same):,} groups expect different answers or passages",
            extra,
            len(texts),
            "a repeated query counts twice and makes intervals too narrow; if the expected answers "
            "differ, merge them (`--fix` keeps one of those that expect the same)",
            each_line([_copies(ids, texts) for ids in (split or same)]),
            tuple(query_id for ids in same for query_id in ids[1:]),
            "query",
            tuple((ids[0], query_id) for ids in same for query_id in ids[1:]),
            "person" if split else "fix",
        )
    yield from _near_queries(subject)


def expects(subject: Subject, query: Query) -> tuple[frozenset[str], frozenset[str]]:
    """Return the gold answers and gold passages of a query, to compare queries of equal text."""
    answers = frozenset(squeezed(answer) for answer in query.gold_answers)
    return answers, frozenset(subject.gold.get(query.query_id, ()))


def near_query_pairs(queries: Sequence[Query]) -> list[Pair]:
    """Return the positions of nearly equal queries and their similarity; copies are left out."""
    texts = list(map(text_with_history, queries))
    first: dict[str, int] = {}
    # Turns share their history, so they always resemble each other.
    kept = [
        place
        for place, text in enumerate(texts)
        if first.setdefault(text, place) == place and not queries[place].history
    ]
    found = near_pairs(character_shingles(texts[place] for place in kept), LEAST)
    pairs = (Pair(kept[one.first], kept[one.second], one.similarity) for one in found)
    # "Season 6" and "season 7" are two questions.
    return [p for p in pairs if _numbers(texts[p.first]) == _numbers(texts[p.second])]


def _numbers(text: str) -> list[str]:
    return _DIGITS.findall(text)


def _near_queries(subject: Subject) -> Iterator[Finding]:
    queries = subject.queries
    pairs = [
        (queries[p.first].query_id, queries[p.second].query_id, p.similarity)
        for p in near_query_pairs(queries)
    ]
    if not pairs:
        return
    texts = {query.query_id: query.text for query in subject.queries}
    concerned = tuple(dict.fromkeys(query_id for a, b, _ in pairs for query_id in (a, b)))
    yield Finding(
        "near-duplicates/queries",
        "note",
        f"{len(pairs):,} pairs of queries share {LEAST:.0%} or more of their runs of four "
        "characters",
        len(concerned),
        len(texts),
        "near-duplicates are not independent: give them one `conversation` or cluster, or keep one",
        each_line(f"{a} ~ {b} ({similarity:.2f}): {shown(texts[a])}" for a, b, similarity in pairs),
        concerned,
        "query",
        tuple((a, b) for a, b, _ in pairs),
    )
