"""Windows of words, as in BERGEN, or of characters for scripts without spaces between words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal

from ragstone.components.chunkers.windows import WindowChunker
from ragstone.text.scripts import is_unspaced, marks
from ragstone.types import Document, Passage


@dataclass(frozen=True)
class Words(WindowChunker):
    """Windows of `size` words, or of `size` characters if words are not separated by spaces.

    BERGEN, and DPR before it, cuts Wikipedia into 100 words, and into 100 characters in Chinese,
    Japanese and Thai. Words are separated by white space. A document is cut by characters if most
    of its letters are Han, Kana, Thai, Lao, Khmer or Burmese. White space does not count as a
    character; a combining mark belongs to its letter and does not count either. The title is not
    part of the text: retrievers and generators see it in front of every passage.

    Args:
        size: number of words or characters per passage; the last of a document has fewer.
        overlap: number of words or characters that a passage shares with the next one.
        unit: "words", "characters", or "auto" for the unit of each document's script.
    """

    size: int = 100
    overlap: int = 0
    unit: Literal["auto", "words", "characters"] = "auto"

    def passages(self, document: Document) -> Iterator[Passage]:
        """Yield the windows of a document, in order.

        >>> [p.text for p in Words(2).passages(Document("d", "Lisbon lies on the Tagus."))]
        ['Lisbon lies ', 'on the ', 'Tagus.']
        """
        by_character = self.unit == "characters" or (
            self.unit == "auto" and is_unspaced(document.text)
        )
        starts = [match.start() for match in _unit(by_character).finditer(document.text)]
        return self.windows(document, starts)


@cache
def _unit(by_character: bool) -> re.Pattern[str]:
    return re.compile(rf"[^\s{marks()}]" if by_character else r"\S+")
