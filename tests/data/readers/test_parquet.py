"""Parquet data sets: the same as their JSON lines, and a clear word for whatever is wrong."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from arro3.core import Array, DataType, Field, RecordBatch, Table
from arro3.io import write_parquet

from ragstone.core import limits
from ragstone.core.fingerprint import digest_table
from ragstone.data.dataset import Dataset
from ragstone.data.load import load_dataset
from ragstone.data.readers.parquet import ParquetReader
from ragstone.errors import ConfigError, DatasetError

TEXT, WHOLE = DataType.string(), DataType.int64()
TEXTS = DataType.list(Field("item", TEXT, nullable=True))

Columns = Mapping[str, tuple[Sequence[Any], DataType]]


def _write(path: Path, columns: Columns, **options: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    arrays: dict[str, Any] = {
        name: Array(list(values), type=kind) for name, (values, kind) in columns.items()
    }
    write_parquet(Table.from_batches([RecordBatch.from_pydict(arrays)]), str(path), **options)


def _folder(
    folder: Path,
    corpus: Columns | None = None,
    queries: Columns | None = None,
    qrels: Columns | None = None,
) -> Path:
    """Write a small data set, with the given tables in place of its own."""
    _write(
        folder / "corpus.parquet",
        corpus or {"_id": (["p1", "p2", "p3"], TEXT), "text": (["one", "two", "three"], TEXT)},
    )
    _write(
        folder / "queries.parquet",
        queries or {"_id": (["q1", "q2"], TEXT), "text": (["first?", "third?"], TEXT)},
    )
    _write(
        folder / "qrels.parquet",
        qrels
        or {
            "query-id": (["q1", "q2"], TEXT),
            "corpus-id": (["p1", "p3"], TEXT),
            "score": ([1, 2], WHOLE),
        },
    )
    return folder


def _read(folder: Path, **parameters: Any) -> Dataset:
    return ParquetReader(folder, **parameters).read()


def test_equals_json_lines(tmp_path: Path) -> None:
    """The same tables, to the byte: rankings and embeddings kept for one are found by the other."""
    plain, parquet = tmp_path / "plain", tmp_path / "parquet"
    plain.mkdir()
    (plain / "corpus.jsonl").write_text(
        '{"_id": "p1", "title": "T", "text": "one"}\n{"_id": "p2", "title": null, "text": ""}\n'
    )
    (plain / "queries.jsonl").write_text('{"_id": "7", "text": "who?", "answers": ["a"], "n": 3}\n')
    (plain / "qrels.tsv").write_text("7\tp1\t2\n7\tp2\t0\n")
    _folder(
        parquet,
        {"_id": (["p1", "p2"], TEXT), "title": (["T", None], TEXT), "text": (["one", ""], TEXT)},
        {"_id": ([7], WHOLE), "text": (["who?"], TEXT), "n": ([3], WHOLE)},
        {"query-id": ([7, 7], WHOLE), "corpus-id": (["p1", "p2"], TEXT), "score": ([2, 0], WHOLE)},
    )
    _write_answers(parquet / "queries.parquet")
    found, expected = load_dataset(parquet), load_dataset(plain)
    assert digest_table(found.corpus.table) == digest_table(expected.corpus.table)
    assert digest_table(found.query_table) == digest_table(expected.query_table)
    assert digest_table(found.qrel_table) == digest_table(expected.qrel_table)
    assert found.queries[0].labels == {"n": 3}


def _write_answers(path: Path) -> None:
    from ragstone.core.schemas import _array

    table = Table.from_arrays(
        [
            Array([7], type=WHOLE),
            Array(["who?"], type=TEXT),
            _array([("a",)], TEXTS),
            Array([3], type=WHOLE),
        ],
        names=["_id", "text", "answers", "n"],
    )
    write_parquet(table, str(path))


def test_columns_are_mapped(tmp_path: Path) -> None:
    """Whatever they are called; further columns of the corpus are labels on request."""
    folder = _folder(
        tmp_path,
        {
            "docno": ([10, 11], DataType.int32()),
            "body": (["one", "two"], DataType.large_string()),
            "url": (["u1", None], TEXT),
            "size": ([1.5, None], DataType.float64()),
        },
        {"topic": (["q"], TEXT), "words": (["who?"], TEXT)},
        {"topic": (["q"], TEXT), "docno": ([11], WHOLE), "rel": ([1.0], DataType.float64())},
    )
    dataset = _read(
        folder,
        corpus_columns={"passage_id": "docno", "text": "body"},
        query_columns={"query_id": "topic", "text": "words"},
        qrel_columns={"query_id": "topic", "passage_id": "docno", "relevance": "rel"},
        labels=("url", "size"),
    )
    assert [(p.passage_id, p.text) for p in dataset.corpus] == [("10", "one"), ("11", "two")]
    assert dict(dataset.corpus["10"].labels) == {"url": "u1", "size": 1.5}
    assert dataset.qrels == {"q": {"11": 1}}


def test_shards_are_in_the_order_of_their_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Row groups and batches make no difference; qrels of one split keep its queries alone."""
    monkeypatch.setattr(limits, "PARQUET_BATCH_ROWS", 3)
    folder = _folder(tmp_path)
    (folder / "corpus.parquet").unlink()
    (folder / "qrels.parquet").unlink()
    for shard in range(2):
        ids = [f"p{shard}{n}" for n in range(7)]
        _write(
            folder / f"corpus/test-0000{shard}-of-00002.parquet",
            {"_id": (ids, TEXT), "text": ([f"text {i}" for i in ids], TEXT)},
            max_row_group_size=4,
        )
    (folder / "qrels").mkdir()
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq2\tp16\t1\n")
    dataset = load_dataset(folder)
    assert dataset.corpus.passage_ids == [f"p{shard}{n}" for shard in range(2) for n in range(7)]
    assert dataset.corpus["p16"].text == "text p16"
    assert [q.query_id for q in dataset.queries] == ["q2"]


def test_a_limit_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The first passages, the queries judged among them, and a name with the limit."""
    with caplog.at_level(logging.WARNING):
        dataset = _read(_folder(tmp_path / "fruit"), limit=2)
    assert dataset.name == "fruit, first 2 passages"
    assert dataset.corpus.passage_ids == ["p1", "p2"]
    assert dataset.qrels == {"q1": {"p1": 1}}
    assert [query.query_id for query in dataset.queries] == ["q1"]
    assert "1 judgements name passages beyond the limit" in caplog.text
    whole = _read(tmp_path / "fruit", limit=3)
    assert (whole.name, len(whole.corpus), len(whole.queries)) == ("fruit", 3, 2)


def _corpus_of(ids: Sequence[Any], texts: Sequence[Any], kind: DataType = TEXT) -> Columns:
    return {"_id": (ids, kind), "text": (texts, TEXT)}


@pytest.mark.parametrize(
    ("corpus", "message"),
    [
        ({"_id": (["p"], TEXT), "txt": (["t"], TEXT)}, r"no column 'text' or .*did you mean 'txt'"),
        (
            {"key": (["p"], TEXT), "text": (["t"], TEXT)},
            r"for passage_id; it has: key, text; .*corpus_columns",
        ),
        (_corpus_of(["p", None], ["t", "u"]), r"corpus\.parquet, row 2: the column '_id' is null"),
        (_corpus_of(["p", "p2"], ["t", None]), r"row 2: the column 'text' is null"),
        (_corpus_of(["p", "p2", "p"], ["t"] * 3), r"row 3: the id 'p' occurs in an earlier row"),
        (_corpus_of(["p", " "], ["t"] * 2), r"row 2: .*not empty, found ' '"),
        (_corpus_of(["p", "a\tb"], ["t"] * 2), r"row 2: .*without tabs"),
        (_corpus_of([1.5], ["t"], DataType.float64()), r"text or whole numbers, found"),
    ],
)
def test_errors_of_a_corpus(tmp_path: Path, corpus: Columns, message: str) -> None:
    """The error names file, row and column, and the nearest column if one is missing."""
    with pytest.raises(DatasetError, match=message):
        _read(_folder(tmp_path, corpus))


def test_a_nested_column_is_not_text(tmp_path: Path) -> None:
    """A list of paragraphs is not joined in silence."""
    folder = _folder(tmp_path)
    from ragstone.core.schemas import _array

    table = Table.from_arrays(
        [Array(["p"], type=TEXT), _array([("a", "b")], TEXTS)], names=["_id", "text"]
    )
    write_parquet(table, str(folder / "corpus.parquet"))
    with pytest.raises(DatasetError, match=r"column 'text' must contain text, found .*List"):
        _read(folder)


def test_an_id_in_two_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second is an error, in the same batch or in a later one."""
    monkeypatch.setattr(limits, "PARQUET_BATCH_ROWS", 2)
    folder = _folder(tmp_path, _corpus_of(["a", "b", "c", "a"], ["t"] * 4))
    with pytest.raises(DatasetError, match=r"row 4: the id 'a' occurs in an earlier row"):
        _read(folder)


@pytest.mark.parametrize(
    ("queries", "message"),
    [
        ({"_id": (["q", "q"], TEXT), "text": (["a?", "b?"], TEXT)}, r"row 2: .*row 1 already"),
        ({"_id": (["q"], TEXT), "text": ([None], TEXT)}, r"row 1: the field 'text' is missing"),
        ({"_id": (["q"], TEXT), "text": ([" "], TEXT)}, r"row 1: the field 'text' is empty"),
        (
            {"_id": (["q"], TEXT), "text": (["a"], TEXT), "img": ([b"x"], DataType.binary())},
            r"row 1: .*img.*label",
        ),
    ],
)
def test_errors_of_queries(tmp_path: Path, queries: Columns, message: str) -> None:
    """As in JSON lines, with rows instead of lines."""
    with pytest.raises(DatasetError, match=message):
        _read(_folder(tmp_path, queries=queries))


@pytest.mark.parametrize(
    ("query", "passage", "grade", "message"),
    [
        ("q9", "p1", 1, r"name queries that do not exist: 'q9' \(row 1\)"),
        ("q1", "p9", 1, r"name passages that do not exist: 'p9' \(row 1\)"),
        ("q1", None, 1, r"row 1: ids must be text"),
        ("q1", "p1", None, r"row 1: the relevance must be a whole number .*None"),
        ("q1", "p1", 0.5, r"row 1: the relevance must be a whole number .*0\.5"),
        ("q1", "p1", float("nan"), r"row 1: the relevance must be a whole number"),
        ("q1", "p1", float("inf"), r"row 1: the relevance must be a whole number"),
    ],
)
def test_errors_of_qrels(
    tmp_path: Path, query: str, passage: str | None, grade: float | None, message: str
) -> None:
    """Ids must be there, grades whole."""
    folder = _folder(
        tmp_path,
        qrels={
            "query-id": ([query], TEXT),
            "corpus-id": ([passage], TEXT),
            "score": ([grade], DataType.float64()),
        },
    )
    with pytest.raises(DatasetError, match=message):
        _read(folder)


def test_a_damaged_file_is_an_error(tmp_path: Path) -> None:
    """Cut off, or changed in the middle: an error with the name, and no panic."""
    folder = _folder(tmp_path)
    content = (folder / "corpus.parquet").read_bytes()
    (folder / "corpus.parquet").write_bytes(content[:-9])
    with pytest.raises(DatasetError, match=r"corpus\.parquet is not a complete Parquet file"):
        _read(folder)
    (folder / "corpus.parquet").write_bytes(
        content[:40] + b"\xff" * (len(content) - 80) + content[-40:]
    )
    with pytest.raises(DatasetError, match=r"corpus\.parquet is not a complete Parquet file"):
        _read(folder)


def test_mistyped_parameters_are_errors(tmp_path: Path) -> None:
    """Fields, patterns, splits and labels: each names the nearest, or what there is."""
    folder = _folder(tmp_path)
    with pytest.raises(ConfigError, match=r"unknown field 'txt'; did you mean 'text'"):
        ParquetReader(folder, corpus_columns={"txt": "body"})
    with pytest.raises(ConfigError, match="limit must be 0"):
        ParquetReader(folder, limit=-1)
    with pytest.raises(DatasetError, match=r"corpus: 'corpse\*'; did you mean 'corpus\.parquet'"):
        _read(folder, corpus="corpse*")
    with pytest.raises(DatasetError, match=r"no column 'urls' for labels"):
        _read(folder, labels=("urls",))
    with pytest.raises(DatasetError, match=r"no column 'txet' for text; did you mean 'text'"):
        _read(folder, corpus_columns={"text": "txet"})
    (folder / "qrels.parquet").rename(folder / "judged.parquet")
    (folder / "qrels").mkdir()
    (folder / "judged.parquet").rename(folder / "qrels" / "dev.parquet")
    with pytest.raises(DatasetError, match=r"no qrels of the split 'test'.*qrels/dev\.parquet"):
        _read(folder)
    assert len(_read(folder, split="dev").qrels) == 2
    (folder / "queries.parquet").unlink()
    with pytest.raises(DatasetError, match="no Parquet file of queries"):
        _read(folder)
    with pytest.raises(DatasetError, match="is not a folder"):
        _read(folder / "corpus.parquet")


def test_nan_and_infinity_are_no_labels(tmp_path: Path) -> None:
    """Tools write NaN for an absent number; a label has no such value."""
    queries: Columns = {
        "_id": (["q1", "q2", "q3"], TEXT),
        "text": (["One?", "Two?", "Three?"], TEXT),
        "weight": ([float("nan"), 0.5, float("inf")], DataType.float64()),
    }
    _write(tmp_path / "queries.parquet", queries)
    found = load_dataset({"name": "parquet", "path": str(tmp_path)})
    assert [dict(query.labels) for query in found.queries] == [{}, {"weight": 0.5}, {}]
