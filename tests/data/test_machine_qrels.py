"""The mark of machine-made qrels: read, absent, out of date, malformed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import ragstone
from ragstone.core.fingerprint import digest_file
from ragstone.data.machine_qrels import QrelsMark, machine_made, mark_path
from ragstone.errors import DatasetError


@pytest.fixture
def qrels(tmp_path: Path) -> Path:
    """Return marked qrels in the folder of a data set."""
    (tmp_path / "queries.jsonl").write_text('{"_id": "q", "text": "?"}\n')
    (tmp_path / "corpus.jsonl").write_text('{"_id": "p", "text": "Text."}\n')
    path = tmp_path / "qrels.tsv"
    path.write_text("q\tp\t3\n")
    mark = QrelsMark("umbrela", ("m1", "m2"), "ab" * 32, "2026-03-02", 1, 0, digest_file(path))
    mark_path(path).write_text(json.dumps(mark.document()))
    return path


def test_a_data_set_knows_that_its_qrels_are_machine_made(qrels: Path) -> None:
    """The sentence names the judge, its models, the prompt and the date."""
    told = "qrels.tsv is machine-made, by umbrela with m1, m2 (prompt abababababab, 2026-03-02)"
    assert machine_made(qrels) == told
    source = ragstone.load_dataset(qrels.parent).source
    assert source.machine_qrels == source.facts()["machine_qrels"] == told


def test_qrels_of_people_have_no_mark(qrels: Path) -> None:
    """Their facts have no such field."""
    mark_path(qrels).unlink()
    assert machine_made(qrels) == ""
    assert "machine_qrels" not in ragstone.load_dataset(qrels.parent).source.facts()


def test_a_changed_file_is_told(qrels: Path) -> None:
    """Somebody may have corrected grades."""
    qrels.write_text("q\tp\t0\n")
    assert machine_made(qrels).endswith("the file was changed since then")


def test_a_malformed_mark_is_named(qrels: Path) -> None:
    """With the key and the way out."""
    document = json.loads(mark_path(qrels).read_text())
    mark_path(qrels).write_text(json.dumps({**document, "pairs": "many"}))
    with pytest.raises(DatasetError, match=r"qrels.tsv.made-by.json: key 'pairs': .*remove it if"):
        machine_made(qrels)
