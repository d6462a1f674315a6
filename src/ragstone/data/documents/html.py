"""HTML pages: headings, paragraphs, lists and tables, without navigation, scripts and footers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from ragstone.core import limits
from ragstone.data.documents.decoding import decode
from ragstone.data.documents.pieces import IMAGES, ParsedFile, Piece, UnreadableFile, table_text
from ragstone.data.documents.plain import guess_note

_CHARSET: Final = re.compile(
    rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([\w-]{1,40})", re.IGNORECASE
)
_HEAD: Final = 4096
_TEXTS: Final = {"paragraph": "", "list_item": "- ", "code": ""}
"""Type of a node -> prefix of its text."""


def parse_html(content: bytes, _suffix: str) -> ParsedFile:
    """Return the blocks of a page; images count as not read, apart from their descriptions."""
    declared = _CHARSET.search(content[:_HEAD])
    text, guess = decode(content, declared[1].decode() if declared else "")
    found = parse_page(text)
    return ParsedFile(found.pieces, found.title, Counter(found.notes) + guess_note(guess))


def parse_page(text: str) -> ParsedFile:
    """Return the blocks of a page's text; raise `UnreadableFile` beyond the limits."""
    from html_to_markdown import ConversionOptions, PreprocessingOptions, convert

    if len(text.encode()) > limits.MAX_HTML_BYTES:
        raise UnreadableFile(
            f"it has more than {limits.MAX_HTML_BYTES:,} bytes, the maximum of a page"
        )
    found = convert(
        text,
        ConversionOptions(
            include_document_structure=True,
            max_input_size=limits.MAX_HTML_BYTES,
            preprocessing=PreprocessingOptions(
                enabled=True, preset="aggressive", remove_navigation=True
            ),
        ),
    )
    nodes = found.document.nodes if found.document else []
    if not nodes and found.warnings:
        # A page whose elements nest beyond the parser's depth is empty, with a warning alone.
        raise UnreadableFile(f"nothing could be read: {found.warnings[0].message}")
    notes = Counter[str]()
    pieces = list(_pieces(nodes, notes))
    title = found.metadata.document.title if found.metadata else None
    return ParsedFile(pieces, title or "", notes)


def _pieces(nodes: Any, notes: Counter[str]) -> Iterator[Piece]:
    """Yield the pieces of a tree of nodes, in order."""
    waiting = [place for place, node in enumerate(nodes) if node.parent is None][::-1]
    while waiting:
        node = nodes[waiting.pop()]
        waiting += reversed(node.children)
        kind = node.content.node_type
        content: Any = getattr(node.content, f"{kind}_payload", None)
        if kind == "heading":
            yield Piece(content["text"], level=content["level"])
        elif kind in _TEXTS:
            yield Piece(_TEXTS[kind] + content["text"])
        elif kind == "table":
            yield Piece(_table(content["grid"]))
        elif kind == "definition_item":
            yield Piece(f"{content['term']}: {content['definition']}")
        elif kind == "image":
            notes[IMAGES] += 1
            yield Piece(content.get("description") or "")


def _table(grid: Any) -> str:
    rows = [[""] * grid["cols"] for _ in range(grid["rows"])]
    of_body = {cell["row"] for cell in grid["cells"] if not cell["is_header"]}
    for cell in grid["cells"]:
        rows[cell["row"]][cell["col"]] = cell["content"]
    # A row of the body may begin with a header.
    return table_text(rows, min(of_body, default=1))
