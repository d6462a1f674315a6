"""A folder of documents as a data set without questions: to look at, to cut, to make questions."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragstone.core.registry import create
from ragstone.data.dataset import Dataset
from ragstone.data.documents.corpus import DocumentFiles
from ragstone.data.readers.base import Reader
from ragstone.data.table_builder import qrels, queries


@dataclass(frozen=True)
class DocumentsReader(Reader):
    """Reads documents as passages, without questions.

    The questions come from another file: `data: {path: qa.csv, documents: docs}`.

    Args:
        path: a folder, a pattern such as `docs/**/*.pdf`, or a file.
        chunker: cuts the documents into passages.
    """

    path: str | Path
    chunker: Any = None

    def __post_init__(self) -> None:
        """Make the chunker."""
        if self.chunker is not None:
            made = create("chunkers", self.chunker, where="documents, chunker")
            object.__setattr__(self, "chunker", made)

    def read(self) -> Dataset:
        """Return the data set; raise `DatasetError` if no document can be read."""
        corpus = DocumentFiles(str(self.path), self.chunker).corpus()
        name = Path(self.path).resolve().name
        return Dataset(name, queries().finish(), corpus, qrels().finish())
