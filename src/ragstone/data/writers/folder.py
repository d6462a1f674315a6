"""Writing any data set in Ragstone's own layout; `ragstone.data.readers.folder` reads it again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import orjson

from ragstone.core import limits
from ragstone.core.schemas import labels_from_json, rows
from ragstone.data.dataset import Dataset
from ragstone.errors import DatasetError

if TYPE_CHECKING:
    from arro3.core import Table

_OWN_FIELDS: Final = frozenset(
    {"_id", "text", "title", "document", "answers", "rewrite", "history", "metadata"}
)
"""Fields with a meaning of their own: a label of such a name is written within `metadata`."""


def write_dataset(dataset: Dataset, folder: Path) -> list[Path]:
    """Write a data set into a folder and return the files: what is read back is equal to it.

    Turns of conversations are written as queries with their history. A data set without a corpus
    or without qrels gets no such file. Raises `DatasetError` where one of the files is there
    already, or where writing fails; a file is never left half written under its name.
    """
    made = {
        "corpus.jsonl": (
            dataset.corpus.table,
            map(_line, map(_passage, _all(dataset.corpus.table))),
        ),
        "queries.jsonl": (dataset.query_table, map(_line, map(_query, _all(dataset.query_table)))),
        "qrels.tsv": (dataset.qrel_table, _judgements(dataset.qrel_table)),
    }
    return write_lines(
        {folder / name: lines for name, (table, lines) in made.items() if table.num_rows}
    )


def write_lines(wanted: Mapping[Path, Iterable[bytes]]) -> list[Path]:
    """Write files of lines and return them; nothing there is overwritten, nothing half written.

    Raises `DatasetError` where one of them is there already, or where writing fails.
    """
    named = [file for path in wanted for file in (path, path.with_name(f"{path.name}.gz"))]
    there = [str(file) for file in named if file.exists()]
    if there:
        raise DatasetError(f"{there[0]} is there already; choose another folder, or remove it")
    for path, lines in wanted.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            _write(path, lines)
        except OSError as error:
            raise DatasetError(f"cannot write the data set into {path.parent}: {error}") from error
    return list(wanted)


def _write(path: Path, lines: Iterable[bytes]) -> None:
    partial = path.with_name(f"{path.name}.part")
    try:
        with partial.open("wb") as file:
            file.writelines(lines)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _all(table: Table) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table, a batch at a time: all at once would be ten times its size."""
    for start in range(0, table.num_rows, limits.TABLE_BATCH_ROWS):
        yield from rows(table.slice(start, min(limits.TABLE_BATCH_ROWS, table.num_rows - start)))


def _passage(row: Mapping[str, Any]) -> dict[str, Any]:
    own = {"_id": row["passage_id"], "title": row["title"], "text": row["text"]}
    own["document"] = row["document_id"]
    return _with_labels(own, row["labels"])


def _query(row: Mapping[str, Any]) -> dict[str, Any]:
    said = orjson.loads(row["history"]) if row["history"] else []
    own = {
        "_id": row["query_id"],
        "text": row["text"],
        "answers": row["gold_answers"],
        "rewrite": row["rewrite"],
        "history": [{"role": role, "text": text} for role, text in said],
    }
    return _with_labels(own, row["labels"])


def _with_labels(own: dict[str, Any], labels: str) -> dict[str, Any]:
    """Add the labels, and leave out what is empty and may be absent."""
    kept = {name: value for name, value in own.items() if value or name in ("_id", "text")}
    held = labels_from_json(labels)
    clashing = {name: value for name, value in held.items() if name in _OWN_FIELDS}
    free = {name: value for name, value in held.items() if name not in _OWN_FIELDS}
    return {**kept, **free, **({"metadata": clashing} if clashing else {})}


def _line(row: Mapping[str, Any]) -> bytes:
    return orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)


def _judgements(table: Table) -> Iterator[bytes]:
    yield b"query-id\tcorpus-id\tscore\n"
    for row in _all(table):
        yield f"{row['query_id']}\t{row['passage_id']}\t{row['relevance']}\n".encode()
