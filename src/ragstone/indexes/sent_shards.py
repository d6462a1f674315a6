"""Shards of a corpus that the workers of an executor embed.

A job has the embedder as plain data, an item the passages of one shard. The worker computes them as
the driver would, in the same batches, so the vectors are equal bit by bit. It writes nothing: only
the driver has the store.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

import numpy as np

from ragstone.core.executors.base import IN_PROCESS
from ragstone.core.executors.portable import Portable
from ragstone.core.progress import SilentBar
from ragstone.core.step_notes import collect_notes
from ragstone.data.corpus import Corpus
from ragstone.indexes.embed import embed_passages
from ragstone.protocols import Services
from ragstone.types import Passage

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragstone.protocols import Embedder

_ENDPOINT: Final = "ragstone.components.embedders.endpoint:"


class ShardTexts(NamedTuple):
    """The passages of one shard."""

    passages: tuple[tuple[str, str], ...]
    """Id and whole text of each passage."""
    dimension: int
    """Expected length of a vector; 0 if it is not known yet."""


class ShardVectors(NamedTuple):
    """The vectors of one shard, in 32 bits."""

    shape: tuple[int, ...]
    numbers: bytes
    notes: Mapping[str, int]
    """The embedder's notes about the passages."""

    @property
    def vectors(self) -> npt.NDArray[np.float32]:
        """One row per passage."""
        return np.frombuffer(self.numbers, dtype=np.float32).reshape(self.shape)


@dataclass(frozen=True)
class ShardJob:
    """Embeds shards in a worker; the model is loaded once per worker."""

    embedder: Portable

    @classmethod
    def of(cls, embedder: Embedder, services: Services) -> Self | None:
        """Return the job for an embedder; None if it has to stay in this process.

        Calls to an endpoint stay here, where their rate limit, budget and log are.
        """
        if services.executor is IN_PROCESS:
            return None
        portable = Portable.of(embedder)
        return None if portable is None or _ENDPOINT in portable.written else cls(portable)

    def __call__(self, texts: ShardTexts) -> ShardVectors:
        """Return the vectors of a shard."""
        corpus = Corpus.from_passages([Passage(*passage) for passage in texts.passages])
        embedder, services = self.embedder.component(), Services(corpus=corpus)
        with collect_notes() as notes:
            places = range(len(corpus))
            found = embed_passages(embedder, places, services, SilentBar(), texts.dimension)
        vectors: npt.NDArray[Any] = np.stack(found)
        return ShardVectors(vectors.shape, vectors.tobytes(), dict(notes))


def texts_of(corpus: Corpus, places: Iterable[int], dimension: int) -> ShardTexts:
    """Return the passages at some places of a corpus."""
    found = map(corpus.at, places)
    return ShardTexts(tuple((p.passage_id, p.full_text) for p in found), dimension)
