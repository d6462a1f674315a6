"""Whatever a file holds, reading it gives a data set or a `DatasetError`, and nothing else."""

from __future__ import annotations

import contextlib
import json
import tempfile
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.data.dataset import Dataset
from ragstone.data.load import SAMPLE
from ragstone.data.readers.base import Reader
from ragstone.data.readers.folder import FolderReader
from ragstone.data.readers.mirage import MirageReader
from ragstone.data.readers.squad import SquadReader
from ragstone.data.writers.folder import write_dataset
from ragstone.errors import DatasetError

FIELDS = [
    "_id", "id", "text", "title", "document", "metadata", "answers", "history", "rewrite", "role",
    "turns", "user", "agent", "turn", "data", "paragraphs", "context", "qas", "question",
    "is_impossible", "query_id", "query", "answer", "mapped_id", "doc_chunk", "support",
]  # fmt: skip
scalars = (
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats() | st.text(max_size=5)
)
anything = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=6)
    ),
    max_leaves=25,
)
rows = st.lists(anything, max_size=3).map(lambda held: "\n".join(map(json.dumps, held)).encode())
extras = st.dictionaries(st.sampled_from(["metadata", "domain", "text", "é"]), anything, max_size=4)
LAYOUTS: dict[str, type] = {
    "corpus.jsonl": FolderReader,
    "queries.jsonl": FolderReader,
    "conversations.jsonl": FolderReader,
    "qrels.tsv": FolderReader,
    "dataset.json": MirageReader,
    "doc_pool.json": MirageReader,
    "oracle.json": MirageReader,
    "squad.json": SquadReader,
}
BESIDE: dict[type, dict[str, Any]] = {
    FolderReader: {"queries.jsonl": {"_id": "q", "text": "a?"}},
    MirageReader: {
        "dataset.json": [{"query_id": "q", "query": "a?"}],
        "doc_pool.json": [{"mapped_id": "q", "doc_chunk": "a", "support": 1}],
    },
    SquadReader: {},
}


def read_and_write(name: str, content: bytes) -> bool:
    """Read a set of which one file has this content, write it, read it again; False if refused."""
    kind = LAYOUTS[name]
    with tempfile.TemporaryDirectory() as folder:
        for other, held in BESIDE[kind].items():
            (Path(folder) / other).write_text(json.dumps(held))
        (Path(folder) / name).write_bytes(content)
        reader: Reader = kind(folder)
        with contextlib.suppress(DatasetError):
            dataset = reader.read()
            assert isinstance(dataset, Dataset)
            assert dataset.queries
            again = Path(folder) / "again"
            write_dataset(dataset, again)
            copy = FolderReader(again).read()
            assert copy.queries == dataset.queries
            assert list(copy.corpus) == list(dataset.corpus)
            return True
    return False


@pytest.mark.parametrize("name", LAYOUTS)
@settings(max_examples=60, deadline=None)
@given(content=rows | anything.map(lambda held: json.dumps(held).encode()) | st.binary(max_size=60))
def test_any_content_is_read_or_refused(name: str, content: bytes) -> None:
    """JSON of any shape, and any bytes at all, in any of the files."""
    read_and_write(name, content)


@pytest.mark.parametrize("name", ["queries.jsonl", "conversations.jsonl", "corpus.jsonl"])
@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_damaged_file_is_read_or_refused(name: str, data: st.DataObject) -> None:
    """Bytes of a good file are replaced, cut out, or cut off."""
    content = (SAMPLE / name).read_bytes()[:4_000]
    start = data.draw(st.integers(0, len(content)))
    stop = data.draw(st.integers(start, min(start + 20, len(content))))
    damaged = content[:start] + data.draw(st.binary(max_size=8)) + content[stop:]
    read_and_write(name, damaged)


@pytest.mark.parametrize("name", ["queries.jsonl", "conversations.jsonl", "corpus.jsonl"])
@settings(max_examples=60, deadline=None)
@given(held=st.lists(extras, min_size=1, max_size=3))
def test_extra_fields_of_any_kind_become_labels(name: str, held: list[dict[str, Any]]) -> None:
    """Whatever extra fields hold, the rows are read, and their labels survive writing."""
    own = {"turns": [{"user": "u"}, {"user": "v"}]} if "conv" in name else {"text": "x"}
    rows = [{**more, "_id": f"r{place}", **own} for place, more in enumerate(held)]
    content = orjson.dumps(rows[0]) + b"".join(b"\n" + orjson.dumps(row) for row in rows[1:])
    assert read_and_write(name, content)
