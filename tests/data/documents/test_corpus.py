"""A folder of documents as a corpus: passages with page and heading, and what was not read."""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path

import pytest
from tests.fakes.made_documents import Block, docx, encrypted_office, pdf, prose, zip_bomb

from ragstone.components.chunkers.whole import Whole
from ragstone.components.chunkers.words import Words
from ragstone.core import limits
from ragstone.data.corpus import Corpus
from ragstone.data.dataset import Dataset
from ragstone.data.documents.corpus import DocumentFiles, with_documents
from ragstone.data.documents.files import find_files
from ragstone.errors import DatasetError
from ragstone.types import Passage

TITLES = ("Ferries and boats", "Prices of the year")


def write(folder: Path, **files: bytes | str) -> Path:
    """Write files, whose names have `_` for the point, and return the folder."""
    for name, content in files.items():
        path = folder / name.replace("_", ".").replace("..", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def passages(corpus: Corpus) -> list[Passage]:
    """Return all passages."""
    return list(corpus)


@pytest.mark.parametrize("number", range(10))
def test_ten_pdfs_keep_page_and_heading(number: int, tmp_path: Path) -> None:
    """Every second one has an outline; each passage has the page and the heading of its text."""
    bodies = [prose(10 * number + page, 9 + number) for page in range(4)]
    titles = [f"{TITLES[page % 2]} {chr(65 + page)}" for page in range(4)]
    pages = [
        [(16, title), *((10, line) for line in body)]
        for title, body in zip(titles, bodies, strict=True)
    ]
    outline = [(title, page) for page, title in enumerate(titles)] if number % 2 else []
    folder = write(tmp_path, a_pdf=pdf(pages, outline))

    found = passages(DocumentFiles(str(folder), Words(50)).corpus())

    assert {passage.document_id for passage in found} == {"a.pdf"}
    for page, (title, body) in enumerate(zip(titles, bodies, strict=True), start=1):
        own = [passage for passage in found if passage.labels["page"] == page]
        assert {passage.labels["heading"] for passage in own} == {title}
        text = " ".join(" ".join(passage.text.split()) for passage in own)
        assert text == " ".join([title, *body])


@pytest.mark.parametrize("number", range(10))
def test_ten_word_files_keep_their_headings(number: int, tmp_path: Path) -> None:
    """Each passage has the path of the headings above its text."""
    chapters: list[Block] = [
        (1, "One"),
        *prose(number, 3),
        (2, "Part"),
        *prose(number + 50, 4),
        (1, "Two"),
    ]
    rows = [["Town", "Boats"], *([f"town {n}", str(n)] for n in range(number + 1))]
    folder = write(tmp_path, sub__a_docx=docx(*chapters, "End.", rows))

    found = passages(DocumentFiles(str(folder), Words(20)).corpus())

    of = {p.labels["heading"]: p for p in found}
    assert list(of) == ["One", "One > Part", "Two"]
    assert "Town: town 0 | Boats: 0" in " ".join(p.text for p in found)
    assert {p.document_id for p in found} == {"sub/a.docx"}
    assert all(p.labels["page" if "page" in p.labels else "heading"] for p in found)


def test_a_passage_crosses_no_heading_and_knows_its_pages(tmp_path: Path) -> None:
    """A section over two pages has passages with the label `last_page`."""
    pages = [[(10, line) for line in prose(n, 3)] for n in range(3)]
    folder = write(tmp_path, a_pdf=pdf(pages, [("Start", 0)]))

    (found,) = passages(DocumentFiles(str(folder), Whole()).corpus())

    assert (found.labels["page"], found.labels["last_page"]) == (1, 3)
    assert found.labels["heading"] == "Start"


def test_ids_and_the_digest_are_stable(tmp_path: Path) -> None:
    """The same files give the same corpus, wherever the folder is and whatever else changes."""
    files = {"b_txt": "one two three", "a__c_md": "# T\n\nfour five"}
    first = DocumentFiles(str(write(tmp_path / "x", **files)), Words(2)).corpus()
    second = DocumentFiles(str(write(tmp_path / "y", **files)), Words(2)).corpus()

    assert first.digest == second.digest
    assert first.passage_ids == ["a/c.md-0-8", "a/c.md-8-12", "b.txt-0-8", "b.txt-8-13"]


def test_titles_are_those_of_the_files(tmp_path: Path) -> None:
    """A page has its own title; other files have their names."""
    folder = write(tmp_path, a_html="<title>T</title><p>x</p>", manual_txt="x")
    assert [p.title for p in DocumentFiles(str(folder)).corpus()] == ["T", "manual"]


def test_long_headings_are_paragraphs(tmp_path: Path) -> None:
    """A paragraph in large type is not a heading."""
    long = "x" * (limits.MAX_HEADING_CHARACTERS + 1)
    folder = write(tmp_path, a_docx=docx((1, long), "a", (1, "Short"), "b"))
    found = passages(DocumentFiles(str(folder)).corpus())
    assert [p.labels.get("heading") for p in found] == [None, "Short"]


def test_what_is_not_read_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Each failure has its file and reason, and the rest of the folder is read."""
    folder = write(
        tmp_path,
        good_txt="A text.",
        bomb_docx=zip_bomb(),
        cut_docx=docx("a")[:200],
        cut_pdf=pdf([[(11, "a")]])[:150],
        empty_md="",
        locked_docx=encrypted_office(),
        locked_pdf=pdf([[(11, "a")]], encrypted=True),
        mixed_txt="é\né\n".encode() + b"\xe9\n",
        scan_pdf=pdf([[], []]),
        picture_png="x",
        archive_zip="x",
        _hidden_txt="x",
    )
    (folder / "gone.txt").symlink_to("nowhere")

    corpus = DocumentFiles(str(folder)).corpus()

    assert corpus.passage_ids == ["good.txt-0-7"]
    told = caplog.text
    assert "2 of 10 documents are cut into 1 passages by words(200); pin it with chunker" in told
    assert "8 of 10 documents could not be read" in told
    for reason in (
        "bomb.docx: ResourceLimitError",
        "cut.docx: MalformedError",
        "cut.pdf: it is not a readable PDF",
        "empty.md: it is empty",
        "gone.txt: it is a link to 'nowhere'",
        "locked.docx: it is encrypted",
        "locked.pdf: it is encrypted",
        "mixed.txt: its encoding is mixed: line 3 is not UTF-8",
        "1 of 10 documents have no text: scan.pdf",
        "2 pages without text (scans or drawings): scan.pdf",
        "2 other files are left out: 1 .png, 1 .zip",
    ):
        assert reason in told


def test_a_pinned_chunker_is_not_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A folder without a guess and without a failure has no line."""
    DocumentFiles(str(write(tmp_path, a_txt="x")), Words(5)).corpus()
    assert [r for r in caplog.records if r.levelno >= logging.WARNING] == []


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "contains no document: known are .txt"),
        ({"a_png": "x", "b_zip": "x"}, "contains no document: .*; found 1 .png, 1 .zip"),
        (
            {"a_pdf": "x", "b_txt": ""},
            "no document .* could be read: a.pdf: .*, b.txt: it is empty",
        ),
        ({"a_txt": "  "}, "a.txt: it has no text"),
        ({"a_pdf": pdf([[]])}, "1 pages without text"),
    ],
)
def test_a_folder_without_text_is_an_error(
    files: dict[str, bytes | str], message: str, tmp_path: Path
) -> None:
    """The error has the reason of each file."""
    with pytest.raises(DatasetError, match=message):
        DocumentFiles(str(write(tmp_path, **files))).corpus()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_names_that_make_no_id(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A file whose name cannot be an id is told, and the rest is read."""
    write(tmp_path, good_txt="x")
    (tmp_path / "line\nbreak.txt").write_text("x")
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.txt")).write_text("x")
    assert DocumentFiles(str(tmp_path)).corpus().passage_ids == ["good.txt-0-1"]
    assert "2 of 3 documents could not be read: line break.txt: its name has a tab" in caplog.text
    assert "\\udcff.txt: its name has a tab" in caplog.text


def test_large_files_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file beyond the limit has a reason."""
    monkeypatch.setattr(limits, "MAX_PARSED_FILE_BYTES", 4)
    folder = write(tmp_path, a_txt="12345", b_txt="1234")
    assert DocumentFiles(str(folder)).corpus().passage_ids == ["b.txt-0-4"]


def test_files_folders_and_patterns(tmp_path: Path) -> None:
    """A name is that below the folder before the first wildcard."""
    folder = write(tmp_path, a_txt="x", b__c_md="x", b__d_txt="x", b__lock_x="x")

    assert list(find_files(str(folder)).documents) == ["a.txt", "b/c.md", "b/d.txt"]
    assert list(find_files(str(folder / "**" / "*.txt")).documents) == ["a.txt", "b/d.txt"]
    assert list(find_files(str(folder / "b" / "c.md")).documents) == ["c.md"]
    assert list(find_files(str(folder), [folder / "a.txt"]).documents) == ["b/c.md", "b/d.txt"]
    with pytest.raises(DatasetError, match="there is no file or folder"):
        find_files(str(folder / "none"))


def test_gold_texts_become_gold_passages(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    """A judged text is found in the passages that share much of it; others are counted as lost."""
    lines = prose(1, 12)
    folder = write(tmp_path, a_txt=" ".join(lines), b_txt=" ".join(prose(2, 6)))
    dataset = Dataset.from_records(
        queries=[{"_id": "q1", "text": "a?"}, {"_id": "q2", "text": "b?"}],
        passages=[
            {"_id": "inside", "text": lines[2]},
            {"_id": "across", "text": " ".join(lines[3:5])},
            {"_id": "other", "text": "Nothing of this is in a document at all."},
        ],
        qrels=[("q1", "inside", 1), ("q1", "other", 1), ("q2", "across", 2)],
    )

    found = with_documents(dataset, DocumentFiles(str(folder), Words(48)))

    first, second, third = found.corpus.passage_ids[:3]
    assert found.qrels == {"q1": {first: 1}, "q2": {first: 2, second: 2}}
    assert third.startswith("a.txt")
    assert "1 of 3 judgements are left out, because no passage" in caplog.text
