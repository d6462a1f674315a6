"""Digests of the rows behind an experiment's numbers, so that a changed row can be named.

A row's digest takes part in the digest of its table, and its first 24 bits are the row's mark. The
marks of a table are one text with four characters per query: 50,000 queries take 200 KB.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from ragstone.results.reader import RankingResults, StoredResults, TrialResults
from ragstone.types import Context, Prediction, Query

MARK: Final = 4
"""Characters of a mark."""
_MARK_BYTES: Final = 3


@dataclass(frozen=True, slots=True)
class Content:
    """The digest of some rows, and the mark of each."""

    digest: str
    marks: str

    @classmethod
    def of(cls, rows: Iterable[object]) -> Content:
        """Return the digest and the marks of rows of plain data."""
        whole, marks = hashlib.sha256(), []
        for row in rows:
            text = json.dumps(row, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
            found = hashlib.sha256(text.encode()).digest()
            whole.update(found)
            marks.append(base64.urlsafe_b64encode(found[:_MARK_BYTES]).decode())
        return cls(whole.hexdigest(), "".join(marks))


def changed_rows(
    known: Mapping[str, str], content: Content, query_ids: Sequence[str]
) -> list[str] | None:
    """Return the ids of the rows that differ from those of a passport; None if none differs.

    The list is empty if a row differs and its mark does not, which is improbable.
    """
    if known["digest"] == content.digest:
        return None
    starts = range(0, len(known["marks"]), MARK)
    before = [known["marks"][start : start + MARK] for start in starts]
    after = [content.marks[start : start + MARK] for start in starts]
    pairs = zip(query_ids, before, after, strict=True)
    return [query_id for query_id, old, new in pairs if old != new]


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


def trial_contents(query_ids: Sequence[str], trial: TrialResults) -> dict[str, Content]:
    """Return the contents of one system under one setting."""
    return {
        "answers": Content.of(answer_rows(query_ids, trial.predictions)),
        "contexts": Content.of(context_rows(query_ids, trial.contexts)),
    }


def all_query_ids(results: StoredResults) -> list[str]:
    """Return the ids of the answered queries, then those of the others that are ranked."""
    return list(dict.fromkeys([*results.queries, *results.ranked]))


def contents(results: StoredResults) -> dict[str, Any]:
    """Return the contents of a passport: of the queries, of each trial and of each ranking."""
    answered, every = list(results.queries), all_query_ids(results)
    queries = {**results.ranked, **results.queries}
    whole = {
        "queries": Content.of(query_rows(every, queries)),
        "gold_answers": Content.of(gold_rows(every, queries)),
        "qrels": Content.of(grade_rows(every, results.qrels)),
        "clusters": Content.of(map(results.clusters.get, every)),
    }
    return {
        "answered": answered,
        "ranked": None if list(results.ranked) == answered else list(results.ranked),
        **{name: asdict(content) for name, content in whole.items()},
        "trials": [
            {
                "system": trial.system,
                "setting": trial.setting,
                **{n: asdict(c) for n, c in trial_contents(answered, trial).items()},
            }
            for trial in results.trials
        ],
        "rankings": [
            {"system": found.system, "run": asdict(Content.of(ranking_rows(every, found)))}
            for found in results.rankings
        ],
    }
