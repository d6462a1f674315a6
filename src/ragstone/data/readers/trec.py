"""TREC's files: runs (six columns) and qrels, plain or gzip, with file and line in every error."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import numpy as np

from ragstone.core.schemas import table_to_relevance
from ragstone.data.readers.qrels import Known
from ragstone.data.readers.qrels import read_qrels as read_qrel_table
from ragstone.data.readers.rows import lines, show, text_of
from ragstone.errors import DatasetError
from ragstone.types import Ranking

_RUN_COLUMNS: Final = 6


class _AnyId(frozenset[str]):
    """Holds every id: qrels that stand alone have no queries to be checked against."""

    __slots__ = ()

    def __contains__(self, _query_id: object) -> bool:
        return True


def read_run(path: Path) -> dict[str, Ranking]:
    """Return query id -> ranking of a run file: query id, Q0, passage id, rank, score, tag.

    As trec_eval does, the order is made from the scores, highest first; equal scores are ordered by
    passage id, descending. The rank column is not read.

    Raises:
        DatasetError: a line is not six columns, a score is no finite number, or a passage stands
            twice in a ranking.
    """
    scores: dict[str, dict[str, float]] = {}
    for number, line in lines(path):
        columns = text_of(path, number, line).split()
        if len(columns) != _RUN_COLUMNS:
            raise DatasetError(
                f"{path}, line {number}: expected the six columns of a TREC run (query id, Q0, "
                f"passage id, rank, score, tag), found {len(columns)}: {show(' '.join(columns))}"
            )
        query_id, passage_id = columns[0], columns[2]
        ranked = scores.setdefault(query_id, {})
        if passage_id in ranked:
            raise DatasetError(
                f"{path}, line {number}: the passage {passage_id!r} stands twice in the ranking of "
                f"query {query_id!r}; keep one of the two lines"
            )
        ranked[passage_id] = _score(path, number, columns[4])
    return {query_id: _ranking(ranked) for query_id, ranked in scores.items()}


def read_qrels(path: Path) -> dict[str, dict[str, int]]:
    """Return query id -> passage id -> relevance of a qrels file that stands alone.

    TREC's four columns (query id, iteration, passage id, relevance) or BEIR's three, with or
    without a header line.
    """
    table = read_qrel_table(path, Known(_AnyId(), None), dangling="error")
    return {query_id: dict(grades) for query_id, grades in table_to_relevance(table).items()}


def run_lines(rankings: Mapping[str, Ranking], tag: str) -> Iterator[bytes]:
    r"""Yield the lines of a run file, in the order in which trec_eval takes them.

    That is the order of Ragstone's own metrics too: by score in single precision, equal ones by
    passage id, descending. Scores are written whole, so both give the same values for the file; of
    passages with equal scores, the order in a ranking cannot be told by this form. Raises
    `DatasetError` for an id with white space, which it cannot hold.

    >>> list(run_lines({"q": Ranking(["a", "b"], [0.5, 0.5])}, "mine"))
    [b'q Q0 b 1 0.5 mine\n', b'q Q0 a 2 0.5 mine\n']
    """
    for query_id, ranking in rankings.items():
        ordered = sorted(
            ((np.float32(place.score), place.passage_id, place.score) for place in ranking),
            reverse=True,
        )
        for rank, (_, passage_id, score) in enumerate(ordered, start=1):
            for written in (query_id, passage_id):
                if len(written.split()) != 1:
                    raise DatasetError(
                        f"the id {written!r} holds white space, which parts the columns of a TREC "
                        f"run; give it another"
                    )
            yield f"{query_id} Q0 {passage_id} {rank} {score!r} {tag}\n".encode()


def qrel_lines(qrels: Mapping[str, Mapping[str, int]]) -> Iterator[bytes]:
    """Yield the lines of a qrels file in TREC's four columns."""
    for query_id, grades in qrels.items():
        for passage_id, grade in grades.items():
            yield f"{query_id} 0 {passage_id} {grade}\n".encode()


def _score(path: Path, number: int, written: str) -> float:
    try:
        score = float(written)
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        raise DatasetError(
            f"{path}, line {number}: the score (column 5) must be a finite number, "
            f"found {written!r}"
        )
    return score


def _ranking(scores: dict[str, float]) -> Ranking:
    ordered = sorted(((score, p) for p, score in scores.items()), reverse=True)
    return Ranking([p for _, p in ordered], [score for score, _ in ordered])
