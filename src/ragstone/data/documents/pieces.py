"""The output of a parser: pieces of text in order, and counts of the parts it could not read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

IMAGES: Final = "images that are not read"


class UnreadableFile(Exception):
    """A file that cannot be read; the message is the reason."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A heading, a paragraph, a list or a table, as text."""

    text: str
    level: int = 0
    """Level of a heading, from 1; 0 for other text."""
    page: int = 0
    """Page or slide, from 1; 0 if the format has none."""


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """The pieces of a file, its title if it states one, and the counts of omitted parts."""

    pieces: Sequence[Piece]
    title: str = ""
    notes: Mapping[str, int] = field(default_factory=Counter)
    """Remark, such as `IMAGES` -> number."""


def table_text(rows: Sequence[Sequence[str]], headers: int = 1) -> str:
    r"""Return a table as one line per row, in which each cell has the name of its column.

    So a row keeps its meaning in a passage of its own.

    Args:
        rows: the cells of each row.
        headers: number of first rows that name the columns.

    >>> table_text([["City", "People"], ["Lisbon", "545,000"], ["Porto", ""]])
    'City: Lisbon | People: 545,000\nCity: Porto'
    >>> table_text([["a", "b"]])
    'a | b'
    """
    plain = [[" ".join(cell.split()) for cell in row] for row in rows]
    names = [" ".join(filter(None, column)) for column in zip(*plain[:headers], strict=False)]
    body = plain[headers:] or plain
    lines = (_row_text(row, names if len(plain) > headers else []) for row in body)
    return "\n".join(filter(None, lines))


def _row_text(row: Sequence[str], names: Sequence[str]) -> str:
    named = zip(row, [*names, *[""] * len(row)], strict=False)
    return " | ".join(f"{name}: {cell}" if name else cell for cell, name in named if cell)
