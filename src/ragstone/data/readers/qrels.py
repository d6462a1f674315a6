"""Qrels files: BEIR's three columns or TREC's four, checked against queries and corpus."""

from __future__ import annotations

import logging
import operator
import re
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from ragstone.data.readers.rows import FieldError, decoded, listed, parsed, show
from ragstone.data.table_builder import qrels
from ragstone.errors import DatasetError

if TYPE_CHECKING:
    from arro3.core import Table

_LOG: Final = logging.getLogger(__name__)
_HEADS: Final = frozenset({"score", "relevance", "rel", "grade", "label"})
"""Names of the last column that mark a header line."""

_GRADE: Final = re.compile(r"[+-]?[0-9]{1,18}")
"""A grade is a number of 64 bits in a table; other digits and `1_0` are mistakes."""

Judgement: TypeAlias = tuple[str, str, str, int]
"""Place in the file ("line 3"), query id, passage id and grade."""


@dataclass(frozen=True)
class Known:
    """The ids that qrels may name; None allows every id, if there are no queries or no corpus."""

    query_ids: AbstractSet[str] | None
    passage_ids: AbstractSet[str] | None

    def unknown(self, query_id: str, passage_id: str) -> tuple[bool, bool]:
        """Return whether the query, and whether the passage, is unknown."""
        no_query = self.query_ids is not None and query_id not in self.query_ids
        return no_query, self.passage_ids is not None and passage_id not in self.passage_ids


def read_qrels(path: Path, known: Known, *, dangling: Literal["error", "drop"]) -> Table:
    """Return the QRELS table of a file; the header line is optional.

    A pair judged twice with the same grade counts once; with two grades it is an error.
    """
    return collect_qrels(_judgements(path), str(path), known, dangling=dangling)


def collect_qrels(
    judgements: Iterable[Judgement],
    name: str,
    known: Known,
    *,
    dangling: Literal["error", "drop"],
) -> Table:
    """Return the QRELS table of checked judgements; `name` is the name of the file."""
    builder, total = qrels(), 0
    seen = _Seen()
    queries, passages = list[str](), list[str]()
    for place, query_id, passage_id, grade in judgements:
        total += 1
        if before := seen.before(place, query_id, passage_id, grade):
            if before[1] == grade:
                continue
            raise DatasetError(
                f"{name}, {place}: query {show(query_id)} and passage {show(passage_id)} have "
                "grade "
                f"{grade}, and {before[1]} in {before[0]}; keep one of the two"
            )
        no_query, no_passage = known.unknown(query_id, passage_id)
        if no_query:
            queries.append(f"{show(query_id)} ({place})")
        if no_passage:
            passages.append(f"{show(passage_id)} ({place})")
        if not (no_query or no_passage):
            builder.add((query_id, passage_id, grade))
    problems = [
        f"{len(found):,} name {noun} that do not exist: {listed(found)}"
        for noun, found in (("queries", queries), ("passages", passages))
        if found
    ]
    if problems:
        report_dangling(f"{name}: of {total:,} judgements {'; '.join(problems)}", dangling)
    return builder.finish()


class _Seen:
    """The judged pairs by their hashes: the ids of a million pairs would fill memory.

    Among ten million pairs, two have one hash of 64 bits with a probability of 3 in a million.
    """

    def __init__(self) -> None:
        self._rows: dict[int, int] = {}
        self._grades: list[int] = []
        self._places: list[str] = []

    def before(
        self, place: str, query_id: str, passage_id: str, grade: int
    ) -> tuple[str, int] | None:
        """Return place and grade of an earlier judgement of a pair; add the first one."""
        row = self._rows.setdefault(hash((query_id, passage_id)), len(self._grades))
        if row < len(self._grades):
            return self._places[row], self._grades[row]
        self._grades.append(grade)
        self._places.append(place)
        return None


def report_dangling(problem: str, dangling: Literal["error", "drop"]) -> None:
    """Raise `DatasetError` about rows without a counterpart, or warn that they are left out."""
    if dangling == "error":
        raise DatasetError(
            f"{problem}. Add the missing ones, remove these rows, or leave them out with "
            f"dangling_qrels: drop in the data set's section"
        )
    _LOG.warning("%s. Left out because of dangling_qrels: drop", problem)


def _judgements(path: Path) -> Iterator[Judgement]:
    for number, found in parsed(path, JudgementParser()):
        if found:
            yield f"line {number}", *found


def numbered_judgements(rows: Iterable[Sequence[Any]]) -> Iterator[Judgement]:
    """Yield (query id, passage id, grade) of a program; raise `DatasetError` for other rows."""
    for number, row in enumerate(rows, start=1):
        try:
            query_id, passage_id, grade = row
            yield f"row {number}", query_id, passage_id, grade_of(str(operator.index(grade)))
        except (TypeError, ValueError) as error:
            raise DatasetError(
                f"qrels, row {number}: expected (query id, passage id, grade) with a whole number, "
                f"such as ('q1', 'p1', 1), found {show(row)}",
                line=number,
                value=row,
            ) from error


class JudgementParser:
    """Parses the lines of one file of qrels, which have equal numbers of columns."""

    width = 0

    def __call__(self, line: bytes) -> tuple[str, str, int] | None:
        """Return query id, passage id and grade; None for a header in the first line.

        Raises `FieldError` if the line is malformed.
        """
        text = decoded(line)
        cells = text.split("\t") if "\t" in text else text.split()
        is_first, width = not self.width, self.width or len(cells)
        if len(cells) != width or width not in (3, 4) or not (cells[0] and cells[-2]):
            raise FieldError(
                f"expected query id, passage id and score with tabs between them "
                f"(or TREC's four columns: query id, 0, passage id, score), found "
                f"{show(text.strip())}"
            )
        self.width = width
        if is_first and cells[-1].strip().lower() in _HEADS:
            return None
        return cells[0], cells[-2], grade_of(cells[-1])


def grade_of(cell: str) -> int:
    """Return the grade in a cell: a whole number of at most 18 digits; raise `FieldError`."""
    if not _GRADE.fullmatch(cell.strip()):
        raise FieldError(
            f"the score must be a whole number such as 0, 1 or 2, found {show(cell.strip())}"
        )
    return int(cell)
