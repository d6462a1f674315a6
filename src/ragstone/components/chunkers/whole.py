"""Whole documents: every document is one passage."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ragstone.protocols import Chunker
from ragstone.types import Document, Passage


@dataclass(frozen=True)
class Whole(Chunker):
    """Whole documents, under their own ids.

    If only parts of a document are known, each of them is a passage with its offsets.
    """

    def passages(self, document: Document) -> Iterator[Passage]:
        """Yield the document as one passage.

        >>> next(Whole().passages(Document("d", "Lisbon lies on the Tagus."))).passage_id
        'd'
        """
        if document.text.strip():
            whole = document.passage(0, len(document.text))
            yield replace(whole, passage_id=document.document_id) if document.complete else whole
