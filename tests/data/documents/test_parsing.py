"""Parsed files are kept by their content: a rerun parses none again, a changed file alone is."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.fakes.made_documents import docx, pdf

from ragstone.core.store import Store
from ragstone.data.documents.formats import FileParser
from ragstone.data.documents.parsing import parse_files, parses_kept_in
from ragstone.data.documents.pieces import ParsedFile
from ragstone.data.documents.processes import ParsingProcess


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the ends of the names of the files that are parsed."""
    found: list[str] = []
    parse = ParsingProcess.parse

    def counted(self: ParsingProcess, parser: FileParser, content: bytes) -> ParsedFile:
        found.append(parser.suffix)
        return parse(self, parser, content)

    monkeypatch.setattr(ParsingProcess, "parse", counted)
    return found


def texts(files: Mapping[str, Path]) -> dict[str, str]:
    """Return name -> text, or the reason why there is none."""
    return {
        name: found if isinstance(found, str) else " ".join(p.text for p in found.pieces)
        for name, found in parse_files(files)
    }


def test_a_rerun_parses_only_what_changed(tmp_path: Path, asked: list[str]) -> None:
    """The content of a file decides, and its kind; plain text and failures are not kept."""
    files = {name: tmp_path / name for name in ("a.docx", "b.pdf", "c.txt", "d.pdf")}
    files["a.docx"].write_bytes(docx("one"))
    files["b.pdf"].write_bytes(pdf([[(11, "two")]]))
    files["c.txt"].write_text("three")
    files["d.pdf"].write_text("no PDF")

    with parses_kept_in(Store(tmp_path / "store")):
        first = texts(files)
        assert sorted(asked) == [".docx", ".pdf", ".pdf", ".txt"]
        asked.clear()
        assert texts(files) == first
        assert sorted(asked) == [".pdf", ".txt"]
        asked.clear()
        files["a.docx"].write_bytes(docx("new"))
        assert texts(files) == {**first, "a.docx": "new"}
        assert sorted(asked) == [".docx", ".pdf", ".txt"]
    assert first["b.pdf"] == "two"
    assert "not a readable PDF" in first["d.pdf"]


def test_a_store_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    """The files are read all the same."""
    (tmp_path / "a.docx").write_bytes(docx("one"))
    (tmp_path / "store").write_text("a file in the place of the store")
    with parses_kept_in(Store(tmp_path / "store")):
        assert texts({"a.docx": tmp_path / "a.docx"}) == {"a.docx": "one"}


def test_a_damaged_result_is_made_again(tmp_path: Path, asked: list[str]) -> None:
    """What is kept is checked when it is read."""
    files = {"a.docx": tmp_path / "a.docx"}
    files["a.docx"].write_bytes(docx("one"))
    with parses_kept_in(Store(tmp_path / "store")):
        texts(files)
        (kept,) = (tmp_path / "store").rglob("pieces.json")
        kept.write_text("{}")
        assert texts(files) == {"a.docx": "one"}
    assert asked == [".docx", ".docx"]
