"""Any data set written in Ragstone's own layout is the same when it is read again."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.core.fingerprint import digest_table
from ragstone.core.schemas import QRELS, queries_to_table, to_table
from ragstone.data.corpus import Corpus
from ragstone.data.dataset import Dataset
from ragstone.data.load import load_dataset
from ragstone.data.readers.folder import FolderReader
from ragstone.data.writers.folder import write_dataset
from ragstone.errors import DatasetError
from ragstone.types import Message, Passage, Query

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
ids = st.from_regex(r"[^\s\x00-\x1f\ud800-\udfff]{1,6}", fullmatch=True)
names = st.sampled_from(["domain", "text", "metadata", "_id", "title", "metadata.x", "turn", "é"])
values = (
    words
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.lists(words, max_size=3).map(tuple)
)
labels = st.dictionaries(names, values, max_size=4)
messages = st.builds(Message, st.sampled_from(["user", "agent"]), words)
passages = st.builds(Passage, ids, words, words, words, labels)
queries = st.builds(
    Query,
    ids,
    words.filter(str.strip),
    st.lists(words, max_size=3).map(tuple),
    st.lists(messages, max_size=3).map(tuple),
    words,
    labels,
)


def dataset_of(asked: list[Query], told: list[Passage]) -> Dataset:
    """Return a set in which the first passage answers every query."""
    first = [told[0].passage_id] * len(asked) if told else []
    judged = [query.query_id for query in asked[: len(first)]]
    columns: dict[str, list[Any]] = {
        "query_id": judged,
        "passage_id": first,
        "relevance": [1] * len(first),
    }
    return Dataset(
        "x", queries_to_table(asked), Corpus.from_passages(told), to_table(QRELS, columns)
    )


def assert_same(one: Dataset, other: Dataset) -> None:
    """Assert that two sets hold the same rows, by digest and as records."""
    assert one.queries == other.queries
    assert one.corpus.digest == other.corpus.digest
    assert one.qrels == other.qrels
    assert digest_table(one.query_table) == digest_table(other.query_table)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(queries, min_size=1, max_size=4, unique_by=lambda query: query.query_id),
    st.lists(passages, max_size=4, unique_by=lambda passage: passage.passage_id),
)
def test_written_data_are_read_back_unchanged(asked: list[Query], told: list[Passage]) -> None:
    """Whatever the texts, labels and histories: labels of the names of fields survive as well."""
    made = dataset_of(asked, told)
    with tempfile.TemporaryDirectory() as folder:
        write_dataset(made, Path(folder))
        assert_same(FolderReader(folder).read(), made)


def test_the_sample_round_trips(tmp_path: Path) -> None:
    """Conversations come back as the same queries with the same history."""
    made = load_dataset("sample")
    files = write_dataset(made, tmp_path / "copy")
    assert [path.name for path in files] == ["corpus.jsonl", "queries.jsonl", "qrels.tsv"]
    assert_same(load_dataset(tmp_path / "copy"), made)


def test_existing_files_are_not_overwritten(tmp_path: Path) -> None:
    """A file in the way, plain or gzipped, stops the writing before it begins."""
    made = load_dataset("sample")
    (tmp_path / "qrels.tsv.gz").write_bytes(b"mine")
    with pytest.raises(DatasetError, match=r"qrels\.tsv\.gz already exists; choose another"):
        write_dataset(made, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["qrels.tsv.gz"]


def test_a_set_without_corpus_and_qrels_is_one_file(tmp_path: Path) -> None:
    """What a set lacks gets no file."""
    made = dataset_of([Query("q1", "a?")], [])
    assert [path.name for path in write_dataset(made, tmp_path)] == ["queries.jsonl"]
    assert_same(FolderReader(tmp_path).read(), made)


def test_a_full_disk_leaves_nothing_half_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where writing fails there is an error of ours, and no file under its final name."""

    def fail(_self: Path, _target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(DatasetError, match=r"cannot write the data set into .*No space left"):
        write_dataset(replace(load_dataset("sample"), name="x"), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_sample_is_written_without_the_judgements_of_other_queries(tmp_path: Path) -> None:
    """The folder can be read without any option."""
    sample = load_dataset("sample").sample(5, seed=0)

    write_dataset(sample, tmp_path)

    judged = {line.split("\t")[0] for line in (tmp_path / "qrels.tsv").read_text().splitlines()[1:]}
    assert judged <= {query.query_id for query in sample.queries}
    assert load_dataset(tmp_path).queries == sample.queries
