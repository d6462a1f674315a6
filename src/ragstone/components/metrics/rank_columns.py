"""The ranks of judged passages from the columns of a run file and of a qrels file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import numpy as np

from ragstone.components.metrics.arrays import within
from ragstone.components.metrics.ranking_batch import (
    Languages,
    Qrels,
    RankingBatch,
    Run,
    Source,
    Subtopics,
    first_at_least,
    rank_judged,
    tied,
)
from ragstone.data.readers.run_columns import Lines, QrelColumns, RunColumns

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragstone.components.metrics.arrays import Ints

_BITS: Final = 22
"""The table of the first bits of judged keys has 2^22 bytes."""
_SHIFT: Final = np.uint64(64 - _BITS)
_TIES: Final = 512
"""Passages that are compared at once with those of equal score."""
_NONE: Final = np.zeros(0, np.int64)


def rank_any(
    qrels: Qrels,
    run: Run,
    query_ids: Sequence[str],
    subtopics: Subtopics = MappingProxyType({}),
    documents: Mapping[str, str] | None = None,
    *,
    languages: Languages | None = None,
) -> RankingBatch:
    """Return what `rank_judged` returns, from columns if both sides have them."""
    if isinstance(qrels, QrelColumns) and (isinstance(run, RunColumns) or not run):
        lines = run.lines if isinstance(run, RunColumns) else None
        source = Source(query_ids, qrels, run, subtopics, documents, languages)
        if found := _rank_columns(source, qrels.lines, lines):
            return found
    return rank_judged(qrels, run, query_ids, subtopics, documents, languages=languages)


def _rank_columns(source: Source, judged: Lines, ranked: Lines | None) -> RankingBatch | None:
    """Return the ranks; None if two different passages have the same key."""
    size = len(source.query_ids)
    place = {query_id: i for i, query_id in enumerate(source.query_ids)}
    owner = _places(judged, place)[judged.query]
    retrieved, line, which = np.zeros(size, np.int64), _NONE, _NONE
    if ranked is not None:
        hits = _hits(judged, ranked)
        if hits is None:
            return None
        line, which = (side[owner[hits[1]] >= 0] for side in hits)
        places = _places(ranked, place)
        retrieved[places[places >= 0]] = ranked.counts[places >= 0]
    return RankingBatch(
        size=size,
        retrieved=retrieved,
        query=owner[which],
        rank=_NONE if ranked is None else _ranks(ranked, line),
        grade=judged.numbers[which].astype(np.int64),
        judged_query=owner[owner >= 0],
        judged_grade=judged.numbers[owner >= 0].astype(np.int64),
        source=source,
    ).in_order()


def _places(lines: Lines, place: Mapping[str, int]) -> Ints:
    """Return the place of each query of a file in the batch, or -1."""
    return np.array([place.get(query_id, -1) for query_id in lines.query_ids], dtype=np.int64)


def _hits(judged: Lines, ranked: Lines) -> tuple[Ints, Ints] | None:
    """Return the lines of the judged passages in the run, and their lines in the qrels."""
    order = np.argsort(judged.keys)
    known = judged.keys[order]
    table = np.zeros(1 << _BITS, np.bool_)
    table[known >> _SHIFT] = True
    line = np.flatnonzero(table[ranked.keys >> _SHIFT])
    keys = ranked.keys[line]
    which, in_turn = np.empty(len(keys), np.int64), np.argsort(keys)
    which[in_turn] = np.searchsorted(known, keys[in_turn])  # sorted ones are found much faster
    which = np.minimum(which, len(known) - 1)
    sure = known[which] == keys
    line, which = line[sure], order[which[sure]]
    same = _places(ranked, judged.query_ids)[ranked.query[line]] == judged.query[which]
    return (line, which) if (same & ranked.same_passages(line, judged, which)).all() else None


def _ranks(ranked: Lines, line: Ints) -> Ints:
    """Return the rank of some lines: one more than the number of passages before them."""
    with np.errstate(over="ignore"):
        scores = -ranked.numbers.astype(np.float32)
    order = _order(ranked, scores)
    ordered = scores[order]
    owner, wanted = ranked.query[line], scores[line]
    first, last = ranked.starts[owner], (ranked.starts + ranked.counts)[owner]
    place = first_at_least(ordered, wanted, first, last)
    rank = place - first + 1
    equal = np.flatnonzero(tied(ordered, wanted, place, last))
    above = np.nextafter(wanted[equal], np.float32(np.inf))
    end = first_at_least(ordered, above, place[equal], last[equal])
    end = np.where(np.isinf(wanted[equal]) & (wanted[equal] > 0), last[equal], end)
    for start in range(0, len(equal), _TIES):
        part = slice(start, start + _TIES)
        mine, counts = equal[part], end[part] - place[equal[part]]
        tie = np.repeat(np.arange(len(mine)), counts)
        others = order[place[mine][tie] + within(tie, counts)]
        before = ranked.later_passages(others, line[mine][tie])
        rank[mine] += np.bincount(tie[before], minlength=len(mine))
    return rank


def _order(ranked: Lines, scores: npt.NDArray[np.float32]) -> Ints:
    """Return the lines sorted by query, then by score in ascending order."""
    falls = scores[1:] < scores[:-1]
    falls[ranked.starts[1:] - 1] = False
    return np.lexsort((scores, ranked.query)) if falls.any() else np.arange(len(scores))
