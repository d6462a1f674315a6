"""What was not read is said: by the doctor, by `data show` and when a data set is loaded."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from ragstone.cli.data import command
from ragstone.data.load import load_dataset
from ragstone.data_quality import check, read_leniently


@pytest.fixture
def queries_alone(tmp_path: Path) -> Path:
    """Return a folder whose passages are in a file of another name."""
    (tmp_path / "queries.jsonl").write_text('{"_id": "q", "text": "Who wrote it?"}\n')
    (tmp_path / "passages.jsonl").write_text('{"_id": "p", "text": "Bo wrote it."}\n')
    (tmp_path / "README.txt").write_text("mine")
    return tmp_path


def test_parts_that_were_not_read_are_findings(queries_alone: Path) -> None:
    """Each names what was not checked; a file of another name is listed."""
    found = {f.check: f for f in check(read_leniently(queries_alone)) if "scope" in f.check}

    assert list(found) == [
        "scope/unread-files",
        "scope/no-passages",
        "scope/no-judgements",
        "scope/no-gold-answers",
    ]
    assert found["scope/unread-files"].examples == ("passages.jsonl",)
    assert "so these were not checked: their texts" in found["scope/no-passages"].what


def test_a_complete_data_set_has_no_such_finding() -> None:
    """The sample has all parts."""
    assert not [f for f in check(read_leniently("sample")) if f.check.startswith("scope")]


def test_a_loaded_data_set_without_its_corpus_is_a_warning(
    queries_alone: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The warning names the files that may contain the passages."""
    assert not len(load_dataset(queries_alone).corpus)
    assert "has no corpus.jsonl, so no passage was read" in caplog.text
    assert "passages.jsonl" in caplog.text


def test_the_command_prints_what_was_read(queries_alone: Path) -> None:
    """In the second line, before the findings."""
    lines = CliRunner().invoke(command, ["check", str(queries_alone)]).output.splitlines()

    assert "read: 1 queries, 0 passages, 0 judgements, 0 gold answers" in lines


def test_trecs_tables_are_read_by_the_doctor(tmp_path: Path) -> None:
    """As they are by `data show`: their rows are checked, not left out."""
    (tmp_path / "queries.tsv").write_text("q\tWho wrote it?\n")
    (tmp_path / "corpus.tsv").write_text("p\tBo wrote it.\np\tagain\n")
    (tmp_path / "qrels.txt").write_text("q 0 p 1\nq 0 gone 1\n")

    subject = read_leniently(tmp_path)

    assert len(subject.dataset.corpus) == 1
    assert [fault.kind for fault in subject.faults] == ["repeated-id"]
    assert [lost.passage_id for lost in subject.dangling] == ["gone"]
