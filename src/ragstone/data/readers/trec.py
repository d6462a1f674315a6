"""TREC's files: runs (six columns) and qrels, plain or gzipped."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import numpy as np

from ragstone.core.schemas import table_to_relevance
from ragstone.data.readers.qrels import Known, grade_of
from ragstone.data.readers.qrels import read_qrels as read_qrel_table
from ragstone.data.readers.rows import FieldError, decoded, parsed, show
from ragstone.errors import DatasetError
from ragstone.types import Ranking

_RUN_COLUMNS: Final = 6
_QRELS_COLUMNS: Final = 4


def read_run(path: Path) -> dict[str, Ranking]:
    """Return query id -> ranking of a run file: query id, Q0, passage id, rank, score, tag.

    As in trec_eval, the scores decide the order, highest first, and passage ids (descending) the
    order of equal scores. The rank column is ignored.

    Raises:
        DatasetError: a line does not have six columns, a score is not a finite number, or a passage
            occurs twice in a ranking.
    """
    scores: dict[str, dict[str, float]] = {}
    for number, (query_id, passage_id, score) in parsed(path, _run_row):
        ranked = scores.setdefault(query_id, {})
        if passage_id in ranked:
            raise DatasetError(
                f"{path}, line {number}: the passage {show(passage_id)} occurs twice in the "
                "ranking of "
                f"query {show(query_id)}; keep one of the two lines"
            )
        ranked[passage_id] = score
    return {query_id: _ranking(ranked) for query_id, ranked in scores.items()}


def _run_row(line: bytes) -> tuple[str, str, float]:
    """Return query id, passage id and score of a line."""
    columns = decoded(line).split()
    if len(columns) != _RUN_COLUMNS:
        raise FieldError(
            f"expected the six columns of a TREC run (query id, Q0, passage id, rank, score, tag), "
            f"found {len(columns)}: {show(' '.join(columns))}"
        )
    try:
        score = float(columns[4])
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        raise FieldError(f"the score (column 5) must be a finite number, found {show(columns[4])}")
    return columns[0], columns[2], score


def read_qrels(path: Path) -> dict[str, dict[str, int]]:
    """Return query id -> passage id -> relevance of a qrels file without a data set.

    The file has TREC's four columns (query id, iteration, passage id, relevance) or BEIR's three;
    the header line is optional.
    """
    table = read_qrel_table(path, Known(None, None), dangling="error")
    return {query_id: dict(grades) for query_id, grades in table_to_relevance(table).items()}


def read_subtopics(path: Path) -> dict[str, dict[str, dict[str, int]]]:
    """Return query id -> subtopic -> passage id -> grade of a qrels file with subtopics.

    The file has the four columns of TREC's diversity tasks: query id, subtopic, passage id, grade.

    Raises:
        DatasetError: a line has other columns, a grade is not a whole number, a passage has two
            grades on a subtopic, or all lines have the same subtopic.
    """
    found: dict[str, dict[str, dict[str, int]]] = {}
    for number, (query_id, subtopic, passage_id, grade) in parsed(path, _subtopic_row):
        grades = found.setdefault(query_id, {}).setdefault(subtopic, {})
        if grades.setdefault(passage_id, grade) != grade:
            raise DatasetError(
                f"{path}, line {number}: query {show(query_id)}, subtopic {show(subtopic)} and "
                "passage "
                f"{show(passage_id)} have grade {grade}, and {grades[passage_id]} before; keep one"
            )
    if len({subtopic for of_query in found.values() for subtopic in of_query}) == 1:
        raise DatasetError(
            f"{path}: all lines have the same second column, so the qrels have no subtopics; the "
            "columns are query id, subtopic, passage id, grade"
        )
    return found


def best_grades(
    subtopics: Mapping[str, Mapping[str, Mapping[str, int]]],
) -> dict[str, dict[str, int]]:
    """Return query id -> passage id -> the highest grade on any subtopic.

    >>> best_grades({"q": {"1": {"a": 0, "b": 1}, "2": {"a": 2}}})
    {'q': {'a': 2, 'b': 1}}
    """
    found: dict[str, dict[str, int]] = {}
    for query_id, of_query in subtopics.items():
        best = found.setdefault(query_id, {})
        for grades in of_query.values():
            for passage_id, grade in grades.items():
                best[passage_id] = max(grade, best.get(passage_id, grade))
    return found


def _subtopic_row(line: bytes) -> tuple[str, str, str, int]:
    columns = decoded(line).split()
    if len(columns) != _QRELS_COLUMNS:
        raise FieldError(
            f"expected query id, subtopic, passage id and grade, found {show(' '.join(columns))}"
        )
    return columns[0], columns[1], columns[2], grade_of(columns[3])


def run_lines(rankings: Mapping[str, Ranking], tag: str) -> Iterator[bytes]:
    r"""Yield the lines of a run file, in trec_eval's order.

    Ragstone's own metrics use the same order: by score in single precision, then by passage id,
    descending. Scores are written in full precision, so trec_eval and Ragstone give the same
    values. The format loses the order of passages with equal scores.

    Raises:
        DatasetError: an id contains white space, which the format cannot represent.

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
                        f"the id {show(written)} is empty or contains white space, which separates "
                        f"the columns of a TREC run; change the id"
                    )
            yield f"{query_id} Q0 {passage_id} {rank} {score!r} {tag}\n".encode()


def qrel_lines(qrels: Mapping[str, Mapping[str, int]]) -> Iterator[bytes]:
    """Yield the lines of a qrels file in TREC's four columns."""
    for query_id, grades in qrels.items():
        for passage_id, grade in grades.items():
            yield f"{query_id} 0 {passage_id} {grade}\n".encode()


def _ranking(scores: dict[str, float]) -> Ranking:
    ordered = sorted(((score, p) for p, score in scores.items()), reverse=True)
    return Ranking([p for _, p in ordered], [score for score, _ in ordered])
