"""The ranks of the judged passages of many queries, as arrays: the input of every ranking metric.

Only judged passages can change a ranking metric. Rankings are therefore never sorted with their
passage ids: only their scores are sorted, and the rank of a judged passage is counted from those.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from ragstone.components.metrics.arrays import positions, within
from ragstone.components.metrics.document_level import rank_documents
from ragstone.data.document_level import judge_documents
from ragstone.errors import ConfigError, DatasetError
from ragstone.types import Ranking

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragstone.components.metrics.arrays import Flags, Ints, Values

    Floats = npt.NDArray[np.floating]

Qrels: TypeAlias = Mapping[str, Mapping[str, int]]
Run: TypeAlias = Mapping[str, "Ranking | Mapping[str, float]"]
Subtopics: TypeAlias = Mapping[str, Mapping[str, Mapping[str, int]]]
"""Query id -> subtopic -> passage id -> grade."""


class Languages(NamedTuple):
    """The languages of queries, and of the passages that are ranked for them; "" if unknown."""

    queries: Mapping[str, str]
    ranked: Mapping[str, Sequence[str]]


class Source(NamedTuple):
    """The data of a batch of ranks."""

    query_ids: Sequence[str]
    qrels: Qrels
    run: Run
    subtopics: Subtopics = MappingProxyType({})
    documents: Mapping[str, str] | None = None
    """Passage id -> id of the document that it was cut from; None if they are not known."""
    languages: Languages | None = None


@dataclass(frozen=True, kw_only=True)
class RankingBatch:
    """Rank and grade of every judged passage that was retrieved, and all grades of the qrels.

    The entries of `query`, `rank` and `grade` are sorted by query, then by rank; those of
    `judged_query` and `judged_grade` by query, then by descending grade. Ranks count from 1.
    """

    size: int
    """Number of queries."""
    retrieved: Ints
    """Number of passages in each query's ranking."""
    query: Ints
    rank: Ints
    grade: Ints
    judged_query: Ints
    judged_grade: Ints
    source: Source | None = None
    """The rankings and qrels themselves; None for a batch that was made from arrays."""

    def in_order(self) -> RankingBatch:
        """Return the batch with its entries in the order that the class needs."""
        order = np.argsort(self.query * (int(self.rank.max(initial=0)) + 1) + self.rank)
        top = int(np.abs(self.judged_grade).max(initial=0))
        best = np.argsort(self.judged_query * (2 * top + 1) + (top - self.judged_grade))
        return replace(
            self,
            query=self.query[order],
            rank=self.rank[order],
            grade=self.grade[order],
            judged_query=self.judged_query[best],
            judged_grade=self.judged_grade[best],
        )

    def pairs(self) -> Iterator[Mapping[str, Any]]:
        """Yield each query's ranking and its grades, for metrics of whole rankings.

        Raises:
            ConfigError: the batch was made from arrays.
        """
        if self.source is None:
            raise ConfigError("a metric of your own needs rankings, not arrays of ranks")
        for query_id in self.source.query_ids:
            ranking = self.source.run.get(query_id, Ranking())
            if not isinstance(ranking, Ranking):
                ids = sorted(ranking, key=ranking.__getitem__, reverse=True)
                ranking = Ranking(ids, [ranking[passage_id] for passage_id in ids])
            yield {"ranking": ranking, "qrels": self.source.qrels.get(query_id, {})}

    def of_documents(self, level: str) -> RankingBatch:
        """Return the same queries with documents in place of their passages.

        Raises:
            ConfigError: the documents of the passages are not known.
        """
        if self.source is None or self.source.documents is None:
            raise ConfigError(
                f"level={level} needs the documents that the passages are cut from: a data set "
                "whose corpus has the field 'document'; in `ragstone rank`, the option --documents "
                "or --document-separator without a level"
            )
        if level not in self._levels:
            source, known = self.source, self.source.documents
            found = (pair["ranking"] for pair in self.pairs())
            variant: Any = "bergen" if level == "document-bergen" else "corrected"
            run = rank_documents(
                dict(zip(source.query_ids, found, strict=True)),
                lambda passage_id: known.get(passage_id) or passage_id,
                variant,
            )
            own = {query_id: source.qrels.get(query_id, {}) for query_id in source.query_ids}
            qrels = judge_documents(own, lambda passage_id: known.get(passage_id) or passage_id)
            self._levels[level] = rank_judged(qrels, run, source.query_ids)
        return self._levels[level]

    @cached_property
    def _levels(self) -> dict[str, RankingBatch]:
        return {}

    def count(self, rel: int, depth: int | Ints) -> Values:
        """Return the number of passages of grade `rel` or more among the first `depth`."""
        limit = depth if isinstance(depth, int) else depth[self.query]
        return self._per_query(self.query[(self.grade >= rel) & (self.rank <= limit)])

    def relevant(self, rel: int = 1) -> Values:
        """Return the number of passages of grade `rel` or more in the qrels of each query."""
        return self._relevant if rel == 1 else self._of_grade(rel)

    @cached_property
    def _relevant(self) -> Values:
        return self._of_grade(1)

    def _of_grade(self, rel: int) -> Values:
        return self._per_query(self.judged_query[self.judged_grade >= rel])

    def _per_query(self, chosen: Ints) -> Values:
        return np.bincount(chosen, minlength=self.size).astype(np.float64)

    def hits(self, rel: int, depth: int) -> tuple[Ints, Ints]:
        """Return query and rank of the passages of grade `rel` or more among the first `depth`."""
        chosen = (self.grade >= rel) & (self.rank <= depth)
        return self.query[chosen], self.rank[chosen]

    def before(self, amounts: Values | Flags) -> Values:
        """Return, for each judged passage found, the sum of the amounts of those before it."""
        whole = np.cumsum(amounts, dtype=np.float64) - amounts
        counts = np.bincount(self.query, minlength=self.size)
        first = np.repeat(np.cumsum(counts) - counts, counts)
        found: Values = whole - whole[first]
        return found

    @cached_property
    def condensed(self) -> RankingBatch:
        """The same queries without the passages that the qrels do not judge."""
        counts = np.bincount(self.query, minlength=self.size)
        return replace(self, retrieved=counts, rank=within(self.query, counts) + 1, source=None)

    @cached_property
    def perfect(self) -> RankingBatch:
        """The same queries with every judged passage retrieved, best grade first."""
        counts = np.bincount(self.judged_query, minlength=self.size)
        return replace(
            self,
            retrieved=counts,
            query=self.judged_query,
            rank=within(self.judged_query, counts) + 1,
            grade=self.judged_grade,
            source=self.source and self.source._replace(run=self.source.qrels),
        )


def rank_judged(
    qrels: Qrels,
    run: Run,
    query_ids: Sequence[str],
    subtopics: Subtopics = MappingProxyType({}),
    documents: Mapping[str, str] | None = None,
    *,
    languages: Languages | None = None,
) -> RankingBatch:
    """Return the ranks of some queries' judged passages in trec_eval's order.

    Passages are ordered by descending score, equal scores by descending passage id; scores are
    compared in single precision, as in trec_eval. A ranking without scores keeps its own order. A
    passage that is listed twice counts at its better rank. A query that is not in the run has an
    empty ranking.

    Raises:
        DatasetError: a score is not a finite number, or ids and scores differ in number.
    """
    scored, found = list[Mapping[str, float]](), list[list[str]]()
    scores, grades, judged = list[float](), list[int](), list[int]()
    counts = list[int]()
    for query_id in query_ids:  # one pass over each mapping, while it is in the cache
        held, own = _scored(query_id, run.get(query_id)), qrels.get(query_id, {})
        ids = list(filter(held.__contains__, own))
        scored.append(held)
        found.append(ids)
        scores.extend(map(held.__getitem__, ids))
        grades.extend(map(own.__getitem__, ids))
        judged.extend(own.values())
        counts.append(len(own))
    every = np.arange(len(query_ids))
    owner = np.repeat(every, list(map(len, found)))
    return RankingBatch(
        size=len(query_ids),
        retrieved=np.array(list(map(len, scored)), dtype=np.int64),
        query=owner,
        rank=_ranks(query_ids, scored, found, np.array(scores), owner),
        grade=np.array(grades, dtype=np.int64),
        judged_query=np.repeat(every, counts),
        judged_grade=np.array(judged, dtype=np.int64),
        source=Source(query_ids, qrels, run, subtopics, documents, languages),
    ).in_order()


def _scored(query_id: str, ranking: Ranking | Mapping[str, float] | None) -> Mapping[str, float]:
    """Return passage id -> score, the better score if an id is listed twice."""
    if ranking is None:
        return {}
    if isinstance(ranking, Mapping):
        return ranking
    if not isinstance(ranking, Ranking):
        raise DatasetError(
            f"the ranking of query {query_id!r} is {ranking!r}; give a mapping from passage id to "
            "score, or a Ranking of passage ids"
        )
    ids, scores = ranking.passage_ids, ranking.scores
    if len(scores) == 0:
        scores = range(len(ids), 0, -1)
    if len(ids) != len(scores):
        raise DatasetError(
            f"the ranking of query {query_id!r} has {len(ids)} passage ids and {len(scores)} "
            "scores; give one score per passage, or none at all"
        )
    held = dict(zip(ids, scores, strict=True))
    if len(held) < len(ids):
        for passage_id, score in zip(ids, scores, strict=True):
            held[passage_id] = max(held[passage_id], score)
    return held


def _ranks(
    query_ids: Sequence[str],
    scored: Sequence[Mapping[str, float]],
    found: Sequence[Sequence[str]],
    found_scores: Floats,
    owner: Ints,
) -> Ints:
    """Return the rank of every passage found: one more than the number of passages before it."""
    lengths = np.array(list(map(len, scored)), dtype=np.int64)
    every = chain.from_iterable([held.values() for held in scored])
    scores = np.fromiter(every, np.float64, lengths.sum())
    _check_finite(scores, lengths, query_ids)
    with np.errstate(over="ignore"):
        flat, own = scores.astype(np.float32), found_scores.astype(np.float32)
    starts = np.cumsum(lengths) - lengths
    ordered = _sorted_within(-flat, lengths, starts)
    first, last = starts[owner], (starts + lengths)[owner]
    place = first_at_least(ordered, -own, first, last)
    rank = place - first + 1
    for i in positions(tied(ordered, -own, place, last)):
        q = int(owner[i])
        passage = found[q][i - int(np.searchsorted(owner, q))]
        ids = list(scored[q])
        equal = positions(flat[starts[q] : starts[q] + lengths[q]] == own[i])
        rank[i] += sum(ids[other] > passage for other in equal)
    return rank


def _check_finite(scores: Floats, lengths: Ints, query_ids: Sequence[str]) -> None:
    bad = np.flatnonzero(~np.isfinite(scores))
    if len(bad):
        query_id = query_ids[int(np.searchsorted(np.cumsum(lengths), bad[0], side="right"))]
        raise DatasetError(
            f"the ranking of query {query_id!r} has the score {scores[bad[0]]}; a score must be a "
            "finite number"
        )


def _sorted_within(values: Floats, lengths: Ints, starts: Ints) -> Floats:
    """Return the values sorted in ascending order within each group."""
    ordered = np.empty_like(values)
    for length in np.flatnonzero(np.bincount(lengths)):
        rows = starts[lengths == length][:, None] + np.arange(length)
        ordered[rows] = np.sort(values[rows], axis=1)
    return ordered


def first_at_least(ordered: Floats, wanted: Floats, low: Ints, high: Ints) -> Ints:
    """Return, by bisection, the first position of a value that is not below the wanted one.

    Each wanted value has its own bounds in `ordered`, from `low` up to `high`.
    """
    for _ in range(int((high - low).max(initial=0)).bit_length()):
        middle = (low + high) >> 1
        right = ordered[np.minimum(middle, len(ordered) - 1)] < wanted
        right &= low < high
        low, high = np.where(right, middle + 1, low), np.where(right, high, middle)
    return low


def tied(ordered: Floats, wanted: Floats, place: Ints, last: Ints) -> Flags:
    """Return whether the value after each place, within its bounds, is the wanted one too."""
    same: Flags = ordered[np.minimum(place + 1, len(ordered) - 1)] == wanted
    return same & (place + 1 < last)
