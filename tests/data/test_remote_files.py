"""Corpora in an object store, with fsspec's file system in memory."""

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragstone.core.offline import NetworkForbidden, no_network
from ragstone.data import remote_files
from ragstone.data.load import load_dataset
from ragstone.data.remote_files import local_copy
from ragstone.errors import DatasetError, RagstoneError

fsspec = pytest.importorskip("fsspec")

CORPUS = b'{"_id": "p1", "text": "Lisbon is on the Tagus."}\n'


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Return an object store in memory; copies go to a folder of the test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    found = fsspec.filesystem("memory")
    yield found
    found.store.clear()


def test_a_data_set_in_an_object_store_is_read(memory: Any, tmp_path: Path) -> None:
    """A folder, and a corpus beside local queries, are those of the object store."""
    memory.pipe("/bucket/set/corpus.jsonl.gz", gzip.compress(CORPUS))
    memory.pipe("/bucket/set/queries.jsonl", b'{"_id": "q1", "text": "Where is Lisbon?"}\n')
    memory.pipe("/bucket/set/qrels/test.tsv", b"query-id\tcorpus-id\tscore\nq1\tp1\t1\n")
    whole = load_dataset("memory://bucket/set")
    queries = tmp_path / "queries.jsonl"
    queries.write_text('{"_id": "q1", "text": "Where?"}\n')
    mixed = load_dataset({"queries": str(queries), "corpus": "memory://bucket/set/corpus.jsonl.gz"})
    for found in (whole, mixed):
        assert found.corpus["p1"].text == "Lisbon is on the Tagus."
    assert list(whole.qrels) == ["q1"]


def test_an_object_is_copied_once_until_it_changes(memory: Any) -> None:
    """The copy is found again; a changed object is copied again."""
    memory.pipe("/bucket/corpus.jsonl", CORPUS)
    first = local_copy("memory://bucket/corpus.jsonl")
    assert first
    assert first.read_bytes() == CORPUS
    assert local_copy(Path("memory://bucket/corpus.jsonl")) == first
    memory.pipe("/bucket/corpus.jsonl", CORPUS + CORPUS)
    second = local_copy("memory://bucket/corpus.jsonl")
    assert second
    assert second != first
    assert second.read_bytes() == CORPUS * 2


@pytest.mark.usefixtures("memory")
def test_files_of_this_machine_have_addresses_too(tmp_path: Path) -> None:
    """An address `file://` is read as well; other paths are left alone."""
    path = tmp_path / "corpus.jsonl"
    path.write_bytes(CORPUS)
    found = local_copy(path.as_uri())
    assert found
    assert found.read_bytes() == CORPUS
    assert local_copy(str(path)) is None


@pytest.mark.usefixtures("memory")
def test_errors_name_the_address_and_no_secret() -> None:
    """A missing object, credentials in the address, and a failing client are told."""
    with pytest.raises(DatasetError, match=r"memory:///bucket/none: no such file or folder"):
        local_copy("memory://bucket/none")
    with pytest.raises(DatasetError, match="write no credentials in it") as error:
        local_copy("s3://key:hidden@bucket/corpus.jsonl")
    assert "hidden" not in str(error.value)


def test_a_failing_client_says_no_secret(memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The text of a client's error is not shown."""
    memory.pipe("/bucket/corpus.jsonl", CORPUS)

    def fail(*_: object) -> None:
        raise PermissionError("key=hidden")

    monkeypatch.setattr(type(memory), "info", fail)
    monkeypatch.setattr(type(memory), "isfile", lambda *_: True)
    with pytest.raises(DatasetError, match="PermissionError") as error:
        local_copy("memory://bucket/corpus.jsonl")
    assert "hidden" not in str(error.value)


def test_offline_reads_no_object_store() -> None:
    """Offline, another machine is not asked."""
    with no_network(), pytest.raises(NetworkForbidden, match="s3://bucket/corpus"):
        local_copy("s3://bucket/corpus.jsonl")


def test_a_full_disk_is_told_before_copying(memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Objects that do not fit on the disk are not copied."""
    memory.pipe("/bucket/corpus.jsonl", CORPUS)
    monkeypatch.setattr("ragstone.core.resources.free_disk", lambda _: 10)
    with pytest.raises(RagstoneError, match=r"copying memory:///bucket/corpus.jsonl"):
        local_copy("memory://bucket/corpus.jsonl")


def test_a_name_cannot_leave_the_folder(memory: Any, tmp_path: Path) -> None:
    """A name with `..` is refused."""
    with pytest.raises(DatasetError, match=r"contains '\.\.'"):
        remote_files._copy(memory, "set/../../x", tmp_path / "set/../../x")
