"""Small documents made by code: PDF, Word, PowerPoint, Excel and EPUB, some of them hostile."""

from __future__ import annotations

import io
import random
import struct
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias
from xml.sax.saxutils import escape

_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_MAIN = "application/vnd.openxmlformats-officedocument"

Line: TypeAlias = tuple[int, str]
"""Size of the type or level of a heading, and text."""
Block: TypeAlias = str | Line | list[list[str]]
"""A paragraph, a heading, or rows."""
Rows: TypeAlias = Sequence[Any]


_WORDS = [
    "the",
    "ferry",
    "leaves",
    "from",
    "harbour",
    "north",
    "every",
    "morning",
    "while",
    "passengers",
    "wait",
    "under",
    "old",
    "lamps",
    "and",
    "read",
    "papers",
    "about",
    "distant",
    "islands",
    "and",
    "storms",
    "that",
    "never",
    "come",
]


def prose(seed: int, lines: int) -> list[str]:
    """Return lines of twelve words each, the same for a seed."""
    words = random.Random(seed)  # noqa: S311 - no secret
    return [" ".join(words.choice(_WORDS) for _ in range(12)) + "." for _ in range(lines)]


def pdf(
    pages: Sequence[Sequence[Line]],
    outline: Sequence[tuple[str, int]] = (),
    *,
    title: str = "",
    encrypted: bool = False,
) -> bytes:
    """Return a PDF of lines of Helvetica; a page without lines has an image alone, as a scan has.

    Args:
        pages: the lines of each page.
        outline: titles with their pages, from 0.
        title: title of the document.
        encrypted: whether it names a handler of passwords that no reader can open.
    """
    kids = [f"{10 + 2 * n} 0 R" for n in range(len(pages))]
    objects: dict[int, bytes] = {
        1: b"<< /Type /Catalog /Pages 2 0 R" + (b" /Outlines 4 0 R" if outline else b"") + b" >>",
        2: f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>".encode(),
        3: b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        5: f"<< /Title ({title}) >>".encode(),
        6: _stream(
            b"/Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray "
            b"/BitsPerComponent 8",
            b"\x80",
        ),
        7: b"<< /Filter /Standard /V 2 /R 3 /Length 128 /P -4 /O <%b> /U <%b> >>"
        % (b"41" * 32, b"42" * 32),
    }
    for number, lines in enumerate(pages):
        objects[10 + 2 * number] = (
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R "
            f">> /XObject << /Im1 6 0 R >> >> /Contents {11 + 2 * number} 0 R >>"
        ).encode()
        objects[11 + 2 * number] = _stream(b"", _page(lines))
    first = 10 + 2 * len(pages)
    if outline:
        last = first + len(outline) - 1
        count = len(outline)
        objects[4] = (
            f"<< /Type /Outlines /First {first} 0 R /Last {last} 0 R /Count {count} >>".encode()
        )
    for place, (text, page) in enumerate(outline):
        beside = f"/Next {first + place + 1} 0 R" if place + 1 < len(outline) else ""
        objects[first + place] = (
            f"<< /Title ({text}) /Parent 4 0 R {beside} /Dest [{10 + 2 * page} 0 R /Fit] >>"
        ).encode()
    extra = b" /Encrypt 7 0 R /ID [<00> <00>]" if encrypted else b""
    return _pdf_file(objects, extra)


def _page(lines: Sequence[Line]) -> bytes:
    if not lines:
        return b"q 400 0 0 400 100 300 cm /Im1 Do Q"
    y, drawn = 800, []
    for size, text in lines:
        y -= size + 8
        shown = text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
        drawn.append(f"BT /F1 {size} Tf 60 {y} Td ({shown}) Tj ET".encode("latin-1"))
    return b"\n".join(drawn)


def _stream(entries: bytes, content: bytes) -> bytes:
    return b"<< %b /Length %d >>\nstream\n%b\nendstream" % (entries, len(content), content)


def _pdf_file(objects: Mapping[int, bytes], extra: bytes) -> bytes:
    made, places = bytearray(b"%PDF-1.5\n"), dict[int, int]()
    for number, content in sorted(objects.items()):
        places[number] = len(made)
        made += b"%d 0 obj\n%b\nendobj\n" % (number, content)
    start = len(made)
    size = max(objects) + 1
    made += b"xref\n0 1\n0000000000 65535 f \n"
    for number, place in sorted(places.items()):
        made += b"%d 1\n%010d 00000 n \n" % (number, place)
    made += b"trailer\n<< /Size %d /Root 1 0 R /Info 5 0 R%b >>\nstartxref\n%d\n%%%%EOF\n" % (
        size,
        extra,
        start,
    )
    return bytes(made)


def looping_pdf() -> bytes:
    """Return a PDF with a drawing that contains itself three times: no reader comes to its end."""
    resources = b"/Resources << /XObject << /F 12 0 R >> >>"
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] %b /Contents 11 0 R >>"
    objects = {
        1: b"<< /Type /Catalog /Pages 2 0 R >>",
        2: b"<< /Type /Pages /Kids [10 0 R] /Count 1 >>",
        5: b"<< >>",
        10: page % resources,
        11: _stream(b"", b"/F Do " * 50),
        12: _stream(
            b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] " + resources, b"/F Do /F Do /F Do"
        ),
    }
    return _pdf_file(objects, b"")


def docx(*blocks: Block) -> bytes:
    """Return a Word file: a text is a paragraph, a level with a text a heading, rows a table."""
    body = "".join(_word_block(block) for block in blocks)
    levels = "".join(
        f'<w:style w:type="paragraph" w:styleId="Heading{n}"><w:name w:val="heading {n}"/><w:pPr>'
        f'<w:outlineLvl w:val="{n - 1}"/></w:pPr></w:style>'
        for n in (1, 2, 3)
    )
    return _package(
        "word/document.xml",
        f"{_MAIN}.wordprocessingml.document.main+xml",
        {
            "word/document.xml": f"<w:document {_W}><w:body>{body}</w:body></w:document>",
            "word/styles.xml": f"<w:styles {_W}>{levels}</w:styles>",
            "word/_rels/document.xml.rels": _relations({"rId1": ("styles", "styles.xml")}),
        },
        {"word/styles.xml": f"{_MAIN}.wordprocessingml.styles+xml"},
    )


def _word_block(block: Block) -> str:
    if isinstance(block, str):
        return f"<w:p><w:r><w:t>{escape(block)}</w:t></w:r></w:p>"
    if isinstance(block, tuple):
        style = f'<w:pPr><w:pStyle w:val="Heading{block[0]}"/></w:pPr>'
        return f"<w:p>{style}<w:r><w:t>{escape(block[1])}</w:t></w:r></w:p>"
    rows = ("".join(f"<w:tc>{_word_block(cell)}</w:tc>" for cell in row) for row in block)
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in rows)}</w:tbl>"


def pptx(*slides: tuple[str, str]) -> bytes:
    """Return a PowerPoint file of slides with a title and a text."""
    spaces = (
        'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
        f'xmlns:r="{_OFFICE}" xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
    )
    numbers = range(1, len(slides) + 1)
    ids = "".join(f'<p:sldId id="{255 + n}" r:id="rId{n}"/>' for n in numbers)
    parts = {
        "ppt/presentation.xml": (
            f"<p:presentation {spaces}><p:sldIdLst>{ids}</p:sldIdLst></p:presentation>"
        ),
        "ppt/_rels/presentation.xml.rels": _relations(
            {f"rId{n}": ("slide", f"slides/slide{n}.xml") for n in numbers}
        ),
    }
    for number, (title, text) in enumerate(slides, start=1):
        shapes = _shape("title", title) + _shape("body", text)
        parts[f"ppt/slides/slide{number}.xml"] = (
            f"<p:sld {spaces}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>"
        )
    slide = f"{_MAIN}.presentationml.slide+xml"
    return _package(
        "ppt/presentation.xml",
        f"{_MAIN}.presentationml.presentation.main+xml",
        parts,
        {f"ppt/slides/slide{n}.xml": slide for n in numbers},
    )


def _shape(kind: str, text: str) -> str:
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="2" name="{kind}"/><p:cNvSpPr/><p:nvPr><p:ph type="{kind}"/>'
        "</p:nvPr></p:nvSpPr><p:spPr/><p:txBody><a:bodyPr/><a:p><a:r>"
        f"<a:t>{escape(text)}</a:t></a:r></a:p></p:txBody></p:sp>"
    )


def xlsx(sheets: Mapping[str, Rows]) -> bytes:
    """Return an Excel file: name of a sheet -> rows."""
    space = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    numbers = range(1, len(sheets) + 1)
    relations = {f"rId{n}": ("worksheet", f"worksheets/sheet{n}.xml") for n in numbers}
    names = "".join(
        f'<sheet name="{escape(name)}" sheetId="{n}" r:id="rId{n}"/>'
        for n, name in enumerate(sheets, start=1)
    )
    parts = {
        "xl/workbook.xml": (
            f'<workbook {space} xmlns:r="{_OFFICE}"><sheets>{names}</sheets></workbook>'
        ),
        "xl/_rels/workbook.xml.rels": _relations(relations),
    }
    for number, rows in enumerate(sheets.values(), start=1):
        body = "".join(_excel_row(place, row) for place, row in enumerate(rows, start=1))
        parts[f"xl/worksheets/sheet{number}.xml"] = (
            f"<worksheet {space}><sheetData>{body}</sheetData></worksheet>"
        )
    return _package(
        "xl/workbook.xml",
        f"{_MAIN}.spreadsheetml.sheet.main+xml",
        parts,
        {f"xl/worksheets/sheet{n}.xml": f"{_MAIN}.spreadsheetml.worksheet+xml" for n in numbers},
    )


def _excel_row(place: int, row: Sequence[Any]) -> str:
    cells = (
        f'<c r="{chr(65 + n)}{place}" t="inlineStr"><is><t>{escape(v)}</t></is></c>'
        if isinstance(v, str)
        else f'<c r="{chr(65 + n)}{place}"><v>{v}</v></c>'
        for n, v in enumerate(row)
        if v != ""
    )
    return f'<row r="{place}">{"".join(cells)}</row>'


def epub(chapters: Mapping[str, str]) -> bytes:
    """Return an EPUB: name of a chapter's file -> its HTML body."""
    names = list(chapters)
    items = "".join(
        f'<item id="c{n}" href="{name}" media-type="application/xhtml+xml"/>'
        for n, name in enumerate(names)
    )
    spine = "".join(f'<itemref idref="c{n}"/>' for n in range(len(names)))
    parts = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": (
            '<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
            '<rootfiles><rootfile full-path="book.opf" '
            'media-type="application/oebps-package+xml"/></rootfiles></container>'
        ),
        "book.opf": (
            '<package xmlns="http://www.idpf.org/2007/opf" version="3.0"><metadata '
            'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Book</dc:title></metadata>'
            f"<manifest>{items}</manifest><spine>{spine}</spine></package>"
        ),
    }
    for name, body in chapters.items():
        parts[name] = f'<html xmlns="http://www.w3.org/1999/xhtml"><body>{body}</body></html>'
    return zipped(parts)


def _relations(targets: Mapping[str, tuple[str, str]]) -> str:
    found = "".join(
        f'<Relationship Id="{name}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
        for name, (kind, target) in targets.items()
    )
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{found}</Relationships>'


def _package(
    main: str, main_type: str, parts: Mapping[str, str], others: Mapping[str, str]
) -> bytes:
    """Return a package of Office: its parts, and the types of those that are not the main one."""
    types = "".join(
        f'<Override PartName="/{name}" ContentType="{kind}"/>'
        for name, kind in {main: main_type, **others}.items()
    )
    fixed = {
        "[Content_Types].xml": (
            f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" '
            f'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Default Extension="xml" ContentType="application/xml"/>{types}</Types>'
        ),
        "_rels/.rels": _relations({"rId1": ("officeDocument", main)}),
    }
    return zipped({**fixed, **parts})


def zipped(parts: Mapping[str, str]) -> bytes:
    """Return a zip archive of texts."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return made.getvalue()


def zip_bomb() -> bytes:
    """Return a Word file of 300 KB whose text has 300 MB."""
    made, name = io.BytesIO(), "word/document.xml"
    with zipfile.ZipFile(io.BytesIO(docx())) as plain, zipfile.ZipFile(made, "w") as archive:
        for other in plain.namelist():
            if other != name:
                archive.writestr(other, plain.read(other))
        member = zipfile.ZipInfo(name)
        member.compress_type = zipfile.ZIP_DEFLATED
        with archive.open(member, "w") as file:
            for _ in range(300):
                file.write(b"a" * 1_000_000)
    return made.getvalue()


def encrypted_office() -> bytes:
    """Return what Office writes for a password: an OLE file with the stream EncryptedPackage."""
    free, end, fat = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
    header = struct.pack(
        "<8s16sHHHHH6s9I",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        bytes(16),
        0x3E, 3, 0xFFFE, 9, 6,
        bytes(6),
        0, 1, 1, 0, 4096, end, 0, end, 0,
    )  # fmt: skip
    header += struct.pack("<109I", 0, *[free] * 108)
    # Sector 0 is the FAT, 1 the directory, 2 to 9 and 10 to 17 the two streams.
    chains = [fat, end, *range(3, 10), end, *range(11, 18), end]
    table = struct.pack("<128I", *chains, *[free] * (128 - len(chains)))
    entries = (
        _entry("Root Entry", 5, child=1),
        _entry("EncryptionInfo", 2, right=2, start=2, size=4096),
        _entry("EncryptedPackage", 2, start=10, size=4096),
        bytes(128),
    )
    info = struct.pack("<HHI", 4, 4, 0x40) + b"<encryption/>"
    return header + table + b"".join(entries) + info.ljust(4096, b"\0") + bytes(4096)


def _entry(
    name: str, kind: int, *, right: int = 0xFFFFFFFF, child: int = 0xFFFFFFFF, start: int = 0,
    size: int = 0,
) -> bytes:  # fmt: skip
    text = name.encode("utf-16-le") + b"\0\0"
    return struct.pack(
        "<64sHBBIII16sIQQIQ",
        text, len(text), kind, 1, 0xFFFFFFFF, right, child, bytes(16), 0, 0, 0, start, size,
    )  # fmt: skip
