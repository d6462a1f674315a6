"""The ranks of judged passages from arrays, for runs that are not Python objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from ragstone.components.metrics.arrays import positions
from ragstone.components.metrics.ranking_batch import RankingBatch, first_at_least, tied
from ragstone.errors import DatasetError

if TYPE_CHECKING:
    import numpy.typing as npt

    Ints = npt.NDArray[np.integer]
    Floats = npt.NDArray[np.floating]

_BITS: Final = 22
_SPREAD: Final = np.uint64(0x9E3779B97F4A7C15)


def rank_arrays(
    passages: Ints, scores: Floats, judged_query: Ints, judged_passage: Ints, grades: Ints
) -> RankingBatch:
    """Return the ranks of the judged passages of rankings that all have one length.

    The order is trec_eval's: score descending in single precision, ties by passage number
    descending.

    Args:
        passages: passage numbers from 0, of shape (queries, depth), no number twice in a row.
        scores: their scores, of the same shape; the higher the better, in any order.
        judged_query: row of `passages` that each judgement is about, of shape (judgements,).
        judged_passage: the passage that it is about, of the same shape.
        grades: its grade, of the same shape.

    Raises:
        DatasetError: shapes that do not fit, or a score that is not a finite number.

    >>> ranks = rank_arrays(
    ...     np.array([[7, 8, 9]]), np.array([[0.5, 0.9, 0.1]]), *np.array([[0, 0], [7, 4], [1, 2]])
    ... )
    >>> ranks.rank.tolist(), ranks.grade.tolist(), ranks.judged_grade.tolist()
    ([2], [1], [2, 1])
    """
    _check(passages, scores, judged_query, judged_passage, grades)
    size, depth = passages.shape
    width = int(max(passages.max(initial=0), judged_passage.max(initial=0))) + 1
    known = judged_query.astype(np.int64) * width + judged_passage
    order = np.argsort(known)
    known = known[order]
    keys = (np.arange(size)[:, None] * width + passages).ravel()
    table = np.zeros(1 << _BITS, np.bool_)
    table[_slots(known)] = True
    place = np.flatnonzero(table[_slots(keys)])
    which = np.minimum(np.searchsorted(known, keys[place]), len(known) - 1)
    sure = known[which] == keys[place]
    place, which = place[sure], order[which[sure]]
    with np.errstate(over="ignore"):
        single = scores.astype(np.float32)
    return RankingBatch(
        size=size,
        retrieved=np.full(size, depth, np.int64),
        query=place // depth,
        rank=_ranks(single, passages, place // depth, place % depth),
        grade=grades[which].astype(np.int64),
        judged_query=judged_query.astype(np.int64),
        judged_grade=grades.astype(np.int64),
    ).in_order()


def _check(
    passages: Ints, scores: Floats, judged_query: Ints, judged_passage: Ints, grades: Ints
) -> None:
    if passages.ndim != 2 or passages.shape != scores.shape:  # noqa: PLR2004 - (queries, depth)
        raise DatasetError(
            f"passages of shape {passages.shape} and scores of shape {scores.shape}; both must "
            "have the shape (queries, depth)"
        )
    if not len(judged_query) == len(judged_passage) == len(grades):
        raise DatasetError(
            f"{len(judged_query)} queries, {len(judged_passage)} passages and {len(grades)} grades "
            "of judgements; give one of each per judgement"
        )
    if not np.isfinite(scores).all():
        raise DatasetError("a score is not a finite number; give finite scores, higher is better")


def _slots(keys: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    spread = (keys.view(np.uint64) * _SPREAD) >> np.uint64(64 - _BITS)
    found: npt.NDArray[np.int64] = spread.view(np.int64)
    return found


def _ranks(
    scores: npt.NDArray[np.float32], passages: Ints, row: Ints, column: Ints
) -> npt.NDArray[np.int64]:
    """Return the rank of the passages at some places: one more than the number before them."""
    wanted, depth = -scores[row, column], scores.shape[1]
    ordered = np.sort(-scores, axis=1).ravel()
    start = row * depth
    place = first_at_least(ordered, wanted, start, start + depth)
    rank: npt.NDArray[np.int64] = place - start + 1
    for i in positions(tied(ordered, wanted, place, start + depth)):
        equal = scores[row[i]] == scores[row[i], column[i]]
        rank[i] += np.count_nonzero(passages[row[i]][equal] > passages[row[i], column[i]])
    return rank
