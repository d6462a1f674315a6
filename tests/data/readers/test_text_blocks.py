"""The text of a folder as a stream."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from ragstone.data.readers import text_blocks as module
from ragstone.data.readers.text_blocks import text_blocks, text_files
from ragstone.errors import DatasetError


def test_rows_and_files_are_blocks(tmp_path: Path) -> None:
    """All texts of a row belong together; plain and gzipped files are read."""
    rows = tmp_path / "été" / "rows.jsonl"
    rows.parent.mkdir()
    rows.write_text('{"title": "A", "text": "b", "n": 3}\n\n{"text": "c"}\n', encoding="utf-8")
    with gzip.open(tmp_path / "page.txt.gz", "wb") as file:
        file.write(b"one\ntwo \xff\n")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    files = text_files(tmp_path)
    assert [path.name for path in files] == ["page.txt.gz", "rows.jsonl"]
    assert [list(text_blocks(path)) for path in files] == [
        [(1, "one\ntwo \ufffd\n")],
        [(1, "A\nb"), (3, "c")],
    ]
    assert text_files(rows) == [rows]


def test_a_large_file_is_several_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A block begins with the end of the one before, so that no phrase is cut."""
    monkeypatch.setattr(module, "_BLOCK_CHARACTERS", 10)
    monkeypatch.setattr(module, "_TAIL_CHARACTERS", 4)
    path = tmp_path / "a.txt"
    path.write_text("one two\nthree four\nfive\n")
    assert list(text_blocks(path)) == [(1, "one two\nthree four\n"), (2, "our\nfive\n")]


def test_a_folder_without_text_is_an_error(tmp_path: Path) -> None:
    """The message has the names that are expected."""
    with pytest.raises(DatasetError, match=r"has no file with text.*\.jsonl"):
        text_files(tmp_path)
