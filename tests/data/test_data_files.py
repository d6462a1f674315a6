"""The files of a data set with digests, rows and fields."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

from ragstone.data.data_files import FieldFacts, data_files


def test_files_with_rows_and_fields(tmp_path: Path) -> None:
    """Types are those of the values; a field with several types is a text."""
    queries = (
        '{"_id": "ä", "text": "Who?", "answers": ["A"], "n": 1, "ok": true, "x": 1, "none": null}\n'
        '{"_id": "b", "text": "Who?", "n": 1.5, "x": "one", "history": [{"role": "user"}]}\n'
    )
    (tmp_path / "queries.jsonl").write_text(queries, encoding="utf-8")
    with gzip.open(tmp_path / "corpus.jsonl.gz", "wb") as file:
        file.write(b'{"_id": "p", "text": "A."}\n')
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nb\tp\t1\n")
    (tmp_path / "qrels" / "dev.tsv").write_text("b\tp\t1\nä\tp\t0\n", encoding="utf-8")
    (tmp_path / "build.json").write_text("{}")
    (tmp_path / "notes.txt").write_text("mine")

    found = {one.name: one for one in data_files(tmp_path)}

    assert [(name, one.kind, one.rows) for name, one in found.items()] == [
        ("queries.jsonl", "queries", 2),
        ("corpus.jsonl.gz", "passages", 1),
        ("qrels/dev.tsv", "qrels", 2),
        ("qrels/test.tsv", "qrels", 1),
        ("build.json", "other", None),
    ]
    assert found["queries.jsonl"].sha256 == hashlib.sha256(queries.encode()).hexdigest()
    assert found["queries.jsonl"].fields == {
        "_id": FieldFacts("text"),
        "text": FieldFacts("text"),
        "answers": FieldFacts("text", is_list=True),
        "n": FieldFacts("number"),
        "ok": FieldFacts("boolean"),
        "x": FieldFacts("text"),
        "history": FieldFacts("object", is_list=True, inner=("role",)),
    }
    assert list(found["qrels/test.tsv"].fields) == ["query-id", "corpus-id", "score"]
    assert found["qrels/test.tsv"].fields["score"] == FieldFacts("integer")
    assert found["qrels/dev.tsv"].fields == {}
