"""Overlapping windows of tokens: mtRAG's passages according to its paper."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from ragstone.components.chunkers.windows import WindowChunker
from ragstone.models.tokenizer import BUNDLED, tokenizer_digest, tokens
from ragstone.types import Document, Passage


@dataclass(frozen=True)
class TokenWindows(WindowChunker):
    """Windows of `size` tokens, each of which begins with the last tokens of the one before it.

    mtRAG's paper: 512 tokens with an overlap of 100; ids `<document>-<start>-<end>`. A window may
    begin and end within a sentence or a word, unlike the passages of `sentences(512, overlap=100)`.

    Args:
        size: number of tokens per passage; the last of a document has fewer.
        overlap: number of tokens that a passage shares with the next one.
        tokenizer: the bundled encoder (WordPiece), or a folder with another tokenizer.json.
    """

    size: int = 512
    overlap: int = 100
    tokenizer: str = BUNDLED
    requires_extra = "local"

    @cached_property
    def content_revision(self) -> str:
        """Digest of the tokenizer's file."""
        return tokenizer_digest(self.tokenizer)

    def passages(self, document: Document) -> Iterator[Passage]:
        """Yield the windows of a document, in order."""
        return self.windows(document, tokens(document.text, self.tokenizer).starts.tolist())
