"""Ragstone's own layout and BEIR's: files that are read, and errors of malformed ones."""

from __future__ import annotations

import gzip
import json
import logging
from collections.abc import Mapping
from pathlib import Path

import pytest

from ragstone.data.dataset import Dataset
from ragstone.data.load import load_dataset
from ragstone.data.readers.folder import FolderReader
from ragstone.errors import DatasetError
from ragstone.types import Message, Passage, Query

CORPUS = '{"_id": "p1", "text": "one"}\n{"_id": "p2", "text": "two"}\n'
QUERIES = '{"_id": "q1", "text": "first?"}\n{"_id": "q2", "text": "second?"}\n'
QRELS = "query-id\tcorpus-id\tscore\nq1\tp1\t1\nq2\tp2\t2\n"
GOOD = {"corpus.jsonl": CORPUS, "queries.jsonl": QUERIES, "qrels.tsv": QRELS}


def write(folder: Path, files: Mapping[str, str | bytes | None]) -> Path:
    """Write files into a folder; None leaves a file out."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if content is not None:
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def read(folder: Path, **files: str | bytes | None) -> Dataset:
    """Read a set made of GOOD and some files in place of its own (`queries` for queries.jsonl)."""
    names = {name.split(".")[0]: name for name in (*GOOD, "conversations.jsonl")}
    return FolderReader(
        write(folder, {**GOOD, **{names[key]: value for key, value in files.items()}})
    ).read()


def error_of(folder: Path, **files: str | bytes | None) -> str:
    """Return the message with which such a set is refused."""
    with pytest.raises(DatasetError) as caught:
        read(folder, **files)
    assert caught.value.exit_code == 2
    return str(caught.value)


def test_every_field_arrives(tmp_path: Path) -> None:
    """Known fields become fields and everything else a label, in gzipped files too."""
    row = {
        "_id": "p1",
        "title": "T",
        "text": "x",
        "document": "d",
        "year": 1999,
        "tags": ["a", "b"],
    }
    history = [{"role": "user", "text": "hi"}, {"role": "assistant", "text": "hello"}]
    query = {"_id": "q", "text": "y?", "answers": ["a", "b"], "rewrite": "z?", "history": history}
    labels = {"easy": True, "score": 0.5, "kind": "short", "source": {"url": "u"}, "none": None}
    write(tmp_path, {"corpus.jsonl.gz": gzip.compress(json.dumps(row).encode())})
    write(tmp_path, {"queries.jsonl.gz": gzip.compress(json.dumps({**query, **labels}).encode())})
    dataset = FolderReader(tmp_path).read()
    assert list(dataset.corpus) == [
        Passage("p1", "x", "T", "d", {"year": 1999, "tags": ("a", "b")}),
    ]
    assert dataset.queries == [
        Query(
            "q",
            "y?",
            ("a", "b"),
            (Message("user", "hi"), Message("agent", "hello")),
            "z?",
            {"easy": True, "score": 0.5, "kind": "short", "source": '{"url":"u"}'},
        )
    ]
    assert dataset.qrels == {}
    assert dataset.name == tmp_path.name


def test_one_answer_may_be_given_without_a_list(tmp_path: Path) -> None:
    """`answers` may be one text."""
    dataset = read(tmp_path, queries='{"_id": "q1", "text": "a?", "answers": "b"}', qrels=None)
    assert dataset.queries[0].gold_answers == ("b",)


def test_a_windows_file_is_read(tmp_path: Path) -> None:
    """A byte order mark, carriage returns and blank lines are no part of the data."""
    text = ("\ufeff" + QUERIES.replace("\n", "\r\n\r\n")).encode()
    dataset = read(tmp_path, queries=text, qrels=("\ufeff" + QRELS.replace("\n", "\r\n")).encode())
    assert [query.text for query in dataset.queries] == ["first?", "second?"]
    assert dataset.qrels == {"q1": {"p1": 1}, "q2": {"p2": 2}}


def test_turns_are_queries_with_their_history(tmp_path: Path) -> None:
    """Turn n is the query <conversation>::<n>; gold answers fall back on the agent's words."""
    turns = [
        {"user": "A?", "agent": "a", "kind": "open"},
        {"user": "B?", "answers": [], "domain": "other"},
        {"user": "C?", "agent": "c", "answers": ["c1", "c2"], "rewrite": "C of A?"},
        {"user": "D?", "answers": None},
    ]
    conversation = {"_id": "c", "domain": "law", "turns": turns}
    dataset = read(tmp_path, conversations=json.dumps(conversation))
    found = {query.query_id: query for query in dataset.queries}
    assert list(found) == ["q1", "q2", "c::1", "c::2", "c::3", "c::4"]
    assert [found[f"c::{n}"].gold_answers for n in (1, 2, 3, 4)] == [("a",), (), ("c1", "c2"), ()]
    assert [(m.role, m.text) for m in found["c::4"].history] == [
        ("user", "A?"),
        ("agent", "a"),
        ("user", "B?"),
        ("user", "C?"),
        ("agent", "c"),
    ]
    place = {"conversation": "c", "turn": 1}
    assert found["c::1"].labels == {**place, "domain": "law", "kind": "open"}
    assert found["c::2"].labels == {**place, "turn": 2, "domain": "other"}
    assert found["c::3"].rewrite == "C of A?"


def test_beir_is_a_subset(tmp_path: Path) -> None:
    """A split's qrels choose its queries, and `metadata` is flattened into labels."""
    queries = (
        '{"_id": "q1", "text": "a?", "metadata": {}}\n'
        '{"_id": "q2", "text": "b?", "metadata": {"url": "u", "text": "t"}}'
    )
    write(
        tmp_path,
        {
            "corpus.jsonl": CORPUS,
            "queries.jsonl": queries,
            "qrels/test.tsv": "query-id\tcorpus-id\tscore\nq2\tp1\t1\n",
            "qrels/train.tsv": "query-id\tcorpus-id\tscore\nq1\tp2\t1\n",
        },
    )
    test, train = FolderReader(tmp_path).read(), FolderReader(tmp_path, split="train").read()
    assert [query.query_id for query in test.queries] == ["q2"]
    assert test.queries[0].labels == {"url": "u", "text": "t"}
    assert [query.query_id for query in train.queries] == ["q1"]
    with pytest.raises(DatasetError, match=r"no dev\.tsv; set `split` to one of: test, train"):
        FolderReader(tmp_path, split="dev").read()


def test_trec_qrels_are_read(tmp_path: Path) -> None:
    """Four columns between blanks, without a header, are TREC's."""
    dataset = read(tmp_path, qrels="q1 0 p1 1\nq1 0 p2 0\nq2 0 p2 -1\n")
    assert dataset.qrels == {"q1": {"p1": 1, "p2": 0}, "q2": {"p2": -1}}


def test_corpus_and_qrels_are_optional(tmp_path: Path) -> None:
    """Queries alone are a data set; without a corpus, qrels are checked for queries only."""
    alone = read(tmp_path / "a", corpus=None, qrels=None)
    assert (len(alone.corpus), alone.qrels) == (0, {})
    assert read(tmp_path / "b", corpus=None).qrels == {"q1": {"p1": 1}, "q2": {"p2": 2}}


def test_a_pair_judged_twice_alike_counts_once(tmp_path: Path) -> None:
    """The same judgement again is harmless; another grade is an error naming both lines."""
    assert read(tmp_path, qrels="q1\tp1\t1\nq1\tp1\t1\n").qrel_table.num_rows == 1
    message = error_of(tmp_path, qrels="q1\tp1\t1\nq1\tp1\t2\n")
    assert "qrels.tsv, line 2" in message
    assert "have grade 2, and 1 in line 1" in message


def test_dangling_qrels_are_listed_counted_and_may_be_dropped(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """By default an error with a remedy; `drop` leaves them out and logs their number."""
    lines = "".join(f"q1\tx{n}\t1\n" for n in range(7)) + "q9\tp1\t1\nq1\tp1\t1\n"
    message = error_of(tmp_path, qrels=lines)
    assert "of 9 judgements 1 name queries that do not exist: 'q9' (line 8)" in message
    assert "7 name passages that do not exist: 'x0' (line 1), " in message
    assert "'x4' (line 5) and 2 more" in message
    assert "dangling_qrels: drop" in message
    with caplog.at_level(logging.WARNING):
        kept = FolderReader(tmp_path, dangling_qrels="drop").read()
    assert kept.qrels == {"q1": {"p1": 1}}
    assert "7 name passages" in caplog.text


BAD: list[tuple[str, str | bytes | None, str]] = [
    ("corpus", '{"_id": "p1", "text": "a"}\n{"_id": ', "corpus.jsonl, line 2: not valid JSON"),
    ("queries", '["q1"]\n', "queries.jsonl, line 1: expected a JSON object, found ['q1']"),
    (
        "corpus",
        b'{"_id": "p", "text": "caf\xe9"}',
        "line 1: not UTF-8 at byte 26 of the line (0xe9",
    ),
    ("qrels", b"q1\tp1\t1\nq\xe9\tp1\t1\n", "qrels.tsv, line 2: not UTF-8 at byte 2"),
    ("corpus", "\n", "corpus.jsonl contains no passage"),
    ("queries", "", "queries.jsonl is empty"),
    ("queries", None, "contains neither queries.jsonl nor conversations.jsonl"),
    ("corpus", CORPUS + '\n{"_id": "p1", "text": ""}', "line 4: the _id 'p1' occurs in line 1"),
    (
        "queries",
        QUERIES + '{"_id": "q2", "text": "x"}',
        "line 3: the query id 'q2' occurs in queries.jsonl, line 2",
    ),
    ("queries", '{"_id": 7, "text": "x"}', "'_id' must be text, found 7; write it as \"7\""),
    ("queries", '{"_id": "a\\tb", "text": "x"}', "without tabs and not empty, found 'a\\tb'"),
    ("corpus", '{"id": "p1", "text": ""}', "'_id' is missing; the other fields are 'id', 'text'"),
    ("corpus", '{"_id": "p1"}', "line 1: the field 'text' is missing"),
    ("corpus", '{"_id": "p1", "text": ["x"]}', "the field 'text' must be text, found ['x']"),
    ("queries", '{"_id": "q1", "text": " "}', "line 1: the field 'text' is empty, found ' '"),
    ("queries", '{"_id": "q", "text": "x", "answers": 3}', "must be a list of texts, found 3"),
    ("queries", '{"_id": "q", "text": "x", "answers": [3]}', "must contain texts only, found 3"),
    ("queries", '{"_id": "q", "text": "x", "history": "y"}', "must be a list, found 'y'"),
    (
        "queries",
        '{"_id": "q", "text": "x", "history": [{"role": "system", "text": "y"}]}',
        "'history' must contain objects with a text and the role 'user', 'agent' or 'assistant'",
    ),
    ("conversations", '{"_id": "c", "turns": []}', "'turns' must list at least one turn"),
    (
        "conversations",
        '{"_id": "c", "turns": [{"user": "a"}, {"user": ""}]}',
        "line 1: turn 2: the field 'user' is empty",
    ),
    ("conversations", '{"_id": "c", "turns": ["a"]}', "turn 1: expected a JSON object, found 'a'"),
    (
        "conversations",
        '{"_id": "c", "turns": [{"user": "a", "turn": 7}]}',
        "the label 'turn' must be 1, found 7; rename the field",
    ),
    (
        "conversations",
        '{"_id": "c", "turns": [{"user": "a"}]}\n{"_id": "c", "turns": [{"user": "a"}]}',
        "line 2: the query id 'c::1' occurs in conversations.jsonl, line 1",
    ),
    ("qrels", "q1\tp1\t1\nq2\tp2\t0.5\n", "line 2: the score must be a whole number such as 0, 1"),
    ("qrels", "q1\tp1\n", "qrels.tsv, line 1: expected query id, passage id and score"),
    ("qrels", "q1\tp1\t1\nq1\t0\tp2\t1\n", "line 2: expected query id, passage id and score"),
    ("qrels", "\tp1\t1\n", "qrels.tsv, line 1: expected query id"),
]


@pytest.mark.parametrize(("file", "content", "expected"), BAD, ids=[case[2] for case in BAD])
def test_bad_input_is_refused_by_file_line_and_value(
    file: str, content: str | bytes | None, expected: str, tmp_path: Path
) -> None:
    """Each error contains the place, the value found and the values allowed."""
    assert expected in error_of(tmp_path, **{file: content})


def test_a_path_that_is_not_a_folder_is_an_error(tmp_path: Path) -> None:
    """A missing folder, or a file instead of one, is an error that names the expected file."""
    for path in (tmp_path / "absent", write(tmp_path, {"file": "x"}) / "file"):
        with pytest.raises(DatasetError, match="is not a folder; it should contain"):
            FolderReader(path).read()


def test_one_file_in_two_forms_is_refused(tmp_path: Path) -> None:
    """corpus.jsonl beside corpus.jsonl.gz, qrels.tsv beside qrels/: which is meant is unknown."""
    write(tmp_path / "a", {**GOOD, "corpus.jsonl.gz": gzip.compress(b"")})
    with pytest.raises(DatasetError, match=r"corpus\.jsonl and corpus\.jsonl\.gz"):
        FolderReader(tmp_path / "a").read()
    write(tmp_path / "b", {**GOOD, "qrels/test.tsv": QRELS})
    with pytest.raises(DatasetError, match=r"qrels\.tsv and the folder qrels; keep one"):
        FolderReader(tmp_path / "b").read()


@pytest.mark.parametrize("content", [b"no gzip", gzip.compress(CORPUS.encode() * 500)[:-20]])
def test_a_broken_gzip_file_is_refused(content: bytes, tmp_path: Path) -> None:
    """A file that is not gzip, and a truncated one, are errors with its name."""
    write(tmp_path, {"queries.jsonl": QUERIES, "corpus.jsonl.gz": content})
    with pytest.raises(DatasetError, match=r"corpus\.jsonl\.gz is not a complete gzip file"):
        FolderReader(tmp_path).read()


def test_more_rows_than_a_batch_stay_in_order(tmp_path: Path) -> None:
    """Rows are collected in batches; ids, order and the digest are those of one piece."""
    lines = "".join(f'{{"_id": "p{n}", "text": "t{n}"}}\n' for n in range(45_000))
    corpus = read(tmp_path, corpus=lines, qrels=None).corpus
    assert corpus.passage_ids == [f"p{n}" for n in range(45_000)]
    assert corpus["p44999"].text == "t44999"
    assert corpus.table.column("text").num_chunks == 1


TREC = {
    "corpus.tsv": "D1\tone\nD2\ttwo\twith a tab\n",
    "queries.tsv": "10\tfirst?\n11\tsecond?\n",
    "qrels.txt": "10 0 D1 1\n11 0 D2 2\n",
}


@pytest.mark.parametrize("packed", [False, True])
def test_trecs_files(tmp_path: Path, packed: bool) -> None:
    """Tables of id and text, plain or gzip, and judgements in four columns."""
    files = {
        f"{name}.gz" if packed else name: gzip.compress(text.encode()) if packed else text
        for name, text in TREC.items()
    }
    dataset = load_dataset(write(tmp_path, files))
    assert [(p.passage_id, p.text) for p in dataset.corpus] == [
        ("D1", "one"),
        ("D2", "two\twith a tab"),
    ]
    assert [(q.query_id, q.text) for q in dataset.queries] == [("10", "first?"), ("11", "second?")]
    assert dataset.qrels == {"10": {"D1": 1}, "11": {"D2": 2}}


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("queries.tsv", "10\tfirst?\n11 second?\n", r"queries\.tsv, line 2: .*a tab and a text"),
        ("queries.tsv", "10\t \n", r"queries\.tsv, line 1: the field 'text' is empty"),
        ("corpus.tsv", "D1\ta\nD2\tb\nD1\tc\n", r"corpus\.tsv, line 3: .*line 1 already"),
        ("corpus.tsv", "\ta\n", r"corpus\.tsv, line 1: the field '_id'"),
    ],
)
def test_errors_of_trecs_files(tmp_path: Path, name: str, text: str, told: str) -> None:
    """File and line are named."""
    with pytest.raises(DatasetError, match=told):
        FolderReader(write(tmp_path, {**TREC, name: text})).read()
