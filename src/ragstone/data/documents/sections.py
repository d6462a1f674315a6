"""The sections of a parsed file: the text below each heading, with its place and its pages."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from ragstone.core import limits
from ragstone.data.documents.pieces import ParsedFile, Piece
from ragstone.types import Document, Label

_BETWEEN: Final = "\n\n"
_STEP: Final = " > "


@dataclass(frozen=True)
class FileText:
    """The text of a file in sections, none of which a passage crosses."""

    sections: Sequence[Document]
    pages: Sequence[tuple[int, int]]
    """First character and number of each page, in order; empty without pages."""

    def page_labels(self, start: int, end: int) -> dict[str, Label]:
        """Return the labels of a stretch of text: `page`, and `last_page` if it differs.

        >>> FileText((), [(0, 1), (90, 2)]).page_labels(60, 120)
        {'page': 1, 'last_page': 2}
        """
        if not self.pages:
            return {}
        labels: dict[str, Label] = {"page": self._page(start), "last_page": self._page(end - 1)}
        if labels["page"] == labels["last_page"]:
            del labels["last_page"]
        return labels

    def _page(self, place: int) -> int:
        return self.pages[max(0, bisect_right(self.pages, place, key=lambda p: p[0]) - 1)][1]


def file_text(name: str, parsed: ParsedFile) -> FileText:
    """Return the text of a file in sections; its name is their document id.

    A section begins at a heading, and has the headings above it as its label `heading`.
    """
    parts = list(_parts(parsed.pieces))
    title = " ".join(parsed.title.split()) or PurePosixPath(name).stem
    sections, pages, place = list[Document](), list[tuple[int, int]](), 0
    for number, (path, pieces) in enumerate(parts, start=1):
        offset = place
        for piece in pieces:
            if piece.page and (not pages or pages[-1][1] != piece.page):
                pages.append((place, piece.page))
            place += len(piece.text) + len(_BETWEEN)
        text = _BETWEEN.join(piece.text for piece in pieces)
        text += _BETWEEN if number < len(parts) else ""
        labels: dict[str, Label] = {"heading": _STEP.join(path)} if path else {}
        sections.append(Document(name, text, title, labels, offset, complete=len(parts) == 1))
    return FileText(sections, pages)


def _parts(pieces: Sequence[Piece]) -> Iterator[tuple[list[str], list[Piece]]]:
    """Yield the path of headings and the pieces of each section.

    Headings that follow each other begin one section.
    """
    above, members = dict[int, str](), list[Piece]()
    for piece in pieces:
        level = piece.level if len(piece.text) <= limits.MAX_HEADING_CHARACTERS else 0
        if level and members and not all(member.level for member in members):
            yield list(above.values()), members
            members = []
        if level:
            above = {n: text for n, text in above.items() if n < level}
            above[level] = " ".join(piece.text.split())
        members.append(piece)
    if members:
        yield list(above.values()), members
