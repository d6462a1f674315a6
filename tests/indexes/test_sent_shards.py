"""Shards that workers embed: the same bytes as in this process, errors and what stays here."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from ragstone.components.embedders.endpoint import EndpointEmbedder
from ragstone.components.embedders.minilm import MiniLM
from ragstone.components.retrievers import late_interaction
from ragstone.components.retrievers.late_interaction import LateInteraction
from ragstone.components.retrievers.sparse import Sparse
from ragstone.core.executors.base import IN_PROCESS
from ragstone.core.executors.processes import ProcessExecutor
from ragstone.core.executors.spec import executor_of
from ragstone.core.store import Store
from ragstone.data.corpus import Corpus
from ragstone.errors import RagstoneError
from ragstone.indexes import corpus_vectors, sparse_vectors, token_vectors
from ragstone.indexes.cache import INDEXES
from ragstone.indexes.corpus_vectors import _whole, embed_corpus
from ragstone.indexes.sent_shards import ShardJob, texts_of
from ragstone.protocols import Services
from ragstone.types import Passage, Search


@dataclass
class Here:
    """Runs jobs in this process, and keeps the items that it was given."""

    items: list[Any] = field(default_factory=list)

    def open(self) -> None:
        """Do nothing."""

    def map(self, job: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        """Yield the results."""
        for item in items:
            self.items.append(item)
            yield job(item)

    def close(self) -> None:
        """Do nothing."""


@dataclass(frozen=True)
class DiesOnce:
    """A job whose first worker dies in mid-shard."""

    job: ShardJob
    mark: str

    def __call__(self, texts: Any) -> Any:
        """Return the vectors, or kill this worker."""
        if "passage 40" in str(texts) and not Path(self.mark).exists():
            Path(self.mark).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return self.job(texts)


@pytest.fixture(autouse=True)
def _small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    _set_small_shards(monkeypatch)
    INDEXES.clear()


def _set_small_shards(patch: pytest.MonkeyPatch) -> None:
    for module in (corpus_vectors, sparse_vectors, token_vectors, late_interaction):
        patch.setattr(module, "SHARD", 16)


def _corpus(folder: Path | None = None) -> Corpus:
    texts = [f"passage {n} " + "of a longer text " * (n % 7) for n in range(50)]
    passages = [Passage(f"p{n}", text, "A title" * (n % 2)) for n, text in enumerate(texts)]
    return replace(Corpus.from_passages(passages), store=Store(folder) if folder else None)


def _bytes(corpus: Corpus, executor: Any) -> bytes:
    INDEXES.clear()
    found = embed_corpus(MiniLM(), Services(corpus=corpus, executor=executor))
    return found.slice(0, len(found)).tobytes()


def test_vectors_of_workers_are_those_of_this_process(tmp_path: Path) -> None:
    """With and without a store, the vectors are equal bit by bit; a second run computes none."""
    expected = _bytes(_corpus(tmp_path / "a"), IN_PROCESS)
    first, second, third = Here(), Here(), Here()
    assert _bytes(_corpus(tmp_path / "b"), first) == expected
    assert _bytes(_corpus(tmp_path / "b"), second) == expected
    assert _bytes(_corpus(), third) == expected
    assert [len(one.items) for one in (first, second, third)] == [4, 0, 4]


def _rankings(folder: Path, executor: Any) -> dict[str, Any]:
    """Return rankings by sparse and by token vectors, and the digests of all stored shards."""
    INDEXES.clear()
    services = Services(corpus=_corpus(folder), executor=executor)
    searches = [Search("q", "passage 7 of a longer text")]
    found: dict[str, Any] = {
        type(one).__name__: [outcome.value for outcome in one.retrieve(searches, services)]
        for one in (Sparse(top_k=9), LateInteraction(top_k=9))
    }
    arrays = [*folder.glob("*/weigh-*/*.npy"), *folder.glob("*/token-vectors-*/*.npy")]
    assert len(arrays) == 4 * 3 + 4 * 2
    stored = {
        str(one.relative_to(folder)): hashlib.sha256(one.read_bytes()).hexdigest() for one in arrays
    }
    return found | stored


@pytest.fixture(scope="module")
def in_process(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return rankings and shards of this process."""
    with pytest.MonkeyPatch.context() as patch:
        _set_small_shards(patch)
        return _rankings(tmp_path_factory.mktemp("alone"), IN_PROCESS)


@pytest.mark.parametrize(
    ("written", "package"),
    [("processes(2)", ""), ("dask(workers=2)", "distributed"), ("ray(workers=2)", "ray")],
)
def test_sparse_and_token_vectors_of_workers_are_those_of_this_process(
    tmp_path: Path, in_process: dict[str, Any], written: str, package: str
) -> None:
    """Rankings, names and bytes of all shards are equal on processes, Dask and Ray."""
    if package and find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    executor = executor_of(written)
    try:
        assert _rankings(tmp_path, executor) == in_process
    finally:
        executor.close()


def test_stored_sparse_and_token_shards_are_not_sent(tmp_path: Path) -> None:
    """A second run sends nothing; after one shard was lost, it is computed in this process."""
    first, second, third = Here(), Here(), Here()
    expected = _rankings(tmp_path, first)
    assert _rankings(tmp_path, second) == expected
    for kind in ("weigh", "sparse", "token-vectors"):
        shutil.rmtree(next(tmp_path.glob(f"arrays/{kind}-*")))
    assert _rankings(tmp_path, third) == expected
    assert [len(one.items) for one in (first, second, third)] == [8, 0, 0]


def test_a_killed_worker_changes_nothing(tmp_path: Path) -> None:
    """A worker that is killed in mid-shard is replaced; the vectors are equal bit by bit."""

    class Killed(ProcessExecutor):
        def map(self, job: Any, items: Iterable[Any]) -> Iterator[Any]:
            return super().map(DiesOnce(job, str(tmp_path / "died")), items)

    executor = Killed(1)
    try:
        found = _bytes(_corpus(tmp_path / "b"), executor)
    finally:
        executor.close()
    assert (tmp_path / "died").exists()
    assert found == _bytes(_corpus(tmp_path / "a"), IN_PROCESS)


def test_equal_shards_are_computed_once(tmp_path: Path) -> None:
    """Two shards with the same texts are one item."""
    once = [Passage(f"p{n}", f"text {n % 16}") for n in range(48)]
    corpus = replace(Corpus.from_passages([*once, Passage("last", "other")]), store=Store(tmp_path))
    executor = Here()
    _bytes(corpus, executor)
    assert len(executor.items) == 2


def test_calls_to_an_endpoint_and_own_parts_stay_here() -> None:
    """An embedder behind an endpoint and one that cannot be plain data stay in this process."""
    services = Services(corpus=_corpus(), executor=Here())
    endpoint = EndpointEmbedder(model="m", base_url="http://127.0.0.1:9/v1")
    assert ShardJob.of(endpoint, services, _whole) is None
    assert ShardJob.of(MiniLM(), Services(corpus=_corpus()), _whole) is None
    assert ShardJob.of(MiniLM(), services, _whole) is not None


def test_a_wrong_dimension_is_an_error() -> None:
    """A worker that returns vectors of another length than the stored ones is an error."""
    services = Services(corpus=_corpus(), executor=Here())
    job = ShardJob.of(MiniLM(), services, _whole)
    assert job
    with pytest.raises(RagstoneError, match="384 dimensions, and of 7 before"):
        job(texts_of(services.corpus, range(2), 7))
