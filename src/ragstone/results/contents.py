"""Digests of the rows behind an experiment's numbers, so that a changed row can be named.

A row's digest takes part in the digest of its table, and its first 24 bits are the row's mark. The
marks of a table are one text with four characters per query: 50,000 queries take 200 KB.
"""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from ragstone.results.passport_file import canonical
from ragstone.results.reader import StoredResults
from ragstone.results.scored_rows import RankingResults
from ragstone.types import Context, Prediction, Query

_MARK: Final = 4
"""Characters of a mark."""
_MARK_BYTES: Final = 3
_OF_DATA: Final = ("queries", "gold_answers", "qrels", "clusters")
_OF_TRIALS: Final = ("contexts", "answers")


def content_of(rows: Iterable[object]) -> dict[str, str]:
    """Return the digest and the marks of rows of plain data."""
    whole, marks = hashlib.sha256(), []
    for row in rows:
        found = hashlib.sha256(canonical(row).encode()).digest()
        whole.update(found)
        marks.append(base64.urlsafe_b64encode(found[:_MARK_BYTES]).decode())
    return {"digest": whole.hexdigest(), "marks": "".join(marks)}


def marks_of(content: Mapping[str, str], query_ids: Sequence[str]) -> dict[str, str]:
    """Return query id -> mark of its row in a content, whose rows are of these queries."""
    starts = range(0, len(content["marks"]), _MARK)
    marks = (content["marks"][start : start + _MARK] for start in starts)
    return dict(zip(query_ids, marks, strict=True))


def changed_rows(
    known: Mapping[str, str], here: Mapping[str, str], query_ids: Sequence[str]
) -> list[str] | None:
    """Return the ids of the rows that differ between two contents; None if none differs.

    The list is empty if a row differs and its mark does not, which is improbable.
    """
    if known["digest"] == here["digest"]:
        return None
    before, after = marks_of(known, query_ids), marks_of(here, query_ids)
    return [query_id for query_id in query_ids if before[query_id] != after[query_id]]


def query_rows(query_ids: Sequence[str], queries: Mapping[str, Query]) -> Iterable[object]:
    """Yield the text, history, rewrite and labels of each query; None if it is absent."""
    for query in map(queries.get, query_ids):
        yield (
            None
            if query is None
            else [
                query.text,
                [[message.role, message.text] for message in query.history],
                query.rewrite,
                dict(query.labels),
            ]
        )


def gold_rows(query_ids: Sequence[str], queries: Mapping[str, Query]) -> Iterable[object]:
    """Yield the gold answers of each query; None if the query is absent."""
    for query in map(queries.get, query_ids):
        yield None if query is None else list(query.gold_answers)


def grade_rows(
    query_ids: Sequence[str], qrels: Mapping[str, Mapping[str, int]]
) -> Iterable[object]:
    """Yield the relevance judgements of each query."""
    return (dict(qrels.get(query_id, {})) for query_id in query_ids)


def answer_rows(
    query_ids: Sequence[str], predictions: Mapping[str, Prediction]
) -> Iterable[object]:
    """Yield each answer, or the reason why there is none, with the passages that it reports."""
    for found in map(predictions.get, query_ids):
        passages = found.passage_ids if found else None
        reported = None if passages is None else list(passages)
        yield None if found is None else [found.answer, found.reason, reported]


def context_rows(query_ids: Sequence[str], contexts: Mapping[str, Context]) -> Iterable[object]:
    """Yield the passages of each context."""
    for context in map(contexts.get, query_ids):
        yield (
            None
            if context is None
            else [[p.passage_id, p.text, p.origin] for p in context.passages]
        )


def ranking_rows(query_ids: Sequence[str], ranking: RankingResults) -> Iterable[object]:
    """Yield the passages of each ranking with their scores; None for a query without one."""
    for found in map(ranking.rankings.get, query_ids):
        yield None if found is None else [list(found.passage_ids), list(map(float, found.scores))]


def contents(
    results: StoredResults,
    answered: Sequence[str] | None = None,
    every: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Return the contents of a passport: of the queries, of each trial and of each ranking.

    Args:
        results: the results.
        answered: ids of the queries of answers and contexts; by default, the answered ones.
        every: ids of the queries of all other rows; by default, all.
    """
    queries, tables = results.all_queries, results.record.tables
    # A digest shows no nugget, and is the same whether or not some are secret.
    whole = results.whole_queries(tables.ranked, tables.answered)
    answered = list(results.queries) if answered is None else answered
    every = list(queries) if every is None else every
    ranked = list(results.ranked)
    return {
        "answered": answered,
        "ranked": None if ranked == answered else ranked,
        "queries": content_of(query_rows(every, whole)),
        "gold_answers": content_of(gold_rows(every, queries)),
        "qrels": content_of(grade_rows(every, results.qrels)),
        "clusters": content_of(map(results.clusters.get, every)),
        "trials": [
            {
                "system": trial.system,
                "setting": trial.setting,
                "contexts": content_of(context_rows(answered, rows.contexts)),
                "answers": content_of(answer_rows(answered, rows.predictions)),
            }
            for trial in results.trials
            for rows in trial.answers
        ],
        "rankings": [
            {"system": found.system, "run": content_of(ranking_rows(every, found))}
            for found in results.rankings
        ],
    }


def query_ids_of(contents: Mapping[str, Any], what: str = "") -> list[str]:
    """Return the queries of the rows of a content: the answered ones, or those and the ranked."""
    answered: list[str] = contents["answered"]
    if what in _OF_TRIALS:
        return answered
    return list(dict.fromkeys([*answered, *(contents["ranked"] or ())]))


class ContentPair(NamedTuple):
    """A content that two passports, or a passport and a store, have in common."""

    what: str
    system: str
    """The system of the rows; "" for rows of the data."""
    setting: str
    a: Mapping[str, str]
    b: Mapping[str, str]


def pairs(a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[ContentPair]:
    """Yield each content that `a` and `b` have in common: of the data, trials and rankings."""
    for what in _OF_DATA:
        yield ContentPair(what, "", "", a[what], b[what])
    for kind, names in (("trials", _OF_TRIALS), ("rankings", ("run",))):
        others = _by_place(b[kind])
        for place, row in _by_place(a[kind]).items():
            for what in names if place in others else ():
                yield ContentPair(what, *place[:2], row[what], others[place][what])


def _by_place(rows: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str, int], Mapping[str, Any]]:
    """Return (system, setting, place among the rows of these) -> row.

    A system that reports its passages has a ranking for each setting without passages. A trial has
    a row for each of its answers.
    """
    counts: Counter[tuple[str, str]] = Counter()
    found = {}
    for row in rows:
        place = row["system"], row.get("setting", "")
        found[*place, counts[place]] = row
        counts[place] += 1
    return found
