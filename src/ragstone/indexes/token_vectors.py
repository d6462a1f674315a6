"""The token vectors of a corpus, stored shard by shard.

A passage has a hundred or more token vectors, and a single dense one. Token vectors are therefore
stored rounded (to 8 bits per number by default), in shards of a few megabytes each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ragstone.core.fingerprint import fingerprint
from ragstone.core.progress import SilentBar
from ragstone.core.user_code import source_digest
from ragstone.indexes.embed import embed_passages
from ragstone.indexes.quantisation import Precision, decode, encode
from ragstone.indexes.sent_shards import SentShards, ShardJob

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragstone.core.progress import Bar
    from ragstone.protocols import Embedder, Services

SHARD: Final = 256
"""Passages stored together: the most that a killed run has to compute again."""
_STEP: Final = "token-vectors"


@dataclass(frozen=True)
class TokenShard:
    """The token vectors of some passages, as they are stored."""

    rows: npt.NDArray[Any]
    """Stored vectors; see `ragstone.indexes.quantisation`."""
    starts: npt.NDArray[np.int64]
    """Start of each passage in `rows`, and the end of the last one."""

    def passage(self, place: int) -> npt.NDArray[np.float64]:
        """Return the vectors of the passage at a place of the shard, in 64 bits."""
        return decode(self.rows[self.starts[place] : self.starts[place + 1]], np.float64)


@dataclass(frozen=True)
class TokenIndex:
    """The token vectors of a corpus, in shards that begin at every `SHARD`-th passage.

    With a store, a shard is stored under the embedder's key, the precision and its own texts. A run
    after a kill, or after passages were added at the end, computes only the shards that are new.
    """

    embedder: Embedder
    precision: Precision
    services: Services

    def stored(self, start: int) -> TokenShard | None:
        """Return the shard that begins at passage `start`, or None if it is not stored."""
        store = self.services.corpus.store
        folder = None if store is None else store.kept_files(_STEP, self._made_of(start))
        return None if folder is None else _load(folder)

    def computed(self, start: int, bar: Bar) -> TokenShard:
        """Return the shard that begins at passage `start`, and store it."""
        corpus = self.services.corpus
        places = range(start, min(start + SHARD, len(corpus)))

        if corpus.store is None:
            return self.embedded(places, bar)
        return self._kept(start, lambda: self.embedded(places, bar))

    def sent(self) -> SentShards:
        """Return the shards that the workers of the executor compute."""
        job = ShardJob.of(self.embedder, self.services, partial(_whole, precision=self.precision))

        def keep(start: int, arrays: Sequence[npt.NDArray[Any]]) -> None:
            self._kept(start, lambda: TokenShard(*arrays))

        def kept(start: int) -> bool:
            return self.stored(start) is not None

        return SentShards.of(job, self.services, SHARD, kept, keep)

    def embedded(self, places: Sequence[int], bar: Bar) -> TokenShard:
        """Return the vectors of the passages at some places of the corpus, without storing them.

        Raises:
            RagstoneError: a passage could not be embedded.
        """
        vectors = embed_passages(self.embedder, places, self.services, bar)
        starts = np.cumsum([0, *map(len, vectors)], dtype=np.int64)
        return TokenShard(encode(np.concatenate(vectors), self.precision), starts)

    def _kept(self, start: int, compute: Callable[[], TokenShard]) -> TokenShard:
        """Return a shard from the corpus's store, computed if it is missing."""
        store: Any = self.services.corpus.store

        def write(folder: Path) -> None:
            shard = compute()
            np.save(folder / "rows.npy", shard.rows, allow_pickle=False)
            np.save(folder / "starts.npy", shard.starts, allow_pickle=False)

        return _load(store.files(_STEP, self._made_of(start), write))

    def _made_of(self, start: int) -> dict[str, Any]:
        texts = fingerprint(self.services.corpus.full_texts(start, start + SHARD))
        return {
            "embedder": self.embedder,
            "precision": self.precision,
            "texts": texts,
            "source": source_digest(TokenIndex),
        }


def maxsim(query: npt.NDArray[np.floating[Any]], passage: npt.NDArray[np.float64]) -> float:
    """Return the sum over a query's tokens of the highest product with a passage's token.

    Khattab and Zaharia, "ColBERT", SIGIR 2020, equation 3. A pair is computed alone and in 64 bits,
    so that its score depends on no other pair. The score is 0 if either text has no token.

    >>> maxsim(np.eye(2), np.array([[1.0, 0.0], [0.6, 0.8]]))
    1.8
    """
    if not (len(query) and len(passage)):
        return 0.0
    products = query.astype(np.float64) @ passage.T
    return float(products.max(axis=1).sum())


def _whole(
    embedder: Embedder, services: Services, _: int, *, precision: Precision
) -> tuple[npt.NDArray[Any], ...]:
    """Return the arrays of a corpus that is one shard."""
    index = TokenIndex(embedder, precision, services)
    shard = index.embedded(range(len(services.corpus)), SilentBar())
    return shard.rows, shard.starts


def _load(folder: Path) -> TokenShard:
    starts = np.load(folder / "starts.npy", allow_pickle=False)
    return TokenShard(np.load(folder / "rows.npy", mmap_mode="r", allow_pickle=False), starts)
