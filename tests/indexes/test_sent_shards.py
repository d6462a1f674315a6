"""Shards that workers embed: the same bytes as in this process, errors and what stays here."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from ragstone.components.embedders.endpoint import EndpointEmbedder
from ragstone.components.embedders.minilm import MiniLM
from ragstone.core.executors.base import IN_PROCESS
from ragstone.core.executors.processes import ProcessExecutor
from ragstone.core.store import Store
from ragstone.data.corpus import Corpus
from ragstone.errors import RagstoneError
from ragstone.indexes import corpus_vectors
from ragstone.indexes.cache import INDEXES
from ragstone.indexes.corpus_vectors import embed_corpus
from ragstone.indexes.sent_shards import ShardJob, texts_of
from ragstone.protocols import Services
from ragstone.types import Passage


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
    monkeypatch.setattr(corpus_vectors, "SHARD", 16)
    INDEXES.clear()


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
    assert ShardJob.of(endpoint, services) is None
    assert ShardJob.of(MiniLM(), Services(corpus=_corpus())) is None
    assert ShardJob.of(MiniLM(), services) is not None


def test_a_wrong_dimension_is_an_error() -> None:
    """A worker that returns vectors of another length than the stored ones is an error."""
    services = Services(corpus=_corpus(), executor=Here())
    job = ShardJob.of(MiniLM(), services)
    assert job
    with pytest.raises(RagstoneError, match="384 dimensions, and of 7 before"):
        job(texts_of(services.corpus, range(2), 7))
