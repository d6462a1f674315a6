"""Searches of the doctor: passages that answer a query and are not judged, and difficulty."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from ragstone.components.metrics.literal_answers import literal_answers
from ragstone.components.metrics.match import occurs
from ragstone.core import limits
from ragstone.data_quality.finding import Finding, each_line, report, shown
from ragstone.data_quality.leakage import content_words
from ragstone.text.normalise import pieces
from ragstone.types import Search

if TYPE_CHECKING:
    from ragstone.data_quality.checked_dataset import Subject
    from ragstone.types import Query

_TOP: Final = 20
_RUN: Final = 3
"""Words of a run that an answer and a passage share."""
_NEW: Final = 0.1
"""Least share of the answer's runs that a passage has and no judged passage has."""
_LEAST_RUNS: Final = 8
"""Least runs of an answer that is compared by runs; a shorter one has to occur as a whole."""
_LEAST_NEW: Final = 3
_COVERED: Final = 0.3
"""Least share of the query's words in a passage with a short answer, if none is judged."""
_LEAST_LETTERS: Final = 3
_EASY: Final = 10

Runs = frozenset[tuple[str, ...]]


def check_unjudged(subject: Subject) -> Iterator[Finding]:
    """Find passages without a judgement that contain the gold answer of a query."""
    asked = [query for query in subject.expecting if literal_answers(query)]
    if not subject.dataset.qrel_table.num_rows or not subject.passage_ids:
        return
    asked = _sample(asked)
    texts = [f"{query.rewrite or query.text} {literal_answers(query)[0]}" for query in asked]
    pairs = [
        (query.query_id, passage_id)
        for query, ranking in zip(asked, _ranked(subject, asked, texts), strict=True)
        for passage_id in proposed(subject, query, ranking)
    ]
    by_query: dict[str, list[str]] = {}
    for query_id, passage_id in pairs:
        by_query.setdefault(query_id, []).append(passage_id)
    yield from report(
        "judgements/unjudged-answer",
        "note",
        [
            (q, f"{q}: {', '.join(found[: limits.MAX_EXAMPLE_IDS])}")
            for q, found in by_query.items()
        ],
        len(asked),
        f"searched queries have passages without a judgement that contain the answer, or a part of "
        f"it that no judged passage has ({len(pairs):,} passages)",
        advice="a system that finds one of them counts as wrong: judge them (`pairs` in `--json` "
        "has query and passage), and add the relevant ones to qrels.tsv",
        pairs=pairs,
    )


def proposed(subject: Subject, query: Query, ranking: Sequence[str]) -> list[str]:
    """Return the passages of a ranking that may be relevant and are not judged, the best first.

    A long answer is compared by its runs of three words: a passage is proposed if it has a tenth
    of them that neither the judged passages nor better proposals have. A short answer has to occur
    in a passage that has as many of the query's words as the judged ones.
    """
    corpus, judged = subject.dataset.corpus, subject.dataset.qrels.get(query.query_id, {})
    candidates = {i: corpus[i].full_text for i in ranking if i not in judged}
    gold = [corpus[i].full_text for i in subject.gold.get(query.query_id, ())]
    answers = literal_answers(query)
    wanted = _runs(answers[0]) - _runs(query.rewrite or query.text)
    if len(wanted) >= _LEAST_RUNS:
        return _adding(wanted, _union(gold), candidates)
    words = content_words(query.rewrite or query.text)
    least = max((_share(words, text) for text in gold), default=_COVERED)
    named = [a for a in answers if sum(map(str.isalnum, a)) >= _LEAST_LETTERS]
    return [
        passage_id
        for passage_id, text in candidates.items()
        # A look at the characters spares most texts the comparison of words.
        if words
        and any(answer.lower() in text.lower() for answer in named)
        and _share(words, text) >= least
        and occurs(text, named)
    ]


def _adding(wanted: Runs, known: Runs, candidates: Mapping[str, str]) -> list[str]:
    """Return the candidates that add runs of an answer, the largest addition first."""
    added = {i: wanted & _runs(text) for i, text in candidates.items()}
    found: list[str] = []
    while added:
        best = max(added, key=lambda i: len(added[i] - known))
        new = added.pop(best) - known
        if len(new) < max(_LEAST_NEW, _NEW * len(wanted)):
            break
        known |= new
        found.append(best)
    return found


@lru_cache(maxsize=limits.CACHED_PASSAGE_RUNS)
def _runs(text: str) -> Runs:
    words = pieces(text)
    return frozenset(zip(*(words[start:] for start in range(_RUN)), strict=False))


def _union(texts: Sequence[str]) -> Runs:
    return frozenset().union(*map(_runs, texts))


def _share(words: set[str], text: str) -> float:
    return len(words & set(pieces(text))) / max(len(words), 1)


def _sample(queries: Sequence[Query]) -> list[Query]:
    """Return at most the maximum of the queries, at equal distances."""
    step = max(1, -(-len(queries) // limits.SEARCHED_QUERIES))
    return list(queries[::step])


def _ranked(
    subject: Subject, queries: Sequence[Query], texts: Sequence[str]
) -> Iterator[list[str]]:
    """Yield the ids that BM25 finds for each text, best first."""
    from ragstone.components.retrievers.bm25 import BM25
    from ragstone.protocols import Services

    searches = [Search(q.query_id, text) for q, text in zip(queries, texts, strict=True)]
    services = Services(corpus=subject.dataset.corpus)
    for outcome in BM25(top_k=_TOP).retrieve(searches, services):
        yield [place.passage_id for place in outcome.value or ()]


def check_difficulty(subject: Subject) -> Iterator[Finding]:
    """Report how many queries BM25 alone answers with a gold passage; `rows` are the others."""
    judged = _sample([query for query in subject.queries if subject.gold.get(query.query_id)])
    if not judged:
        return
    texts = [query.rewrite or query.text for query in judged]
    ranks = {
        query.query_id: next((r for r, i in enumerate(found, 1) if i in gold), _TOP + 1)
        for query, found in zip(judged, _ranked(subject, judged, texts), strict=True)
        for gold in [set(subject.gold[query.query_id])]
    }
    first, early = (sum(rank <= k for rank in ranks.values()) for k in (1, _EASY))
    hard = tuple(query_id for query_id, rank in ranks.items() if rank > _EASY)
    named = {query.query_id: query.text for query in judged}
    yield Finding(
        "difficulty/retrieval",
        "note",
        f"BM25 ranks a gold passage first for {first:,} of {len(judged):,} queries, and among the "
        f"first ten for {early:,}",
        len(hard),
        len(judged),
        "if nearly all are first, retrieval cannot separate systems; the others need more than "
        "words in common (`rows` in `--json`)",
        each_line(f"{query_id}: {shown(named[query_id])}" for query_id in hard),
        hard,
        "query",
        remedy="",
    )
