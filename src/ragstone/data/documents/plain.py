"""Plain text, and tables as CSV and TSV."""

from __future__ import annotations

import csv
import io
from collections import Counter

from ragstone.core import limits
from ragstone.data.documents.decoding import decode
from ragstone.data.documents.pieces import ParsedFile, Piece, UnreadableFile, table_text

_SNIFFED = 10_000


def parse_text(content: bytes, _suffix: str) -> ParsedFile:
    """Return a file of plain text as one piece."""
    text, guess = decode(content)
    return ParsedFile([Piece(text)], notes=guess_note(guess))


def parse_csv(content: bytes, suffix: str) -> ParsedFile:
    """Return a table: one line per row, each cell with the name of its column."""
    text, guess = decode(content)
    delimiter = "\t" if suffix == ".tsv" else _delimiter(text)
    before = csv.field_size_limit(limits.MAX_LINE_BYTES)
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error as error:
        raise UnreadableFile(f"it is not valid CSV: {error}") from error
    finally:
        csv.field_size_limit(before)
    return ParsedFile([Piece(table_text(rows))], notes=guess_note(guess))


def guess_note(guess: str) -> Counter[str]:
    """Return the note of a guessed encoding."""
    return Counter({f"texts that are not UTF-8, read as {guess} by a guess": 1} if guess else {})


def _delimiter(text: str) -> str:
    try:
        return csv.Sniffer().sniff(text[:_SNIFFED], delimiters=",;\t|").delimiter
    except csv.Error:
        return ","
