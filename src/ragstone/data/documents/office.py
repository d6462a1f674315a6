"""Office files and books: Word, PowerPoint, Excel, OpenDocument, RTF and EPUB."""

from __future__ import annotations

import io
import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from ragstone.core import limits
from ragstone.data.documents.pieces import IMAGES, ParsedFile, Piece, UnreadableFile, table_text

if TYPE_CHECKING:
    from anydoc import Block, Document, Inline

_PRESENTATION: Final = "ppt/presentation.xml"
_SLIDES: Final = re.compile(
    rb"(?P<before><p:sldIdLst\b[^>]*>)(?P<ids>.*?)(?=</p:sldIdLst>)", re.DOTALL
)
_SLIDE: Final = re.compile(rb"<p:sldId\b[^>]*?(?:/>|>.*?</p:sldId>)", re.DOTALL)


def parse_office(content: bytes, suffix: str) -> ParsedFile:
    """Return the blocks of a file, whose format its content decides."""
    import anydoc

    named = anydoc.format_from_extension(suffix)
    found = anydoc.format_from_bytes(content) or named
    if found == "pdf":
        raise UnreadableFile("it is a PDF with another name; rename it to .pdf")
    parts = _single_slides(content) if found == "pptx" else iter([content])
    notes, pieces = Counter[str](), list[Piece]()
    for number, part in enumerate(parts, start=1):
        page = number if found == "pptx" else 0
        pieces += _Blocks(anydoc.to_document(part, found), notes, page).pieces()
    return ParsedFile(pieces, notes=notes)


class _Blocks:
    """The blocks of a document as pieces."""

    def __init__(self, document: Document, notes: Counter[str], page: int) -> None:
        self._blocks, self._notes, self._page = document.blocks, notes, page
        self._footnotes: Mapping[str, str] = {}
        self._footnotes = {note.id: self._text(note.blocks) for note in document.notes}

    def pieces(self) -> Iterator[Piece]:
        """Yield a piece per block."""
        for block in self._blocks:
            level = (block.level or 1) if block.kind == "heading" else 0
            yield Piece(self._block(block), level, self._page)

    def _text(self, blocks: Iterable[Block], between: str = "\n") -> str:
        return between.join(filter(None, map(self._block, blocks)))

    def _block(self, block: Block) -> str:
        if block.table:
            rows = [
                [self._text(slot.cell.blocks, " ") if slot.cell else "" for slot in row]
                for row in block.table.grid
            ]
            return table_text(rows, block.table.header_rows)
        if block.list:
            items = (self._text(item.blocks) for item in block.list.items)
            return "\n".join(f"- {item}" for item in items if item)
        if block.blocks:
            return self._text(block.blocks)
        return block.text or self._inline(block.content or ()).strip()

    def _inline(self, content: Sequence[Inline]) -> str:
        return "".join(map(self._span, content))

    def _span(self, span: Inline) -> str:
        if span.kind == "image":
            self._notes[IMAGES] += 1
            return span.alt or ""
        if span.kind == "note_ref":
            # A footnote is at its reference; one that names itself is empty there.
            note = self._footnotes.get(span.note_id or "", "")
            return f" ({note})" if note else ""
        if span.kind == "line_break":
            return "\n"
        return span.text or self._inline(span.content or ())


def _single_slides(content: bytes) -> Iterator[bytes]:
    """Yield a presentation of each slide alone: the parser marks no boundary between slides."""
    try:
        parts = _texts(zipfile.ZipFile(io.BytesIO(content)))
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError):
        parts = {}  # The parser names the error.
    listed = _SLIDES.search(parts.get(_PRESENTATION, b""))
    if listed is None:
        yield content
        return
    text = parts[_PRESENTATION]
    for slide in _SLIDE.findall(listed["ids"]):
        alone = text[: listed.start("ids")] + slide + text[listed.end("ids") :]
        yield _zipped({**parts, _PRESENTATION: alone})


def _texts(archive: zipfile.ZipFile) -> dict[str, bytes]:
    """Return the parts of a package; pictures and other media are left empty."""
    members = [member for member in archive.infolist() if not member.is_dir()]
    texts = [m for m in members if m.filename.endswith((".xml", ".rels"))]
    if sum(member.file_size for member in texts) > limits.MAX_UNPACKED_BYTES:
        raise UnreadableFile(
            f"its parts have more than {limits.MAX_UNPACKED_BYTES:,} bytes, the maximum unpacked"
        )
    empty = {member.filename: b"" for member in members}
    return empty | {member.filename: archive.read(member) for member in texts}


def _zipped(parts: Mapping[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return made.getvalue()
