"""MIRAGE's files and its hub copy: the same set whichever way it is kept."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from arro3.io import infer_json_schema, read_json, write_parquet

from ragstone.core.fingerprint import digest_table
from ragstone.data.dataset import Dataset
from ragstone.data.readers.mirage import MirageReader
from ragstone.errors import DatasetError

Rows = list[dict[str, Any]]


def query(number: int) -> dict[str, Any]:
    """Return a row of dataset.json."""
    return {
        "source": "popqa",
        "query_id": f"q{number}",
        "query": f"What is {number}?",
        "doc_name": f"D{number}",
        "answer": ["a", "b"],
        "doc_url": "u",
        "num_doc_labels": 2,
    }


def pool_row(number: int, row: int) -> dict[str, Any]:
    """Return a row of doc_pool.json; rows 2 and 4 of each query support its answer."""
    text = f"text {number}.{row}"
    return {
        "mapped_id": f"q{number}",
        "doc_name": "D",
        "doc_chunk": text,
        "support": int(row in (2, 4)),
    }


QUERIES = [query(n) for n in (1, 2)]
POOL = [pool_row(n, row) for n in (1, 2) for row in range(1, 6)]
ORACLE = {"q1": pool_row(1, 4), "q2": pool_row(2, 2)}


def write(folder: Path, *, dataset: Any = QUERIES, pool: Any = POOL, oracle: Any = ORACLE) -> Path:
    """Write the three files; None leaves one out."""
    folder.mkdir(exist_ok=True)
    for name, content in (("dataset", dataset), ("doc_pool", pool), ("oracle", oracle)):
        if content is not None:
            (folder / f"{name}.json").write_text(json.dumps(content))
    return folder


def hub_rows(*, structs: bool = False) -> Rows:
    """Return the rows of the hub copy; the pool as a struct of lists, or as a list of structs."""
    made = []
    for row in QUERIES:
        own = [member for member in POOL if member["mapped_id"] == row["query_id"]]
        lists = {key: [member[key] for member in own] for key in own[0]}
        pool = own if structs else lists
        made.append({**row, "doc_pool": pool, "oracle": ORACLE[row["query_id"]]})
    return made


def same(one: Dataset, other: Dataset) -> bool:
    """Say whether two sets hold the same rows in the same order."""
    return all(
        digest_table(a) == digest_table(b)
        for a, b in (
            (one.query_table, other.query_table),
            (one.corpus.table, other.corpus.table),
            (one.qrel_table, other.qrel_table),
        )
    )


def test_pool_rows_are_passages_graded_by_support_and_oracle(tmp_path: Path) -> None:
    """Ids contain query and row; the oracle has grade 2, other support 1, the rest 0."""
    dataset = MirageReader(write(tmp_path)).read()
    assert dataset.corpus.passage_ids[:6] == ["q1#1", "q1#2", "q1#3", "q1#4", "q1#5", "q2#1"]
    assert dataset.qrels["q1"] == {"q1#1": 0, "q1#2": 1, "q1#3": 0, "q1#4": 2, "q1#5": 0}
    assert dataset.qrels["q2"] == {"q2#1": 0, "q2#2": 2, "q2#3": 0, "q2#4": 1, "q2#5": 0}
    passage = dataset.corpus["q2#3"]
    assert (passage.text, passage.title, passage.labels) == ("text 2.3", "D", {"mapped_id": "q2"})
    first = dataset.queries[0]
    assert (first.text, first.gold_answers) == ("What is 1?", ("a", "b"))
    assert first.labels == {
        "source": "popqa",
        "doc_name": "D1",
        "doc_url": "u",
        "num_doc_labels": 2,
    }


def test_gzipped_files_and_the_path_of_dataset_json_do_as_well(tmp_path: Path) -> None:
    """Each file may be `.gz`, and the folder may be given by its main file."""
    plain = write(tmp_path / "plain")
    packed = tmp_path / "packed"
    packed.mkdir()
    for path in plain.iterdir():
        (packed / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
    expected = MirageReader(plain).read()
    assert same(MirageReader(packed).read(), expected)
    by_file = MirageReader(packed / "dataset.json.gz").read()
    assert same(by_file, expected)
    assert by_file.name == "packed"


@pytest.mark.parametrize("structs", [False, True])
def test_the_hub_copy_is_the_same_set(tmp_path: Path, *, structs: bool) -> None:
    """JSON lines and Parquet, with either form of the pool, equal the three files."""
    expected = MirageReader(write(tmp_path / "files")).read()
    lines = tmp_path / "train.jsonl"
    lines.write_text("\n".join(map(json.dumps, hub_rows(structs=structs))))
    assert same(MirageReader(lines).read(), expected)
    (tmp_path / "hub" / "data").mkdir(parents=True)
    table = read_json(str(lines), infer_json_schema(str(lines))).read_all()
    write_parquet(table, str(tmp_path / "hub" / "data" / "train-00000.parquet"))
    assert same(MirageReader(tmp_path / "hub").read(), expected)


def test_without_a_pool_there_are_queries_alone(tmp_path: Path) -> None:
    """dataset.json alone can be answered without a context; a lone oracle.json changes nothing."""
    dataset = MirageReader(write(tmp_path, pool=None)).read()
    assert (len(dataset.queries), len(dataset.corpus), dataset.qrels) == (2, 0, {})


def test_without_an_oracle_support_is_all_there_is(tmp_path: Path) -> None:
    """No oracle.json: every supporting row has grade 1."""
    assert set(MirageReader(write(tmp_path, oracle=None)).read().qrels["q1"].values()) == {0, 1}


def test_the_supporting_row_is_the_oracle_among_equal_texts(tmp_path: Path) -> None:
    """If a text occurs twice in a pool, the oracle is the row marked as supporting."""
    pool = [{**pool_row(1, row), "doc_chunk": "same"} for row in range(1, 6)]
    made = write(tmp_path, dataset=QUERIES[:1], pool=pool, oracle={"q1": pool[1]})
    assert MirageReader(made).read().qrels["q1"]["q1#2"] == 2


def test_rows_without_a_counterpart_are_an_error_or_dropped(tmp_path: Path) -> None:
    """A pool without its query and an oracle outside its pool are listed; `drop` goes on."""
    oracle = {"q1": {**pool_row(1, 4), "doc_chunk": "another"}, "q2": pool_row(2, 2)}
    made = write(tmp_path, dataset=QUERIES[:1], oracle=oracle)
    with pytest.raises(DatasetError) as caught:
        MirageReader(made).read()
    assert "2 rows without a counterpart" in str(caught.value)
    assert "oracle of query 'q1' (not in its pool)" in str(caught.value)
    assert "pool of query 'q2' (no such query)" in str(caught.value)
    kept = MirageReader(made, dangling_qrels="drop").read()
    assert kept.qrels == {"q1": {"q1#1": 0, "q1#2": 1, "q1#3": 0, "q1#4": 1, "q1#5": 0}}
    assert len(kept.corpus) == 10


BAD: list[tuple[dict[str, Any], str]] = [
    ({"dataset": {"a": 1}}, "dataset.json: expected a JSON list of rows, found {'a': 1}"),
    ({"dataset": []}, "contains no query"),
    ({"dataset": ["x"]}, "dataset.json, row 1: expected a JSON object, found 'x'"),
    ({"dataset": [*QUERIES, query(1)]}, "row 3: the query id 'q1' occurs in dataset.json, row 1"),
    ({"dataset": [{**query(1), "query": ""}]}, "row 1: the field 'query' is empty"),
    ({"dataset": [{**query(1), "answer": 1}]}, "'answer' must be a list of texts, found 1"),
    ({"pool": [{**POOL[0], "support": 2}]}, "row 1: the field 'support' must be 0 or 1, found 2"),
    ({"pool": [{"mapped_id": "q1"}]}, "doc_pool.json, row 1: the field 'doc_chunk' is missing"),
    ({"oracle": [POOL[0]]}, "oracle.json: expected a JSON object from query id to a row"),
    ({"oracle": {"q1": "x"}}, "oracle.json, query 'q1': expected a JSON object, found 'x'"),
    ({"oracle": {**ORACLE, "q3": POOL[0]}}, "oracle of query 'q3' (no pool)"),
]


@pytest.mark.parametrize(("files", "expected"), BAD, ids=[case[1] for case in BAD])
def test_bad_files_are_refused_by_place_and_value(
    files: dict[str, Any], expected: str, tmp_path: Path
) -> None:
    """Each fault names the file, the row and the value."""
    with pytest.raises(DatasetError) as caught:
        MirageReader(write(tmp_path, **files)).read()
    assert expected in str(caught.value)


def test_faults_of_the_json_itself_have_line_and_column(tmp_path: Path) -> None:
    """Malformed JSON and text that is not UTF-8 are named by line."""
    made = write(tmp_path)
    (made / "dataset.json").write_text('[\n{"query_id": }\n]')
    with pytest.raises(DatasetError, match=r"dataset\.json, line 2, column 14: not valid JSON"):
        MirageReader(made).read()
    (made / "dataset.json").write_bytes(b'[\n{"query_id": "\xff"}\n]')
    with pytest.raises(DatasetError, match=r"dataset\.json, line 2: not UTF-8 at byte 15"):
        MirageReader(made).read()


def test_a_hub_file_that_is_broken_is_refused(tmp_path: Path) -> None:
    """A cut-off Parquet file, lists of unlike lengths, and a folder with nothing in it."""
    (tmp_path / "a.parquet").write_bytes(b"PAR1 and then nothing")
    with pytest.raises(DatasetError, match=r"a\.parquet is not a complete Parquet file"):
        MirageReader(tmp_path / "a.parquet").read()
    row = {**query(1), "doc_pool": {"mapped_id": ["q1"], "doc_chunk": ["a", "b"]}}
    (tmp_path / "b.jsonl").write_text(json.dumps(row))
    with pytest.raises(DatasetError, match=r"b\.jsonl, line 1: .* lists of equal length"):
        MirageReader(tmp_path / "b.jsonl").read()
    (tmp_path / "empty").mkdir()
    with pytest.raises(DatasetError, match=r"contains no dataset\.json .* and no hub copy"):
        MirageReader(tmp_path / "empty").read()
