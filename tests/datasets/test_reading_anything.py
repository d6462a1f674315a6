"""Whatever a file holds, reading it gives a data set or a `DatasetError`, and nothing else."""

from __future__ import annotations

import contextlib
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.datasets.dataset import Dataset
from ragstone.datasets.folder import FolderReader
from ragstone.datasets.loading import SAMPLE
from ragstone.datasets.mirage import MirageReader
from ragstone.datasets.squad import SquadReader
from ragstone.datasets.writing import write_dataset
from ragstone.errors import DatasetError
from ragstone.protocols import DatasetReader

FIELDS = [
    "_id", "id", "text", "title", "document", "metadata", "answers", "history", "rewrite", "role",
    "turns", "user", "agent", "turn", "data", "paragraphs", "context", "qas", "question",
    "is_impossible", "query_id", "query", "answer", "mapped_id", "doc_chunk", "support",
]  # fmt: skip
scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
anything = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=6)
    ),
    max_leaves=25,
)
anything_named = st.dictionaries(
    st.sampled_from(FIELDS) | st.text(max_size=3), anything, max_size=4
)
known = {
    "_id": st.sampled_from(["a", "b", "c"]),
    "text": st.sampled_from(["x", "", "y z"]),
    "turns": st.lists(st.fixed_dictionaries({"user": st.sampled_from(["u", "v"])}), max_size=3),
}
nearly = st.builds(lambda own, more: {**more, **own}, st.fixed_dictionaries(known), anything_named)
rows = st.lists(anything | nearly | nearly, max_size=3).map(
    lambda held: "\n".join(map(json.dumps, held)).encode()
)
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


def read_and_write(name: str, content: bytes) -> None:
    """Read a set of which one file has this content; write it, and read it again."""
    kind = LAYOUTS[name]
    with tempfile.TemporaryDirectory() as folder:
        for other, held in BESIDE[kind].items():
            (Path(folder) / other).write_text(json.dumps(held))
        (Path(folder) / name).write_bytes(content)
        reader: DatasetReader = kind(folder)
        with contextlib.suppress(DatasetError):
            dataset = reader.read()
            assert isinstance(dataset, Dataset)
            assert dataset.queries
            again = Path(folder) / "again"
            write_dataset(dataset, again)
            assert FolderReader(again).read().queries == dataset.queries


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
