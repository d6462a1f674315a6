"""Writing a data set in Ragstone's own layout, which `ragstone.data.readers.folder` reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import orjson

from ragstone.core.atomic_files import atomic_file
from ragstone.core.schemas import labels_from_json, labels_to_json, rows
from ragstone.data.dataset import Dataset
from ragstone.data.readers.field_names import nearest_field
from ragstone.data.readers.record_rows import PASSAGE_FIELDS, QUERY_FIELDS
from ragstone.errors import DatasetError, system_reason
from ragstone.types import Passage

_OWN_FIELDS: Final = ("_id", "metadata", *dict.fromkeys((*PASSAGE_FIELDS, *QUERY_FIELDS)))
"""Fields with their own meaning: a label with such a name is written within `metadata`."""


def write_dataset(dataset: Dataset, folder: Path) -> list[Path]:
    """Write a data set into a folder and return the files; reading them gives an equal data set.

    Turns of conversations are written as queries with a history. An empty table gets no file.
    Raises `DatasetError` if one of the files exists or cannot be written.
    """
    return _write(dataset, folder, "qrels.tsv")


def write_beir(dataset: Dataset, folder: Path) -> list[Path]:
    """Write a data set as BEIR's loaders read it, with `qrels/test.tsv`; see `write_dataset`."""
    return _write(dataset, folder, "qrels/test.tsv")


def _write(dataset: Dataset, folder: Path, qrels_name: str) -> list[Path]:
    corpus, queries, qrels = dataset.corpus.table, dataset.query_table, dataset.qrel_table
    # A sample has the judgements of all queries.
    asked = {row["query_id"] for row in rows(queries.select(["query_id"]))}

    def judged() -> Iterator[tuple[str, str, int]]:
        for row in rows(qrels):
            if row["query_id"] in asked:
                yield row["query_id"], row["passage_id"], row["relevance"]

    made = {
        "corpus.jsonl": (corpus.num_rows, map(json_line, map(_passage, rows(corpus)))),
        "queries.jsonl": (queries.num_rows, map(json_line, map(_query, rows(queries)))),
        qrels_name: (any(judged()), judgement_lines(judged())),
    }
    return write_lines({folder / name: lines for name, (full, lines) in made.items() if full})


def write_lines(wanted: Mapping[Path, Iterable[bytes]]) -> list[Path]:
    """Write files of lines and return their paths; a file appears complete or not at all.

    Raises `DatasetError` if one of them, plain or `.gz`, exists or cannot be written.
    """
    named = [file for path in wanted for file in (path, path.with_name(f"{path.name}.gz"))]
    existing = [str(file) for file in named if file.exists()]
    if existing:
        raise DatasetError(f"{existing[0]} already exists; choose another name, or remove it")
    for path, lines in wanted.items():
        try:
            with atomic_file(path) as file:
                file.writelines(lines)
        except OSError as error:
            raise DatasetError(
                f"cannot write the data set into {path.parent}: {system_reason(error)}"
            ) from error
    return list(wanted)


def passage_record(passage: Passage) -> dict[str, Any]:
    """Return a passage as a line of `corpus.jsonl`."""
    labels = labels_to_json(passage.labels)
    row = {"passage_id": passage.passage_id, "title": passage.title, "text": passage.text}
    return _passage({**row, "document_id": passage.document_id, "labels": labels})


def _passage(row: Mapping[str, Any]) -> dict[str, Any]:
    own = {"_id": row["passage_id"], "title": row["title"], "text": row["text"]}
    own["document"] = row["document_id"]
    return _with_labels(own, row["labels"])


def _query(row: Mapping[str, Any]) -> dict[str, Any]:
    messages = orjson.loads(row["history"]) if row["history"] else []
    own = {
        "_id": row["query_id"],
        "text": row["text"],
        "answers": row["gold_answers"],
        "rewrite": row["rewrite"],
        "history": [{"role": role, "text": text} for role, text in messages],
    }
    return _with_labels(own, row["labels"])


def _with_labels(own: dict[str, Any], labels: str) -> dict[str, Any]:
    """Add the labels, and leave out empty optional fields."""
    kept = {name: value for name, value in own.items() if value or name in ("_id", "text")}
    parsed = labels_from_json(labels)
    clashing = {name: value for name, value in parsed.items() if _clashes(name)}
    free = {name: value for name, value in parsed.items() if name not in clashing}
    return {**kept, **free, **({"metadata": clashing} if clashing else {})}


def _clashes(name: str) -> bool:
    """Return whether a reader would take a label for a field, or for a misspelt one."""
    return name in _OWN_FIELDS or bool(nearest_field(name, _OWN_FIELDS))


def json_line(row: Mapping[str, Any]) -> bytes:
    """Return a line of JSON lines."""
    return orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)


def judgement_lines(judgements: Iterable[tuple[str, str, int]]) -> Iterator[bytes]:
    """Yield the lines of a file of qrels with a header, in BEIR's three columns."""
    yield b"query-id\tcorpus-id\tscore\n"
    for query_id, passage_id, grade in judgements:
        yield f"{query_id}\t{passage_id}\t{grade}\n".encode()
