"""Formats: what each parser keeps of a file: text, headings, pages, rows of tables, counts."""

from __future__ import annotations

import re

import pytest
from tests.fakes.made_documents import docx, epub, pdf, pptx, prose, xlsx

from ragstone.core import limits
from ragstone.core.fingerprint import fingerprint
from ragstone.data.documents.decoding import decode
from ragstone.data.documents.formats import SUFFIXES, FileParser
from ragstone.data.documents.pdf import _is_right_to_left
from ragstone.data.documents.pieces import IMAGES, ParsedFile, UnreadableFile, table_text
from ragstone.errors import MissingDependency

BODY = "A long paragraph in small type, so that the larger lines above it are its headings. " * 2


def parse(suffix: str, content: bytes | str) -> ParsedFile:
    """Return what a parser finds in a file."""
    return FileParser(suffix).parse(content.encode() if isinstance(content, str) else content)


def headings(found: ParsedFile) -> list[tuple[int, str, int]]:
    """Return level, text and page of the headings."""
    return [(piece.level, piece.text, piece.page) for piece in found.pieces if piece.level]


def text(found: ParsedFile) -> str:
    """Return the whole text."""
    return "\n".join(piece.text for piece in found.pieces)


def test_pdf_has_pages_and_the_headings_of_its_outline() -> None:
    """The outline decides, also where the type of a line does not look like a heading."""
    pages = [[(24, "Guide"), (11, BODY[:60]), (11, "Install")], [(18, "2.1 Use"), (11, BODY[5:70])]]
    outline = [("Guide", 0), ("Install", 0), ("Use", 1)]

    found = parse(".pdf", pdf(pages, outline, title="Guide"))

    assert headings(found) == [(1, "Guide", 1), (1, "Install", 1), (1, "2.1 Use", 2)]
    assert [piece.page for piece in found.pieces] == [1, 1, 1, 2, 2]
    assert found.title == "Guide"
    assert BODY[:60].strip() in text(found)


def test_pdf_headings_without_an_outline_come_from_the_layout() -> None:
    """Larger lines above a body of small type are headings; emphasis marks are not in the text."""
    pages = [
        [(16, title), *((10, line) for line in prose(n, 14)), (10, "The *x* of __init__ is a*b.")]
        for n, title in enumerate(("Ferries", "Prices now"))
    ]

    found = parse(".pdf", pdf(pages))

    assert [(title, page) for _, title, page in headings(found)] == [
        ("Ferries", 1),
        ("Prices now", 2),
    ]
    assert text(found).count("The *x* of __init__ is a*b.") == 2
    assert found.title == ""


def test_a_title_of_another_document_is_not_taken() -> None:
    """Titles in the properties of a PDF are often those of a template."""
    assert parse(".pdf", pdf([[(11, "Our own text.")]], title="Template")).title == ""


def test_a_heading_of_the_outline_that_is_not_on_its_page_begins_it() -> None:
    """The heading is not lost, and the section has its text."""
    found = parse(".pdf", pdf([[(11, "Text of the page.")]], [("Preface", 0)]))

    assert headings(found) == [(1, "Preface", 1)]


def test_pages_of_a_scan_and_images_are_counted() -> None:
    """A page with a picture and no text is a scan; it has no pieces."""
    found = parse(".pdf", pdf([[(11, "Text.")], [], []]))

    assert found.notes == {"pages without text (scans or drawings)": 2}
    assert {piece.page for piece in found.pieces} == {1}


def test_a_page_that_the_layout_loses_is_read_as_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the layout has few of the words, or cannot be read at all, the plain text counts."""
    content = pdf([[(11, f"Line {n} of the page.") for n in range(9)]])
    monkeypatch.setattr("ragstone.data.documents.pdf._layouts", lambda _: {})

    found = parse(".pdf", content)

    assert text(found).splitlines() == [f"Line {n} of the page." for n in range(9)]


def test_pages_that_are_rotated_or_written_from_right_to_left() -> None:
    """The words of a rotated page have their order; Arabic and Hebrew are told from others."""
    lines = prose(3, 6)
    content = pdf([[(11, line) for line in lines]]).replace(b"/MediaBox", b"/Rotate 90 /MediaBox")
    assert text(parse(".pdf", content)).split() == " ".join(lines).split()
    assert _is_right_to_left("مرحبا بكم Guide")
    assert _is_right_to_left("שלום")
    assert not _is_right_to_left("A guide in English, with one word: سلام")
    assert not _is_right_to_left("里斯本")


def test_word_has_levels_tables_and_footnotes() -> None:
    """A row of a table has the names of its columns."""
    rows = [["City", "People"], ["Lisbon", "545,000"], ["Porto", ""]]
    found = parse(".docx", docx((1, "Guide"), "Hello.", (2, "Towns"), rows))

    assert headings(found) == [(1, "Guide", 0), (2, "Towns", 0)]
    assert text(found).endswith("City: Lisbon | People: 545,000\nCity: Porto")


def test_slides_are_pages() -> None:
    """Each slide has its number, with or without a title."""
    found = parse(".pptx", pptx(("One", "first text"), ("", "second text"), ("Three", "third")))

    places = {piece.text: piece.page for piece in found.pieces if piece.text}
    assert places == {"One": 1, "first text": 1, "second text": 2, "Three": 3, "third": 3}


def test_sheets_are_headings() -> None:
    """A workbook has a section per sheet, and a line per row."""
    found = parse(
        ".xlsx", xlsx({"Towns": [["City", "People"], ["Lisbon", 545]], "B": [["x"], [3]]})
    )

    assert [heading for _, heading, _ in headings(found)] == ["Towns", "B"]
    assert "City: Lisbon | People: 545" in text(found)
    assert "x: 3" in text(found)


def test_books_have_chapters() -> None:
    """An EPUB is read in the order of its spine."""
    found = parse(".epub", epub({"b.xhtml": "<h1>Two</h1><p>b</p>", "a.xhtml": "<h1>One</h1>"}))

    assert [heading for _, heading, _ in headings(found)] == ["Book", "Two", "One"]


def test_html_without_navigation_and_scripts() -> None:
    """Headings, lists and tables stay; images are counted, and their descriptions are text."""
    page = (
        "<html><head><title>T &amp; U</title><script>x</script></head><body><nav><a>Menu</a></nav>"
        "<h1>H</h1><p>Some <b>bold</b> text.</p><ul><li>one</li></ul><img src=a alt='A cat'>"
        "<table><tr><th>a</th></tr><tr><td>1</td></tr></table><pre>code</pre></body></html>"
    )
    found = parse(".html", page)

    assert headings(found) == [(1, "H", 0)]
    assert text(found) == "H\nSome bold text.\n- one\nA cat\na: 1\ncode"
    assert (found.title, found.notes) == ("T & U", {IMAGES: 1})


def test_html_in_the_encoding_that_it_names() -> None:
    """A page that names gb2312 is read as gb18030, which contains it."""
    page = "<meta charset=gb2312><h1>东京</h1><p>里斯本在塔霍河畔</p>".encode("gb18030")
    assert headings(parse(".htm", page)) == [(1, "东京", 0)]


def test_html_beyond_the_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages that are too large or too deep have a reason, not an empty text."""
    with pytest.raises(UnreadableFile, match=r"nothing could be read"):
        parse(".html", "<div>" * 5000 + "text" + "</div>" * 5000)
    monkeypatch.setattr(limits, "MAX_HTML_BYTES", 10)
    with pytest.raises(UnreadableFile, match="more than 10 bytes"):
        parse(".html", "<p>a long page</p>")


def test_markdown_blocks_stay_as_they_are_written() -> None:
    """Headings lose their marks, tables become rows, front matter is left out."""
    source = (
        "---\ntitle: x\n---\n# Top *one*\n\nHello *you*.\n\nSub\n---\n\n"
        "| a | b |\n|---|---|\n| 1 | 2 |\n\n```\n# no heading\n```\n"
    )
    found = parse(".md", source)

    assert headings(found) == [(1, "Top one", 0), (2, "Sub", 0)]
    assert text(found) == "Top one\nHello *you*.\nSub\na: 1 | b: 2\n```\n# no heading\n```"


def test_tables_as_text() -> None:
    """The delimiter is found, and each row has the names of its columns."""
    assert text(parse(".csv", "City;People\nLisbon;5\nPorto;2\n")).startswith("City: Lisbon | Peop")
    assert text(parse(".tsv", "a\tb\n1\t2\n")) == "a: 1 | b: 2"
    with pytest.raises(UnreadableFile, match="not valid CSV"):
        parse(".csv", 'a,b\n1,"never ends\n')


def test_rows_of_tables() -> None:
    """Several header rows are joined; a table of headers alone keeps its cells."""
    assert table_text([["a", ""], ["b", "c"], ["1", "2"]], headers=2) == "a b: 1 | c: 2"
    assert table_text([["a", "b"], ["1", "2"]], headers=0) == "a | b\n1 | 2"
    assert table_text([]) == ""


def test_mail_has_its_subject_text_and_attachments() -> None:
    """The text is that of the message; attachments are counted."""
    source = (
        "From: a@b.example\nSubject: Ferries\nMIME-Version: 1.0\n"
        "Content-Type: multipart/mixed; boundary=B\n\n--B\nContent-Type: text/html\n\n"
        "<p>It leaves at <b>7:40</b>.</p>\n--B\nContent-Type: application/pdf\n"
        "Content-Disposition: attachment\n\nx\n--B--\n"
    )
    found = parse(".eml", source)

    assert text(found) == "From: a@b.example\nSubject: Ferries\nIt leaves at 7:40."
    assert (found.title, found.notes) == ("Ferries", {"attachments that are not read": 1})
    for wrong, reason in (
        ("no message at all", "no sender, date or subject"),
        ("Subject: a\nContent-Type: text/plain; charset=klingon\n\nx", "not a readable message"),
    ):
        with pytest.raises(UnreadableFile, match=reason):
            parse(".eml", wrong)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_decides(encoding: str) -> None:
    """Text with a mark is read in its encoding, without the mark."""
    assert decode("Straße".encode(encoding)) == ("Straße", "")


def test_encodings_that_are_guessed_are_told() -> None:
    """A text that is not UTF-8 has a note with the encoding."""
    german = "Über die Brücke führt eine schöne alte Straße nach Köln. " * 5
    found = parse(".txt", german.encode("cp1252"))

    assert text(found) == german
    assert list(found.notes) == ["texts that are not UTF-8, read as cp1252 by a guess"]
    french = "Le café est à côté de la forêt près de l'église. " * 5
    assert decode(french.encode("cp1252")) == (french, "cp1252")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("é\nè\n".encode() + b"\xe9\n", "mixed: line 3 is not UTF-8, and 2 lines are"),
        (b"a\0b", "null bytes"),
        (b"\xff\xfea", "begins as utf-16 and is not"),
    ],
)
def test_text_that_cannot_be_decoded(content: bytes, reason: str) -> None:
    """The reason names the line or the encoding."""
    with pytest.raises(UnreadableFile, match=reason):
        parse(".txt", content)


def test_too_many_pages_and_too_large_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A PDF of many pages, and a presentation that unpacks to much text, are refused."""
    monkeypatch.setattr(limits, "MAX_PAGES", 1)
    with pytest.raises(UnreadableFile, match="2 pages, the maximum is 1"):
        parse(".pdf", pdf([[(11, "a")], [(11, "b")]]))
    monkeypatch.setattr(limits, "MAX_UNPACKED_BYTES", 100)
    with pytest.raises(UnreadableFile, match="more than 100 bytes, the maximum unpacked"):
        parse(".pptx", pptx(("a", "b")))


def test_a_pdf_with_another_name_is_told() -> None:
    """The content decides what a file is."""
    with pytest.raises(UnreadableFile, match=r"it is a PDF with another name"):
        parse(".docx", pdf([[(11, "a")]]))
    assert "Hello" in text(parse(".xlsx", docx("Hello.")))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_without_the_packages_the_error_names_the_extra(
    suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Formats of plain text need none."""
    monkeypatch.setattr("ragstone.data.documents.formats.find_spec", lambda _: None)
    if suffix in {".txt", ".csv", ".tsv"}:
        FileParser(suffix).require()
        return
    with pytest.raises(MissingDependency, match=re.escape("pip install 'ragstone[documents]'")):
        FileParser(suffix).require()


def test_a_new_version_of_a_package_is_another_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    """The key of kept results has the versions of the packages."""
    before = fingerprint(FileParser(".pdf"))
    monkeypatch.setattr("ragstone.data.documents.formats._version", lambda _: "9")
    assert fingerprint(FileParser(".pdf")) != before
