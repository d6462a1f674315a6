"""Qrels files: BEIR's three columns or TREC's four, checked against queries and corpus."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NoReturn, TypeAlias

from ragstone.data.readers.rows import lines, listed, show, text_of
from ragstone.data.table_builder import qrels
from ragstone.errors import DatasetError

if TYPE_CHECKING:
    from arro3.core import Table

_LOG: Final = logging.getLogger(__name__)
_HEADS: Final = frozenset({"score", "relevance", "rel", "grade", "label"})
"""Names of the last column that mark a header line."""

Judgement: TypeAlias = tuple[str, str, str, int]
"""Place in the file ("line 3"), query id, passage id and grade."""


@dataclass(frozen=True)
class Known:
    """The ids that qrels may name; `passage_ids` is None for a data set without a corpus."""

    query_ids: AbstractSet[str]
    passage_ids: AbstractSet[str] | None


@dataclass
class _Dangling:
    """Judgements that name an unknown query or passage."""

    queries: list[str] = field(default_factory=list)
    passages: list[str] = field(default_factory=list)
    rows: int = 0

    def add_if_unknown(self, judgement: Judgement, known: Known) -> bool:
        """Add a judgement of an unknown query or passage; return whether it is one."""
        place, query_id, passage_id, _ = judgement
        no_query = query_id not in known.query_ids
        no_passage = known.passage_ids is not None and passage_id not in known.passage_ids
        if no_query:
            self.queries.append(f"{query_id!r} ({place})")
        if no_passage:
            self.passages.append(f"{passage_id!r} ({place})")
        self.rows += no_query or no_passage
        return no_query or no_passage

    def __str__(self) -> str:
        parts = []
        for found, noun in ((self.queries, "queries"), (self.passages, "passages")):
            if found:
                parts.append(f"{len(found):,} name {noun} that do not exist: {listed(found)}")
        return "; ".join(parts)


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
    builder, found, total = qrels(), _Dangling(), 0
    seen: dict[tuple[str, str], tuple[str, int]] = {}
    for judgement in judgements:
        place, query_id, passage_id, relevance = judgement
        total += 1
        before = seen.setdefault((query_id, passage_id), (place, relevance))
        if before[1] != relevance:
            raise DatasetError(
                f"{name}, {place}: query {query_id!r} and passage {passage_id!r} have grade "
                f"{relevance}, and {before[1]} in {before[0]}; keep one of the two"
            )
        if before[0] == place and not found.add_if_unknown(judgement, known):
            builder.add((query_id, passage_id, relevance))
    if found.rows:
        report_dangling(f"{name}: of {total:,} judgements {found}", dangling)
    return builder.finish()


def report_dangling(problem: str, dangling: Literal["error", "drop"]) -> None:
    """Raise `DatasetError` about rows without a counterpart, or warn that they are left out."""
    if dangling == "error":
        raise DatasetError(
            f"{problem}. Add the missing ones, remove these rows, or leave them out with "
            f"dangling_qrels: drop in the data set's section"
        )
    _LOG.warning("%s. Left out because of dangling_qrels: drop", problem)


def _judgements(path: Path) -> Iterator[Judgement]:
    width = 0
    for place, (number, line) in enumerate(lines(path)):
        text = text_of(path, number, line)
        cells = text.rstrip("\r\n").split("\t") if "\t" in text else text.split()
        width = width or len(cells)
        if len(cells) != width or width not in (3, 4):
            _malformed(path, number, text)
        if place == 0 and cells[-1].strip().lower() in _HEADS:
            continue
        query_id, passage_id = cells[0], cells[-2]
        try:
            grade = int(cells[-1])
        except ValueError as error:
            raise DatasetError(
                f"{path}, line {number}: the score must be a whole number such as 0, 1 or 2, "
                f"found {show(cells[-1].strip())}"
            ) from error
        if not (query_id and passage_id):
            _malformed(path, number, text)
        yield f"line {number}", query_id, passage_id, grade


def _malformed(path: Path, number: int, text: str) -> NoReturn:
    raise DatasetError(
        f"{path}, line {number}: expected query id, passage id and score with tabs between them "
        f"(or TREC's four columns: query id, 0, passage id, score), found {show(text.strip())}"
    )
