"""Cutting documents that are read one at a time: memory does not grow with their number."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson

from ragstone.core.atomic_files import atomic_folder
from ragstone.core.progress import progress
from ragstone.data.cut_passages import Located, cut_each, repeated
from ragstone.data.rechunk.write import check_target
from ragstone.data.writers.folder import json_line, passage_record
from ragstone.errors import DatasetError
from ragstone.types import Document, Passage

if TYPE_CHECKING:
    from typing import BinaryIO


@dataclass
class CutDocuments:
    """The counts of documents that were cut one at a time."""

    name: str
    documents: int = 0
    without_text: int = 0
    passages: int = 0
    longest: int = 0
    """Length of the longest passage in characters."""

    def summary(self) -> dict[str, object]:
        """Return the counts as plain data, under the names of `Rechunked.summary`."""
        return {
            "name": self.name,
            "documents": self.documents,
            "documents_without_text": self.without_text,
            "passages": self.passages,
            "longest_passage_characters": self.longest,
            "notes": {},
            "judgements": 0,
            "judgements_carried": 0,
            "judgements_of_new_passages": 0,
        }


def write_cut_documents(
    read: Callable[[], Iterable[Sequence[Document]]],
    chunker: Any,
    folder: Path,
    made_by: Mapping[str, Any],
    name: str,
) -> tuple[CutDocuments, list[Path]]:
    """Cut documents and write their passages into a new folder, all of it or nothing.

    The files are `corpus.jsonl`, `documents.tsv` (passage id, document id) and `cutting.json`.

    Args:
        read: returns the documents, each as the parts that no passage crosses.
        chunker: cuts a document into passages.
        folder: the new folder.
        made_by: further facts for `cutting.json`: the source, the chunker.
        name: the name of the documents.

    Raises:
        DatasetError: the chunker fails, two documents have one id, or the folder cannot be written.
    """
    check_target(folder)
    found, hashes = CutDocuments(name), array("q")
    files = ["corpus.jsonl", "documents.tsv", "cutting.json"]
    try:
        with atomic_folder(folder) as temporary:
            corpus, places, facts = (temporary / file for file in files)
            with (
                corpus.open("wb") as lines,
                places.open("wb") as pairs,
                progress("Cutting documents", 0) as bar,
            ):
                given = ((frozenset(hash(p.document_id) for p in parts), parts) for parts in read())
                for own, cut in cut_each(given, chunker):
                    _write(list(_unique(cut, chunker)), found, lines, pairs)
                    hashes.extend(own)
                    bar.advance()
            _refuse_repeated(read, hashes)
            made = {**made_by, **found.summary()}
            facts.write_bytes(
                orjson.dumps(made, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
            )
    except OSError as error:
        raise DatasetError(f"cannot write {folder}: {error}") from error
    return found, [folder / file for file in files]


def _unique(cut: Iterable[Located], chunker: Any) -> Iterator[Passage]:
    seen = set[str]()
    for passage, _, _ in cut:
        if passage.passage_id in seen:
            raise repeated(passage.passage_id, chunker)
        seen.add(passage.passage_id)
        yield passage


def _write(
    passages: Sequence[Passage], found: CutDocuments, lines: BinaryIO, pairs: BinaryIO
) -> None:
    found.documents += 1
    found.without_text += not passages
    found.passages += len(passages)
    for passage in passages:
        found.longest = max(found.longest, len(passage.text))
        lines.write(json_line(passage_record(passage)))
        pairs.write(f"{passage.passage_id}\t{passage.document_id}\n".encode())


def _refuse_repeated(read: Callable[[], Iterable[Sequence[Document]]], hashes: array[int]) -> None:
    """Raise `DatasetError` if two documents have one id.

    Eight bytes per document are in memory, not its id; so the documents are read again to name it.
    """
    values, counts = np.unique(np.frombuffer(hashes, dtype=np.int64), return_counts=True)
    doubtful = set(values[counts > 1].tolist())
    seen = set[str]()
    for parts in read() if doubtful else ():
        for document_id in {
            part.document_id for part in parts if hash(part.document_id) in doubtful
        }:
            if document_id in seen:
                raise DatasetError(
                    f"the id {document_id!r} is that of two documents; give each its own id, or "
                    "name the files of one language or version"
                )
            seen.add(document_id)
