"""Where the judged passages of many queries stand: the arrays beneath every ranking metric.

Only judged passages can change a ranking metric, so a ranking is never sorted as a whole: its
scores are, as plain numbers, and the place of a judged passage is counted from them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ragstone.errors import DatasetError
from ragstone.types import Ranking

if TYPE_CHECKING:
    import numpy.typing as npt

    Ints = npt.NDArray[np.int64]
    Floats = npt.NDArray[np.floating]

Qrels: TypeAlias = Mapping[str, Mapping[str, int]]
Run: TypeAlias = Mapping[str, "Ranking | Mapping[str, float]"]


@dataclass(frozen=True)
class Ranks:
    """Rank and grade of every judged passage that was retrieved, and all grades there are.

    The entries of `query`, `rank` and `grade` are sorted by query, then by rank; those of
    `judged_query` and `judged_grade` by query, then by falling grade. Ranks count from 1.
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

    def count(self, rel: int, depth: int | Ints) -> Floats:
        """Return how many passages of grade `rel` or more stand among the first `depth`."""
        limit = depth if isinstance(depth, int) else depth[self.query]
        chosen = self.query[(self.grade >= rel) & (self.rank <= limit)]
        return np.bincount(chosen, minlength=self.size).astype(np.float64)

    def relevant(self, rel: int = 1) -> Floats:
        """Return how many passages of grade `rel` or more the qrels hold for each query."""
        chosen = self.judged_query[self.judged_grade >= rel]
        return np.bincount(chosen, minlength=self.size).astype(np.float64)

    def hits(self, rel: int, depth: int) -> tuple[Ints, Ints]:
        """Return query and rank of the passages of grade `rel` or more among the first `depth`."""
        chosen = (self.grade >= rel) & (self.rank <= depth)
        return self.query[chosen], self.rank[chosen]

    @cached_property
    def perfect(self) -> Ranks:
        """The same queries with every judged passage retrieved, best grade first."""
        counts = np.bincount(self.judged_query, minlength=self.size)
        places = within(self.judged_query, counts) + 1
        return Ranks(
            size=self.size,
            retrieved=counts,
            query=self.judged_query,
            rank=places,
            grade=self.judged_grade,
            judged_query=self.judged_query,
            judged_grade=self.judged_grade,
        )


def within(group: Ints, counts: Ints) -> Ints:
    """Return each entry's place in its group, from 0; entries stand group by group.

    >>> within(np.array([0, 0, 2]), np.array([2, 0, 1])).tolist()
    [0, 1, 0]
    """
    starts = np.cumsum(counts) - counts
    place: Ints = np.arange(len(group)) - starts[group]
    return place


def one_ranking(passage_ids: Sequence[str], relevance: Mapping[str, int]) -> Ranks:
    """Return the ranks of one query's passages, best first."""
    return rank_judged({"": relevance}, {"": Ranking(passage_ids)}, [""])


def rank_judged(qrels: Qrels, run: Run, query_ids: Sequence[str]) -> Ranks:
    """Return the ranks of some queries' judged passages in trec_eval's order.

    That order is: score descending, ties by passage id descending, where scores are compared in
    single precision, as trec_eval keeps them. A ranking without scores is taken in the order
    given; a passage that is listed twice counts at its better place; a query that the run lacks
    has an empty ranking.

    Raises:
        DatasetError: a score is not a finite number, or ids and scores differ in number.
    """
    scored = [_scored(query_id, run.get(query_id)) for query_id in query_ids]
    judged = [qrels.get(query_id, {}) for query_id in query_ids]
    found = [[p for p in grades if p in held] for grades, held in zip(judged, scored, strict=True)]
    owner = _owners(found)
    rank = _places(scored, found, owner, query_ids)
    grade = _ints(g[p] for g, ids in zip(judged, found, strict=True) for p in ids)
    order = np.lexsort((rank, owner))
    judged_query, judged_grade = (
        _owners(judged),
        _ints(grade for grades in judged for grade in grades.values()),
    )
    best = np.lexsort((-judged_grade, judged_query))
    return Ranks(
        size=len(query_ids),
        retrieved=_ints(map(len, scored)),
        query=owner[order],
        rank=rank[order],
        grade=grade[order],
        judged_query=judged_query[best],
        judged_grade=judged_grade[best],
    )


def _ints(values: Iterable[int]) -> Ints:
    return np.fromiter(values, dtype=np.int64)


def _owners(groups: Sequence[Sequence[str] | Mapping[str, int]]) -> Ints:
    return np.repeat(np.arange(len(groups)), [len(group) for group in groups])


def _scored(query_id: str, ranking: Ranking | Mapping[str, float] | None) -> Mapping[str, float]:
    """Return passage id -> score, the better score where an id is listed twice."""
    if ranking is None:
        return {}
    if not isinstance(ranking, Ranking):
        return ranking
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


def _places(
    scored: Sequence[Mapping[str, float]],
    found: Sequence[Sequence[str]],
    owner: Ints,
    query_ids: Sequence[str],
) -> Ints:
    """Return the rank of every passage found: one more than the passages that stand before it."""
    lengths = _ints(map(len, scored))
    flat = np.fromiter(chain.from_iterable(h.values() for h in scored), np.float64, lengths.sum())
    _check_finite(flat, lengths, query_ids)
    own = np.fromiter(
        (held[p] for held, ids in zip(scored, found, strict=True) for p in ids), np.float64
    )
    with np.errstate(over="ignore"):
        flat, own = flat.astype(np.float32), own.astype(np.float32)
    starts = np.cumsum(lengths) - lengths
    ordered = _sorted_within(-flat, lengths, starts)
    first, last = starts[owner], (starts + lengths)[owner]
    before = _search(ordered, -own, first, last, side="left") - first
    through = _search(ordered, -own, first, last, side="right") - first
    rank = before + 1
    for i in np.flatnonzero(through - before > 1):
        q = int(owner[i])
        passage = found[q][int(i - np.searchsorted(owner, q))]
        ids, tied = list(scored[q]), flat[starts[q] : starts[q] + lengths[q]] == own[i]
        rank[i] += sum(ids[place] > passage for place in np.flatnonzero(tied))
    return rank


def _check_finite(scores: Floats, lengths: Ints, query_ids: Sequence[str]) -> None:
    bad = np.flatnonzero(~np.isfinite(scores))
    if len(bad):
        query_id = query_ids[int(np.searchsorted(np.cumsum(lengths), bad[0], side="right"))]
        raise DatasetError(
            f"the ranking of query {query_id!r} has the score {scores[bad[0]]}; scores are finite "
            "numbers, the higher the better"
        )


def _sorted_within(values: Floats, lengths: Ints, starts: Ints) -> Floats:
    """Return the values sorted in ascending order within each group."""
    ordered = np.empty_like(values)
    for length in np.unique(lengths[lengths > 0]):
        rows = starts[lengths == length][:, None] + np.arange(length)
        ordered[rows] = np.sort(values[rows], axis=1)
    return ordered


def _search(ordered: Floats, wanted: Floats, low: Ints, high: Ints, *, side: str) -> Ints:
    """Return where each wanted value would stand between its own bounds, by bisection."""
    low, high = low.copy(), high.copy()
    for _ in range(int((high - low).max(initial=0)).bit_length()):
        middle = np.minimum((low + high) // 2, len(ordered) - 1)
        right = ordered[middle] < wanted if side == "left" else ordered[middle] <= wanted
        right &= low < high
        low = np.where(right, middle + 1, low)
        high = np.where(right, high, np.maximum(middle, low))
    return low
