"""`ragstone data chunk` on the command line, and the files that it writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ragstone.cli.data import command
from ragstone.core import limits
from ragstone.data.document_level import judge_documents
from ragstone.data.load import load_dataset
from ragstone.data.readers.trec import read_qrels
from ragstone.evaluation.score_files import evaluate_run
from ragstone.types import Ranking


def _chunk(*arguments: object) -> Result:
    return CliRunner().invoke(command, ["chunk", *map(str, arguments)])


def test_a_chunked_data_set_has_the_documents_of_the_original(
    tmp_path: Path,
) -> None:
    """A second cut of the new passages gives the same passages as a cut of the documents."""
    sample = load_dataset("sample")
    small, large, twice = (tmp_path / name for name in ("small", "large", "twice"))

    assert _chunk("sample", small, "--chunker", "words(20)").exit_code == 0
    assert _chunk("sample", large, "--chunker", "words(60)").exit_code == 0
    assert _chunk(small, twice, "--chunker", "words(60)").exit_code == 0

    made, direct, again = (load_dataset(path) for path in (small, large, twice))
    assert made.queries == sample.queries
    assert len(made.corpus) > len(direct.corpus)
    assert list(again.corpus) == list(direct.corpus)
    facts = json.loads((small / "cutting.json").read_text())
    assert facts["judgements"] == facts["judgements_carried"] == sample.qrel_table.num_rows
    assert facts["not_carried"] == []


def test_the_files_can_be_judged_at_document_level(tmp_path: Path) -> None:
    """The files fit `--documents` and the qrels of `ragstone rank`."""
    assert _chunk("sample", tmp_path / "cut", "--chunker", "words(20)").exit_code == 0

    made = load_dataset(tmp_path / "cut")
    lines = (tmp_path / "cut" / "documents.tsv").read_text().splitlines()
    document_of = dict(line.split("\t") for line in lines)
    judged = read_qrels(tmp_path / "cut" / "document_qrels.tsv")
    positive = {q: {d for d, grade in held.items() if grade > 0} for q, held in judged.items()}
    own = judge_documents(made.qrels, document_of.__getitem__)
    gold = {q: Ranking([p for p, g in held.items() if g > 0]) for q, held in made.qrels.items()}
    found = evaluate_run(judged, gold, ["R@1000"], document_of=document_of.__getitem__)

    assert len(lines) == len(made.corpus)
    assert {q: {d for d, g in held.items() if g > 0} for q, held in own.items()} == positive
    assert found["R@1000"].mean == 1.0


def test_counts_are_printed_for_people_and_machines(tmp_path: Path) -> None:
    """The text and the JSON contain the same numbers and the same notes."""
    plain = _chunk("sample", tmp_path / "a", "--chunker", "whole").output
    found = json.loads(_chunk("sample", tmp_path / "b", "--chunker", "whole", "--json").output)

    assert f"{found['documents']:,} documents, {found['passages']:,} passages" in plain
    assert f"{found['judgements_carried']:,} of {found['judgements']:,} judgements" in plain
    assert all(f"{note}: {count}" in plain for note, count in found["notes"].items())
    assert str(tmp_path / "b" / "cutting.json") in found["files"]
    assert found["chunker"] == "Whole()"


def test_no_folder_is_overwritten_or_half_written(tmp_path: Path) -> None:
    """A folder with files is refused before anything is cut; an empty folder is used."""
    (tmp_path / "cut").mkdir()
    assert _chunk("sample", tmp_path / "cut").exit_code == 0
    again = _chunk("sample", tmp_path / "cut")

    assert "already exists" in str(again.exception)
    assert [path.name for path in tmp_path.iterdir()] == ["cut"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--chunker", "wards"), "did you mean 'words'"),
        (("--chunker", "words(5, overlap=5)"), "less than the size 5"),
        (("--threshold", "2"), "at most 1, found 2"),
        (("--documents", "nowhere.jsonl"), "no such file"),
    ],
)
def test_a_wrong_option_names_the_way_out(
    tmp_path: Path, arguments: tuple[str, str], said: str
) -> None:
    """Nothing is written."""
    result = _chunk("sample", tmp_path / "cut", *arguments)

    assert said in str(result.exception)
    assert not (tmp_path / "cut").exists()


def test_whole_documents_may_come_from_a_file(tmp_path: Path) -> None:
    """Judged passages are found in the documents; a lost judgement is printed and written."""
    data = tmp_path / "set"
    data.mkdir()
    (data / "queries.jsonl").write_text('{"_id": "q", "text": "?"}\n')
    (data / "corpus.jsonl").write_text(
        '{"_id": "1", "text": "two  three", "document": "d"}\n'
        '{"_id": "2", "text": "elsewhere", "document": "d"}\n'
    )
    (data / "qrels.tsv").write_text("q\t1\t2\nq\t2\t1\n")
    documents = tmp_path / "documents.jsonl"
    documents.write_text('{"_id": "d", "title": "T", "text": "one two\\r\\nthree four"}\n')
    result = _chunk(data, tmp_path / "cut", "--chunker", "words(2)", "--documents", documents)

    assert "not transferred: q 2 1: its text is not found in its document" in result.output
    facts = json.loads((tmp_path / "cut" / "cutting.json").read_text())
    assert [lost["passage_id"] for lost in facts["not_carried"]] == ["2"]
    made = load_dataset(tmp_path / "cut")
    assert made.qrels == {"q": {"d-0-9": 2, "d-9-19": 2}}
    assert made.corpus["d-0-9"].full_text == "T\none two\r\n"


def test_two_documents_of_one_id_are_refused(tmp_path: Path) -> None:
    """The message names both lines."""
    documents = tmp_path / "documents.jsonl"
    documents.write_text('{"_id": "d", "text": "a"}\n{"_id": "d", "text": "b"}\n')
    result = _chunk("sample", tmp_path / "cut", "--documents", documents)

    assert "line 2: the _id 'd' occurs in line 1 already" in str(result.exception)


@pytest.mark.parametrize("document", ["d", "elsewhere"])
def test_the_loss_of_all_judgements_is_reported(tmp_path: Path, document: str) -> None:
    """Unknown document ids are an error with examples; unknown texts are a warning."""
    data, documents = tmp_path / "set", tmp_path / "documents.jsonl"
    data.mkdir()
    (data / "queries.jsonl").write_text('{"_id": "q", "text": "?"}\n')
    (data / "corpus.jsonl").write_text('{"_id": "1", "text": "two", "document": "d"}\n')
    (data / "qrels.tsv").write_text("q\t1\t2\n")
    documents.write_text(json.dumps({"_id": document, "text": "seven eight"}))
    result = _chunk(data, tmp_path / "cut", "--chunker", "words(2)", "--documents", documents)

    if document == "d":
        assert "WARNING: no judgement was transferred" in result.output
    else:
        assert "passages are from 'd', the documents are 'elsewhere'" in str(result.exception)
        assert not (tmp_path / "cut").exists()


def test_documents_alone_are_cut_without_queries(tmp_path: Path) -> None:
    """A folder with only corpus.jsonl is cut, and the result can be cut again."""
    data = tmp_path / "texts"
    data.mkdir()
    (data / "corpus.jsonl").write_text('{"_id": "d", "text": "one two three four"}\n')

    assert _chunk(data, tmp_path / "cut", "--chunker", "words(2)").exit_code == 0
    again = _chunk(tmp_path / "cut", tmp_path / "whole", "--chunker", "whole")

    rows = [json.loads(r) for r in (tmp_path / "cut" / "corpus.jsonl").read_text().splitlines()]
    assert [row["text"] for row in rows] == ["one two ", "three four"]
    assert "1 documents, 1 passages" in again.output
    assert not (tmp_path / "cut" / "queries.jsonl").exists()


def test_workers_write_the_same_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files are those of one process; a wrong name costs nothing."""
    monkeypatch.setattr(limits, "CUT_BLOCK_CHARACTERS", 5000)
    plain, sent, wrong = (tmp_path / name for name in ("plain", "sent", "wrong"))
    assert _chunk("sample", plain, "--chunker", "words(20)").exit_code == 0
    workers = ("--executor", "processes(2)")
    assert _chunk("sample", sent, "--chunker", "words(20)", *workers).exit_code == 0
    for path in plain.iterdir():
        assert (sent / path.name).read_bytes() == path.read_bytes()
    refused = _chunk("sample", wrong, "--executor", "proceses(2)")
    assert "did you mean 'processes'?" in str(refused.exception)
    assert not wrong.exists()
