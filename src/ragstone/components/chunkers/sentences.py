"""Passages of whole sentences with a maximum number of tokens: MIRAGE's chunks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from ragstone.components.chunkers.windows import WindowChunker
from ragstone.models.tokenizer import BUNDLED, TokenPlaces, tokenizer_digest, tokens
from ragstone.text.sentences import sentence_starts, splitter_version
from ragstone.types import Document, Passage

if TYPE_CHECKING:
    import numpy.typing as npt

_NAME: Final = "the chunker 'sentences'"


@dataclass(frozen=True)
class Sentences(WindowChunker):
    """As many whole sentences as fit into `size` tokens.

    MIRAGE cuts Wikipedia into chunks of whole sentences with at most 330 WordPiece tokens; mtRAG's
    released passages look like `sentences(512, overlap=100)`. A longer sentence is cut at the last
    word that fits. The marks of Chinese, Japanese, Arabic and Hindi end a sentence in every
    `language`. Thai, Lao and Khmer have no such marks: their texts are cut at the maximum number of
    tokens. The bundled tokenizer makes one token of a phrase without spaces; use `words` for these
    languages, or a tokenizer that supports them.

    Args:
        size: maximum tokens per passage.
        overlap: maximum tokens of the whole sentences that a passage shares with the next one.
        language: language of the abbreviations that do not end a sentence, such as `en` or `de`.
        tokenizer: the bundled encoder (WordPiece), or a folder with another tokenizer.json.
    """

    size: int = 330
    overlap: int = 0
    language: str = "en"
    tokenizer: str = BUNDLED
    requires_extra = "chunk,local"

    @cached_property
    def content_revision(self) -> str:
        """Digest of the tokenizer's file, and the version of the sentence splitter."""
        splitter = splitter_version(asked_by=_NAME)
        return f"{tokenizer_digest(self.tokenizer)} {splitter}"

    def passages(self, document: Document) -> Iterator[Passage]:
        """Yield the passages of a document, in order."""
        text = document.text
        if not text.strip():
            return
        found = tokens(text, self.tokenizer)
        starts = sentence_starts(text, self.language, asked_by=_NAME)
        bounds, counted = _pieces(found, starts, len(text), self.size)
        for first, end in _packed(counted, self.size, self.overlap):
            # Tokens of one character (a Korean syllable taken apart) start at the same place.
            if bounds[first] < bounds[end]:
                yield document.passage(bounds[first], bounds[end])


def _pieces(
    found: TokenPlaces, starts: list[int], length: int, size: int
) -> tuple[list[int], list[int]]:
    """Return the bounds of the pieces, as characters and as numbers of tokens before them.

    A piece is never cut: it is a sentence, or a part of one with more than `size` tokens.
    """
    bounds: list[int] = []
    counted: list[int] = []
    places = np.searchsorted(found.starts, [*starts, length]).tolist()
    words = np.searchsorted(found.words, np.unique(found.words))
    for start, first, end in zip(starts, places, places[1:], strict=False):
        bounds.append(start)
        counted.append(first)
        while end - counted[-1] > size:
            place = _last_word(words, counted[-1], counted[-1] + size)
            bounds.append(int(found.starts[place]))
            counted.append(place)
    return [*bounds, length], [*counted, len(found.starts)]


def _last_word(words: npt.NDArray[np.int64], after: int, limit: int) -> int:
    """Return the last token up to `limit` that begins a word; `limit` if there is only one word."""
    place = int(words[np.searchsorted(words, limit, side="right") - 1])
    return place if place > after else limit


def _packed(counted: list[int], size: int, overlap: int) -> Iterator[tuple[int, int]]:
    """Yield first and end of the pieces of each passage, as many as `size` tokens permit."""
    first, end, last = 0, 0, len(counted) - 1
    while end < last:
        while end < last and counted[end + 1] - counted[first] <= size:
            end += 1
        yield first, end
        if end == last:
            return
        needed = counted[end + 1] - counted[end]
        room = min(overlap, size - needed)
        first = next(p for p in range(first + 1, end + 1) if counted[end] - counted[p] <= room)
