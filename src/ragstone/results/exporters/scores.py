"""Export to a table of scores: one row per system, setting, metric and query."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import orjson

from ragstone.core.schemas import SYSTEM_SCORES, to_table
from ragstone.data.writers.folder import write_lines
from ragstone.errors import ConfigError
from ragstone.results.exporters.base import Exporter
from ragstone.results.reader import StoredResults
from ragstone.results.trained_parts import parts_of_system, trained_sentences, trained_systems
from ragstone.statistics.failures import FAILURE_RATE

_ENDS: Final = (".parquet", ".csv", ".jsonl")


@dataclass(frozen=True)
class ScoreTable(Exporter):
    """Exports the score of every query as Parquet, CSV or JSON lines, by the end of the name.

    The columns are system, setting, query_id, metric, value, status and reason; the setting of
    ranking metrics is empty. If a system has seen queries in its training, a last column `trained`
    has the sentence in its rows.
    """

    def export(self, results: StoredResults, target: Path) -> list[Path]:
        """Write the file `target` and return it; raise `ConfigError` for another end."""
        write = {".parquet": _parquet, ".csv": _csv, ".jsonl": _json_lines}.get(target.suffix)
        if write is None:
            raise ConfigError(
                f"{target.name}: the form of scores is not known by this name; it ends with "
                f"{', '.join(_ENDS)}",
                value=str(target),
            )
        found = list(_rows(results))
        if not found:
            raise ConfigError(f"{results.name!r} has no score to write")
        return write_lines({target: write(found)})


def _rows(results: StoredResults) -> Iterator[dict[str, Any]]:
    parts = results.record.trained
    seen = {
        name: "; ".join(trained_sentences(parts_of_system(parts, name)))
        for name in results.systems
        if trained_systems(parts)
    }
    for rows in (*results.rankings, *results.trials):
        for metric, scores in rows.scores.items():
            if metric != FAILURE_RATE:
                for score in scores.values():
                    trained = {"trained": seen[rows.system]} if seen else {}
                    place = {"system": rows.system, "setting": rows.setting}
                    yield {**place, **asdict(score), **trained}


def _json_lines(rows: list[dict[str, Any]]) -> Iterator[bytes]:
    return (orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows)


def _csv(rows: list[dict[str, Any]]) -> Iterator[bytes]:
    text = io.StringIO()
    more = [name for name in rows[0] if name not in SYSTEM_SCORES.names]
    table = csv.DictWriter(text, [*SYSTEM_SCORES.names, *more])
    table.writeheader()
    table.writerows(rows)
    yield text.getvalue().encode()


def _parquet(rows: list[dict[str, Any]]) -> Iterator[bytes]:
    from arro3.core import Array, ChunkedArray, DataType, Field
    from arro3.io import write_parquet

    table = to_table(SYSTEM_SCORES, {n: [row[n] for row in rows] for n in SYSTEM_SCORES.names})
    if "trained" in rows[0]:
        column = ChunkedArray([Array([row["trained"] for row in rows], type=DataType.string())])
        table = table.append_column(Field("trained", DataType.string()), column)
    content = io.BytesIO()
    write_parquet(table, content)
    yield content.getvalue()
