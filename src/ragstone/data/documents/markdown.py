"""Markdown: headings, tables, and the other blocks as they are written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from ragstone.data.documents.decoding import decode
from ragstone.data.documents.pieces import ParsedFile, Piece, table_text
from ragstone.data.documents.plain import guess_note

if TYPE_CHECKING:
    from markdown_it.token import Token

_FRONT_MATTER: Final = re.compile(r"\A---\n.*?\n(---|\.\.\.)\n", re.DOTALL)


def parse_markdown(content: bytes, _suffix: str) -> ParsedFile:
    """Return the blocks of a Markdown file; front matter is left out."""
    from markdown_it import MarkdownIt

    text, guess = decode(content)
    text = _FRONT_MATTER.sub("", "\n".join(text.splitlines()) + "\n", count=1)
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    return ParsedFile(list(_pieces(tokens, text.split("\n"))), notes=guess_note(guess))


def _pieces(tokens: Sequence[Token], lines: Sequence[str]) -> Iterator[Piece]:
    for place, token in enumerate(tokens):
        if token.level or token.map is None:
            continue
        first, end = token.map
        if token.type == "heading_open":
            yield Piece(_inline(tokens[place + 1]), level=int(token.tag[1]))
        elif token.type == "table_open":
            yield Piece(table_text(_rows(tokens[place:])))
        else:
            yield Piece("\n".join(lines[first:end]).strip("\n"))


def _inline(token: Token) -> str:
    return "".join(child.content or " " * ("break" in child.type) for child in token.children or [])


def _rows(tokens: Sequence[Token]) -> list[list[str]]:
    """Return the cells of the table that begins with the first token."""
    rows = list[list[str]]()
    for token in tokens:
        if token.type == "table_close":
            break
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline":
            rows[-1].append(_inline(token))
    return rows
