"""What `rank` and `score` have in common: files of scores, and notes on what did not fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ragstone.errors import DatasetError

if TYPE_CHECKING:
    from arro3.core import Table

    from ragstone.evaluation.score_files import Evaluation


def write_scores(path: Path, tables: Sequence[Table]) -> None:
    """Write one JSON line per query and metric: query_id, metric, value, status, reason."""
    import orjson

    from ragstone.core.schemas import rows

    try:
        with path.open("wb") as file:
            for table in tables:
                file.writelines(orjson.dumps(row) + b"\n" for row in rows(table))
    except OSError as error:
        raise DatasetError(f"cannot write {path}: {error.strerror}") from error


def notes(evaluation: Evaluation, lacking: str, unknown: str) -> Iterator[str]:
    """Yield a line for the queries that are missing, and one for those that are left out."""
    from ragstone.data.readers.rows import listed

    absent, unheard = evaluation.missing, evaluation.extra
    if absent:
        yield f"note: {lacking} some queries ({len(absent):,}), which count 0: {listed(absent)}"
    if unheard:
        yield f"note: {unknown} some queries ({len(unheard):,}), left out: {listed(unheard)}"
