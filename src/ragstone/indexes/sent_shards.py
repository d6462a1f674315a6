"""Shards of a corpus that the workers of an executor embed.

A job has the embedder as plain data, an item the passages of one shard. The worker computes them as
the driver would, in the same batches, so the vectors are equal bit by bit. It writes nothing: only
the driver has the store. What is returned are the arrays of a shard: one of dense vectors, several
of sparse and token vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

import numpy as np

from ragstone.core.executors.base import IN_PROCESS
from ragstone.core.executors.portable import Portable
from ragstone.core.step_notes import add_note, collect_notes
from ragstone.data.corpus import Corpus
from ragstone.protocols import Services
from ragstone.types import Passage

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragstone.protocols import Embedder

    Arrays = tuple[npt.NDArray[Any], ...]

_ENDPOINT: Final = "ragstone.components.embedders.endpoint:"


class ShardTexts(NamedTuple):
    """The passages of one shard."""

    passages: tuple[tuple[str, str], ...]
    """Id and whole text of each passage."""
    dimension: int
    """Expected length of a vector; 0 if it is not known yet."""


class ShardArrays(NamedTuple):
    """The arrays of one shard."""

    files: tuple[bytes, ...]
    """Each array as NumPy writes it, with its type and shape."""
    notes: Mapping[str, int]
    """The embedder's notes about the passages."""

    @property
    def arrays(self) -> Arrays:
        """The arrays as they were computed."""
        return tuple(np.load(BytesIO(file), allow_pickle=False) for file in self.files)


@dataclass(frozen=True)
class ShardJob:
    """Embeds shards in a worker; the model is loaded once per worker."""

    embedder: Portable
    compute: Callable[[Any, Services, int], Arrays]
    """Returns the arrays of a whole corpus, given an embedder and the length of a vector."""

    @classmethod
    def of(
        cls,
        embedder: Embedder,
        services: Services,
        compute: Callable[[Any, Services, int], Arrays],
    ) -> Self | None:
        """Return the job for an embedder; None if it has to stay in this process.

        Calls to an endpoint stay here, where their rate limit, budget and log are.
        """
        if services.executor is IN_PROCESS:
            return None
        portable = Portable.of(embedder)
        local = portable is not None and _ENDPOINT not in portable.written
        return cls(portable, compute) if portable and local else None

    def __call__(self, texts: ShardTexts) -> ShardArrays:
        """Return the arrays of a shard."""
        corpus = Corpus.from_passages([Passage(*passage) for passage in texts.passages])
        embedder, services = self.embedder.component(), Services(corpus=corpus)
        with collect_notes() as notes:
            arrays = self.compute(embedder, services, texts.dimension)
        return ShardArrays(tuple(map(_file_of, arrays)), dict(notes))


def _file_of(array: npt.NDArray[Any]) -> bytes:
    file = BytesIO()
    np.save(file, array, allow_pickle=False)
    return file.getvalue()


@dataclass
class SentShards:
    """Shards that workers compute; each is stored by the time that it is needed."""

    missing: frozenset[int]
    """First passages of the shards that are sent."""
    stored: Iterator[int]
    """Stores the next shard, and yields its first passage."""

    @classmethod
    def of(
        cls,
        job: ShardJob | None,
        services: Services,
        size: int,
        kept: Callable[[int], bool],
        store: Callable[[int, Arrays], object],
    ) -> Self:
        """Return the shards of a corpus that are not kept; none if they are computed here.

        Args:
            job: computes a shard; None if that is done in this process.
            services: the services of the step; without a store, nothing is sent.
            size: passages of a shard.
            kept: returns whether the shard that begins at a passage is stored.
            store: stores a shard, given its first passage and its arrays.
        """
        corpus = services.corpus
        if job is None or corpus.store is None:
            return cls(frozenset(), iter(()))
        missing = [first for first in range(0, len(corpus), size) if not kept(first)]
        if len(missing) == 1:
            return cls(frozenset(), iter(()))
        return cls(frozenset(missing), _stored(job, services, missing, size, store))

    def wait_for(self, first: int) -> None:
        """Store shards until the one that begins at a passage is stored, if it is sent."""
        if first in self.missing:
            any(done == first for done in self.stored)


def _stored(
    job: ShardJob,
    services: Services,
    missing: Sequence[int],
    size: int,
    store: Callable[[int, Arrays], object],
) -> Iterator[int]:
    corpus = services.corpus
    texts = (texts_of(corpus, range(p, min(p + size, len(corpus))), 0) for p in missing)
    for first, shard in zip(missing, services.executor.map(job, texts), strict=True):
        for what, count in shard.notes.items():
            add_note(what, count)
        store(first, shard.arrays)
        yield first


def texts_of(corpus: Corpus, places: Iterable[int], dimension: int) -> ShardTexts:
    """Return the passages at some places of a corpus."""
    found = map(corpus.at, places)
    return ShardTexts(tuple((p.passage_id, p.full_text) for p in found), dimension)
