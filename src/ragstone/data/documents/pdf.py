"""PDF: the text of each page, with headings from the outline or from the layout.

Two packages read a page. pypdfium2 has the most faithful words and the outline; liteparse has the
order of columns, tables and headings. A page is taken from liteparse, unless much of it is written
from right to left, or liteparse lost many of its words.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from ragstone.core import limits
from ragstone.data.documents.pieces import IMAGES, ParsedFile, Piece, UnreadableFile, table_text
from ragstone.text.scripts import is_unspaced

if TYPE_CHECKING:
    from liteparse import LayoutBlock
    from markdown_it import MarkdownIt

_HYPHENS: Final = dict.fromkeys(map(ord, "\ufffe\x02"))
"""pdfium's characters for a hyphen at the end of a line: the word goes on."""
_RIGHT_TO_LEFT: Final = 0.2
"""Share of letters from which liteparse's order is wrong (.59 of the words of an Arabic text)."""
_FIRST_RIGHT_TO_LEFT: Final = "\u0590"
"""The first character of the first block of such letters, Hebrew."""
_KEPT: Final = 0.85
"""Share of pdfium's words that liteparse must have."""
_LABEL: Final = 12
"""Characters that a heading may have more than its title in the outline, such as its number."""
_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class _Entry:
    """A heading of the outline."""

    title: str
    level: int


@dataclass(frozen=True)
class _Source:
    """The content of a file as pdfium reads it."""

    texts: Sequence[str]
    outline: dict[int, list[_Entry]]
    """Page, from 0 -> its headings in order."""
    title: str
    notes: Counter[str]


def parse_pdf(content: bytes, _suffix: str) -> ParsedFile:
    """Return the text of a PDF's pages; images and pages without text are counted."""
    source = _read(content)
    layouts = _layouts(content)
    pages = [
        _page(text, layouts.get(number, []), number) for number, text in enumerate(source.texts, 1)
    ]
    if source.outline:
        pages = [_titled(p, source.outline.get(n, [])) for n, p in enumerate(pages)]
    first = _key("".join(source.texts[:1]))
    # Titles in a file's properties are often those of a template or of another file.
    title = source.title if _key(source.title) in first else ""
    return ParsedFile([piece for page in pages for piece in _joined(page)], title, source.notes)


def _read(content: bytes) -> _Source:
    import pypdfium2

    try:
        file = pypdfium2.PdfDocument(content)
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower():
            raise UnreadableFile("it is encrypted: save a copy without a password") from error
        raise UnreadableFile(f"it is not a readable PDF: {error}") from error
    if len(file) > limits.MAX_PAGES:
        raise UnreadableFile(f"it has {len(file):,} pages, the maximum is {limits.MAX_PAGES:,}")
    notes, texts = Counter[str](), list[str]()
    for number in range(len(file)):
        page = file[number]
        page.set_rotation(0)  # Otherwise the words of a rotated page come in the wrong order.
        lines = page.get_textpage().get_text_range().translate(_HYPHENS).splitlines()
        texts.append("\n".join(lines))
        images = sum(1 for _ in page.get_objects([pypdfium2.raw.FPDF_PAGEOBJ_IMAGE], max_depth=3))
        if not texts[-1].strip() and next(page.get_objects(max_depth=1), None):
            notes["pages without text (scans or drawings)"] += 1
        elif images:
            notes[IMAGES] += images
        page.close()
    return _Source(texts, _outline(file), file.get_metadata_value("Title").strip(), notes)


def _outline(file: Any) -> dict[int, list[_Entry]]:
    found: dict[int, list[_Entry]] = defaultdict(list)
    for item in file.get_toc():
        target, title = item.get_dest(), " ".join(item.get_title().split())
        page = None if target is None else target.get_index()
        if _key(title) and page is not None:
            found[page].append(_Entry(title, item.level + 1))
    return dict(found)


def _layouts(content: bytes) -> dict[int, list[LayoutBlock]]:
    """Return page, from 1 -> its blocks; none if liteparse cannot read the file."""
    from liteparse import LiteParse, ParseError

    parser = LiteParse(
        ocr_enabled=False,
        extract_blocks=True,
        max_pages=limits.MAX_PAGES,
        continue_on_page_error=True,
        num_workers=1,
        quiet=True,
    )
    try:
        return {page.page_num: page.blocks or [] for page in parser.parse(content).pages}
    except ParseError:
        return {}


def _page(text: str, blocks: Sequence[LayoutBlock], number: int) -> list[Piece]:
    """Return the pieces of a page: liteparse's blocks, or else pdfium's lines."""
    found = [Piece(_block_text(b), _level(b), number) for b in blocks]
    found = [piece for piece in found if piece.text.strip()]
    if _is_right_to_left(text) or not _has_words(found, text):
        return [Piece(line, page=number) for line in text.splitlines() if line.strip()]
    return found


def _level(block: LayoutBlock) -> int:
    return (block.level or 1) if block.kind == "heading" else 0


def _block_text(block: LayoutBlock) -> str:
    if block.rows is not None:
        head = [[cell.text for cell in block.header]] if block.header else []
        rows = [[_plain(cell) for cell in row] for row in head]
        rows += [[_plain(cell.text) for cell in row] for row in block.rows]
        return table_text(rows, len(head))
    if block.lines is not None:
        return "\n".join(block.lines)
    text = _plain(block.text or "")
    return f"{block.marker or '-'} {text}" if block.kind == "list_item" else text


def _plain(text: str) -> str:
    r"""Return a text without the emphasis and the escapes that liteparse writes.

    >>> _plain(r"**bold** and \*x\*")
    'bold and *x*'
    """
    if not any(mark in text for mark in "*_\\`"):
        return text
    lines = _inline_parser().parseInline(text.replace("\n", " "))
    return "".join(part.content for line in lines for part in line.children or [])


@cache
def _inline_parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("zero").enable(["emphasis", "escape"])


def _is_right_to_left(text: str) -> bool:
    if max(text, default="") < _FIRST_RIGHT_TO_LEFT:
        return False
    letters = [character for character in text if character.isalpha()]
    rtl = sum(unicodedata.bidirectional(letter) in {"R", "AL"} for letter in letters)
    return rtl > _RIGHT_TO_LEFT * len(letters)


def _has_words(pieces: Sequence[Piece], text: str) -> bool:
    """Return whether pieces have most words of a text, or characters if no spaces part words."""
    unit = re.compile(r"\w") if is_unspaced(text) else _WORD
    wanted = Counter(unit.findall(text))
    found = Counter(unit.findall("\n".join(piece.text for piece in pieces)))
    return (wanted & found).total() >= _KEPT * wanted.total()


def _titled(pieces: Sequence[Piece], entries: Sequence[_Entry]) -> list[Piece]:
    """Return the pieces of a page with the headings of the outline, and no others.

    A heading that is not found on its page is placed first, or after the heading before it.
    """
    made = [replace(piece, level=0) for piece in pieces]
    place = 0
    for entry in entries:
        key = _key(entry.title)
        keys = (_key(piece.text) for piece in made[place:])
        found = (n for n, k in enumerate(keys, place) if key in k and len(k) <= len(key) + _LABEL)
        at = next(found, None)
        if at is not None:
            made[at] = replace(made[at], level=entry.level)
        elif made:
            at = place
            made.insert(at, Piece(entry.title, entry.level, made[0].page))
        place = place if at is None else at + 1
    return made


def _joined(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """Yield headings alone, and the pieces between them as one."""
    for _, members in groupby(enumerate(pieces), key=lambda p: p[1].level and p[0] + 1):
        run = [piece for _, piece in members]
        yield replace(run[0], text="\n".join(piece.text for piece in run))


def _key(text: str) -> str:
    return "".join(_WORD.findall(text.casefold()))
