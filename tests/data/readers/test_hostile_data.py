"""Inputs of `make fuzz` that once ended in a traceback, a hang, a long message or a gigabyte."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragstone.core import limits
from ragstone.data.dataset import Dataset
from ragstone.data.load import load_dataset
from ragstone.data.readers.qrels import Known, numbered_judgements, read_qrels
from ragstone.data.readers.run_columns import qrel_columns
from ragstone.data.readers.scores import read_scores
from ragstone.data.readers.trec import read_run, read_subtopics
from ragstone.errors import ConfigError, DatasetError

LONG = "x" * 3000
USER = {"speaker": "user", "text": "Who?"}
AGENT = {"speaker": "agent", "text": "Ada."}
TASK = {"task_id": "c<::>1", "turn": 1, "input": [USER]}


def refused(read: Callable[[], object], *parts: str) -> None:
    """Check that an input is refused with a short message that has these parts."""
    with pytest.raises((ConfigError, DatasetError)) as found:
        read()
    message = str(found.value)
    assert len(message) <= 1000
    for part in parts:
        assert part in message


def mtrag(path: Path) -> Dataset:
    """Read a file of mtRAG."""
    return load_dataset({"name": "mtrag", "path": str(path)})


@pytest.mark.parametrize(
    "grade", ["9" * 19, "-" + "9" * 40, "9" * 5000, "٣", "²", "1_0", "--1", "1e3"]
)
def test_a_grade_has_64_bits_and_ascii_digits(grade: str, tmp_path: Path) -> None:
    """By lines, by columns, with subtopics and from a program."""
    path = tmp_path / "qrels.tsv"
    path.write_text(f"q\tp\t1\nq\tp2\t{grade}\n")
    for read in (qrel_columns, lambda one: read_qrels(one, Known(None, None), dangling="error")):
        refused(lambda read=read: read(path), "qrels.tsv, line 2", "whole number")  # type: ignore[misc]
    path.write_text(f"q 1 p 1\nq 2 p2 {grade}\n")
    refused(lambda: read_subtopics(path), "qrels.tsv, line 2", "whole number")
    with pytest.raises(DatasetError, match="row 1"):
        list(numbered_judgements([("q", "p", 10**30)]))


def test_a_grade_of_18_digits_is_read(tmp_path: Path) -> None:
    """Signs and blanks around a grade are read as before."""
    path = tmp_path / "qrels.tsv"
    path.write_text(f"q\tp\t{'9' * 18}\nq\tp2\t-1\nq\tp3\t +2 \n")
    found = {"q": {"p": 10**18 - 1, "p2": -1, "p3": 2}}
    assert {q: dict(grades) for q, grades in qrel_columns(path).items()} == found


def test_ids_and_values_are_short_in_messages(tmp_path: Path) -> None:
    """A value of any length is in its file; the message has its start."""
    data = tmp_path / "data"
    data.mkdir()
    (data / "queries.jsonl").write_text(json.dumps({"_id": "q", "text": "Who?"}))
    (data / "qrels.tsv").write_text(f"{LONG}\tp\t1\n")
    refused(lambda: load_dataset(data), "qrels.tsv", "'xxxx")
    run = tmp_path / "run.trec"
    run.write_text(f"q Q0 p 1 {LONG} x\n")
    refused(lambda: read_run(run), "run.trec, line 1", "finite number")
    run.write_text(f"{LONG} Q0 {LONG} 1 1 x\n" * 2)
    refused(lambda: read_run(run), "run.trec, line 2", "occurs twice")
    scores = tmp_path / "scores.jsonl"
    row = {"query_id": LONG, "metric": "F1", "value": 1, "status": LONG}
    scores.write_text(json.dumps(row))
    refused(lambda: read_scores(scores), "scores.jsonl, line 1", "status")
    row = {f"{LONG}{n}": 1 for n in range(50)}
    (data / "queries.jsonl").write_text(json.dumps(row))
    refused(lambda: load_dataset(data), "queries.jsonl, line 1", "'_id' is missing")


def test_columns_and_paths_are_short_in_messages(tmp_path: Path) -> None:
    """A list of columns has the starts of twenty names; a path may be too long for the system."""
    path = tmp_path / "rows.csv"
    path.write_text(",".join(f"{LONG}{n}" for n in range(50)) + "\n" + "," * 49 + "1\n")
    refused(lambda: load_dataset(path), "rows.csv", "x" * limits.MAX_NAME_CHARACTERS + ",")
    refused(lambda: load_dataset(LONG), "no data set 'xxxx")


@pytest.mark.parametrize(
    "changed",
    [
        {"contexts": 1.5}, {"contexts": ["p1"]}, {"contexts": [{"document_id": 1}]},
        {"qrels": 1}, {"qrels": [1]}, {"targets": 7}, {"targets": [None]}, {"enrichments": ["a"]},
        {"labels": [1]}, {"collection": {"a": 1}}, {"domain": [1], "retriever": 1},
        {"task_id": "c<::>²"}, {"task_id": "c<::>" + "9" * 5000}, {"task_id": "c\t<::>1"},
        {"task_id": None}, {"input": {"speaker": "user"}}, {"input": [1]},
    ],
)  # fmt: skip
def test_fields_of_a_task_have_their_types(changed: dict[str, Any], tmp_path: Path) -> None:
    """A field of another type is an error with file and line, not a traceback."""
    path = tmp_path / "tasks.jsonl"
    path.write_text(json.dumps(TASK | changed))
    refused(lambda: mtrag(path), "tasks.jsonl, line 1")


@pytest.mark.parametrize(
    "changed",
    [
        {"contexts": [{"document_id": "p", "feedback": 1}]},
        {"contexts": [{"document_id": "p", "feedback": {"relevant": [1]}}]},
        {"contexts": [{"document_id": "p", "feedback": {"relevant": {"a": 1}}}]},
        {"contexts": [{"document_id": "p", "feedback": {"relevant": {"a": {"timestamp": [1]}}}}]},
        {"contexts": {"document_id": "p"}},
        {"answers": [1]},
    ],
)
def test_fields_of_a_conversation_have_their_types(changed: dict[str, Any], tmp_path: Path) -> None:
    """The votes of annotators are objects within objects."""
    path = tmp_path / "talks.jsonl"
    path.write_text(json.dumps({"id": "c", "messages": [USER, AGENT | changed]}))
    refused(lambda: mtrag(path), "talks.jsonl, line 1", "'c'")


def test_the_last_vote_counts_whatever_the_form_of_its_time(tmp_path: Path) -> None:
    """Numbers and texts are not compared with each other."""
    votes = [{"value": "no", "timestamp": 5}, {"value": "yes", "timestamp": "2026-01-01"}]
    shown = {"document_id": "p", "text": "x", "feedback": {"relevant": dict(enumerate(votes))}}
    path = tmp_path / "talks.jsonl"
    path.write_text(json.dumps({"id": 7, "messages": [USER, AGENT | {"contexts": [shown]}]}))
    assert mtrag(path).qrels == {"7<::>1": {"p": 1}}


def test_nan_is_null_outside_texts_alone(tmp_path: Path) -> None:
    """Also with a number beyond 64 bits and a lone surrogate, which `json` would let pass."""
    path = tmp_path / "tasks.jsonl"
    row = json.dumps(TASK | {"note": 'NaN "NaN" -Infinity', "x": float("nan"), "y": -float("inf")})
    path.write_text(row)
    (query,) = mtrag(path).queries
    assert query.labels["note"] == 'NaN "NaN" -Infinity'
    assert not {"x", "y"} & query.labels.keys()
    path.write_text(row.replace("Who?", r"\ud800"))
    refused(lambda: mtrag(path), "tasks.jsonl, line 1", "not valid JSON")


def test_a_small_gzip_file_is_not_unpacked_to_gigabytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither as lines nor as a whole; text of the usual kind is read."""
    monkeypatch.setattr(limits, "UNPACKED_BYTES", 2**18)
    row = json.dumps({"_id": "q", "text": "Who?"}).encode()
    for name, filler in (("queries.jsonl.gz", b"\n"), ("dev.json.gz", b" ")):
        folder = tmp_path / name.partition(".")[0]
        folder.mkdir()
        (folder / name).write_bytes(gzip.compress(row + filler * 2**23))
        read = folder if "queries" in name else folder / name
        refused(lambda read=read: load_dataset(read), name, "200 times", "plain file")  # type: ignore[misc]
    rows = [{"_id": f"q{n}", "text": f"Which river is number {n}?"} for n in range(9000)]
    text = b"\n".join(json.dumps(one).encode() for one in rows)
    assert len(text) > limits.UNPACKED_BYTES
    (tmp_path / "queries" / "queries.jsonl.gz").write_bytes(gzip.compress(text))
    assert len(load_dataset(tmp_path / "queries").query_table) == 9000


def test_a_split_that_judges_no_query_is_refused(tmp_path: Path) -> None:
    """A data set without a query would be written as a folder that cannot be read."""
    (tmp_path / "queries.jsonl").write_text(json.dumps({"_id": "q", "text": "Who?"}))
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n")
    refused(lambda: load_dataset(tmp_path), tmp_path.name, "judge no query")


@pytest.mark.parametrize("name", ["queries.jsonl", "corpus.jsonl", "qrels.tsv", "rows.parquet"])
def test_what_is_no_file_is_named_and_not_read(name: str, tmp_path: Path) -> None:
    """A pipe would wait for its writer, and a device has no end."""
    (tmp_path / "queries.jsonl").write_text(json.dumps({"_id": "q", "text": "Who?"}))
    path = tmp_path / name
    makes: tuple[Callable[[], None], ...] = (
        lambda: os.mkfifo(path),
        lambda: path.symlink_to("/dev/zero"),
        lambda: path.symlink_to("nowhere"),
        lambda: path.symlink_to(name),
    )
    for make in makes:
        path.unlink(missing_ok=True)
        make()
        refused(lambda: load_dataset(path if "parquet" in name else tmp_path), name)


def test_a_name_with_a_tilde_that_is_no_home_is_looked_for(tmp_path: Path) -> None:
    """Python has an error of its own for the home of a user who does not exist."""
    refused(lambda: load_dataset("~no-such-user-1/data", folder=tmp_path), "~no-such-user-1/data")


def test_several_byte_order_marks_are_no_part_of_an_id(tmp_path: Path) -> None:
    """Tools that join files add a mark each; none of them belongs to the first query."""
    run = tmp_path / "run"
    run.write_bytes(b"\xef\xbb\xbf" * 3 + b"q1 Q0 p1 1 0.5 a\n")
    assert list(read_run(run)) == ["q1"]
