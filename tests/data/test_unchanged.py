"""The files of a data set, known without reading it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragstone.data.unchanged import data_state


@pytest.fixture(name="data")
def _data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "queries.jsonl").write_text('{"_id": "q", "text": "Which river?"}\n')
    return folder


def test_every_file_of_a_folder_counts(data: Path, tmp_path: Path) -> None:
    """A changed or a new file makes another state, a hidden one does not."""
    first = data_state(str(data), tmp_path, tmp_path / "store")
    assert first is not None
    assert list(first["files"]) == ["queries.jsonl"]
    (data / ".cache").write_text("x")
    assert data_state(str(data), tmp_path, tmp_path / "store") == first

    (data / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n")
    second = data_state(str(data), tmp_path, tmp_path / "store")
    (data / "qrels.tsv").write_text("query-id\tcorpus-id\tgrade\n")
    third = data_state(str(data), tmp_path, tmp_path / "store")
    assert first != second != third


def test_files_beside_a_file_count(tmp_path: Path) -> None:
    """A reader may read them too."""
    (tmp_path / "qa.csv").write_text("question,answer\nWho?,Ann\n")
    first = data_state(str(tmp_path / "qa.csv"), tmp_path, tmp_path / "store")
    (tmp_path / "other.jsonl").write_text("{}\n")
    second = data_state(str(tmp_path / "qa.csv"), tmp_path, tmp_path / "store")

    assert first is not None
    assert first != second


def test_data_with_parts_elsewhere_are_not_known(data: Path, tmp_path: Path) -> None:
    """Mappings can name further files, and a store in the folder changes with each run."""
    store = tmp_path / "store"
    assert data_state({"path": str(data), "documents": "docs"}, tmp_path, store) is None
    assert data_state(str(tmp_path / "none"), tmp_path, store) is None
    assert data_state("own.py:Reader", tmp_path, store) is None
    assert data_state(str(data), tmp_path, data / "store") is None
