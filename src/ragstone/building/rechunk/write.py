"""Writing a data set that was cut anew, with what is needed to judge it at both levels.

corpus.jsonl, queries.jsonl, qrels.tsv    the data set, in Ragstone's own layout
documents.tsv         passage id, document id
document_qrels.tsv    query id, document id, grade: the judgements at the level of documents
cutting.json          what was cut how, the counts, and every judgement that was not carried over
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from ragstone.core.atomic_files import atomic_folder
from ragstone.data.writers.folder import write_dataset, write_lines
from ragstone.errors import DatasetError

if TYPE_CHECKING:
    from ragstone.building.rechunk.rechunk import Rechunked


def check_target(folder: Path) -> None:
    """Raise `DatasetError` where something stands in a folder's place, unless it is empty."""
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise DatasetError(f"{folder} is there already; choose another folder, or remove it")


def write_rechunked(made: Rechunked, folder: Path, made_by: Mapping[str, Any]) -> list[Path]:
    """Write a data set and what belongs to it into a new folder, all of it or nothing.

    Args:
        made: the data set and how its judgements fared.
        folder: must not be there yet, or be empty.
        made_by: what `cutting.json` says besides: the source, the chunker.
    """
    check_target(folder)
    try:
        with atomic_folder(folder) as temporary:
            files = write_dataset(made.dataset, temporary) + write_lines(
                {
                    temporary / "documents.tsv": _documents(made),
                    temporary / "document_qrels.tsv": _judgements(made.document_qrels),
                    temporary / "cutting.json": [_facts(made, made_by)],
                }
            )
    except OSError as error:
        raise DatasetError(f"cannot write {folder}: {error}") from error
    return [folder / path.name for path in files]


def _documents(made: Rechunked) -> Iterator[bytes]:
    table = made.dataset.corpus.table
    for batch in table.select(["passage_id", "document_id"]).to_batches():
        pairs = zip(*(batch.column(n).to_pylist() for n in batch.schema.names), strict=True)
        yield from (f"{passage_id}\t{document_id}\n".encode() for passage_id, document_id in pairs)


def _judgements(qrels: Mapping[str, Mapping[str, int]]) -> Iterator[bytes]:
    yield b"query-id\tcorpus-id\tscore\n"
    for query_id, grades in qrels.items():
        for document_id, relevance in grades.items():
            yield f"{query_id}\t{document_id}\t{relevance}\n".encode()


def _facts(made: Rechunked, made_by: Mapping[str, Any]) -> bytes:
    facts = {
        **made_by,
        **made.summary(),
        "without_text": made.without_text,
        "not_carried": [asdict(judgement) for judgement in made.not_carried],
    }
    return orjson.dumps(facts, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
