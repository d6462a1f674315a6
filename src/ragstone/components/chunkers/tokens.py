"""Windows of tokens that overlap: mtRAG's passages as its paper states them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from ragstone.components.chunkers.windows import check_window, cut_windows
from ragstone.models.tokenizer import BUNDLED, tokenizer_digest, tokens
from ragstone.protocols import Chunker
from ragstone.types import Document, Passage


@dataclass(frozen=True)
class Tokens(Chunker):
    """Windows of so many tokens, each beginning with the last ones of the window before it.

    mtRAG's paper: 512 tokens with an overlap of 100; ids `<document>-<start>-<end>`. A window may
    begin and end within a sentence, and within a word; `sentences(512, overlap=100)` does neither.

    Args:
        size: tokens of a passage; the last of a document has fewer.
        overlap: how many tokens the next passage begins with.
        tokenizer: the bundled encoder (WordPiece), or a folder with another one's tokenizer.json.
    """

    size: int = 512
    overlap: int = 100
    tokenizer: str = BUNDLED
    requires_extra = "local"
    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        """Check the ranges."""
        check_window(self.size, self.overlap)

    @cached_property
    def content_revision(self) -> str:
        """Digest of the tokenizer's file."""
        return tokenizer_digest(self.tokenizer)

    def passages(self, document: Document) -> Iterator[Passage]:
        """Yield the windows of a document, in order."""
        starts = tokens(document.text, self.tokenizer).starts.tolist()
        return cut_windows(document, starts, self.size, self.overlap)
