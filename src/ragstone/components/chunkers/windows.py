"""Windows over the units of a text: words, characters, tokens.

White space belongs to the unit before it, and at the start of a text to the first unit: windows
without overlap, joined, are exactly the text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragstone.errors import ConfigError
from ragstone.protocols import Chunker
from ragstone.types import Document, Passage


class WindowChunker(Chunker):
    """A chunker with passages of up to `size` units, which share `overlap` units."""

    size: int
    overlap: int

    def __post_init__(self) -> None:
        """Raise `ConfigError` unless windows of that size and overlap move forward."""
        if self.size < 1:
            raise ConfigError(f"size must be 1 or more, found {self.size}")
        if not 0 <= self.overlap < self.size:
            raise ConfigError(
                f"overlap must be 0 or more and less than the size {self.size}, "
                f"found {self.overlap}"
            )

    def windows(self, document: Document, starts: Sequence[int]) -> Iterator[Passage]:
        """Yield the passages of a document, given the first characters of its units, in order."""
        text = document.text
        if not text.strip():
            return
        bounds = [0, *starts[1:], len(text)]
        count = len(bounds) - 1
        before = (0, 0)
        for first in range(0, max(1, count - self.overlap), self.size - self.overlap):
            span = bounds[first], bounds[min(first + self.size, count)]
            # Tokens of one character (a Korean syllable taken apart) start at the same place.
            if span[0] < span[1] and span != before:
                yield document.passage(*span)
            before = span
