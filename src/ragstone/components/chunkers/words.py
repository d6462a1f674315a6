"""Windows of words, BERGEN's way; of characters where a script puts no spaces between words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import ClassVar, Literal

from ragstone.components.chunkers.windows import check_window, cut_windows
from ragstone.protocols import Chunker
from ragstone.text.scripts import is_unspaced, marks
from ragstone.types import Document, Passage


@dataclass(frozen=True)
class Words(Chunker):
    """Windows of so many words, or of characters where words are not spaced.

    BERGEN (and DPR before it) cuts Wikipedia into 100 words, and into 100 characters in Chinese,
    Japanese and Thai. A word is what stands between white space. A document is cut by characters
    where most of its letters are Han, Kana, Thai, Lao, Khmer or Burmese; white space is not
    counted, and a combining mark stays with its letter and is not counted either. The title is not
    part of the text: retrievers and generators see it in front of every passage.

    Args:
        size: words, or characters, of a passage; the last of a document has fewer.
        overlap: how many of them the next passage begins with.
        unit: which of the two; by the script of each document by default.
    """

    size: int = 100
    overlap: int = 0
    unit: Literal["auto", "words", "characters"] = "auto"
    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        """Check the ranges."""
        check_window(self.size, self.overlap)

    def passages(self, document: Document) -> Iterator[Passage]:
        """Yield the windows of a document, in order.

        >>> [p.text for p in Words(2).passages(Document("d", "Lisbon lies on the Tagus."))]
        ['Lisbon lies ', 'on the ', 'Tagus.']
        """
        by_character = self.unit == "characters" or (
            self.unit == "auto" and is_unspaced(document.text)
        )
        starts = [match.start() for match in _unit(by_character).finditer(document.text)]
        return cut_windows(document, starts, self.size, self.overlap)


@cache
def _unit(by_character: bool) -> re.Pattern[str]:
    return re.compile(rf"[^\s{marks()}]" if by_character else r"\S+")
