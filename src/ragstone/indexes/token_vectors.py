"""Vectors of single tokens: those of some texts, and those of a corpus kept part by part.

A corpus has a hundred or more vectors where dense retrieval has one, so they are kept rounded (8
bits a number by default), in shards of a few megabytes each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ragstone.core.fingerprint import fingerprint
from ragstone.core.vectors import TokenVectors
from ragstone.errors import ConfigError
from ragstone.indexes.quantisation import Precision, decode, encode

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragstone.core.vectors import Whole
    from ragstone.data.corpus import Corpus
    from ragstone.protocols import TokenEmbedder


SHARD: Final = 256
"""Passages kept together: what a run that is killed has to compute again at most."""
_STEP: Final = "token-vectors"


@dataclass(frozen=True)
class TokenShard:
    """The token vectors of some passages of a corpus, as they are kept."""

    rows: npt.NDArray[Any]
    """Stored vectors; see `ragstone.indexes.quantisation`."""
    starts: Whole
    """Where each passage begins, and where the last one ends."""

    def passage(self, place: int) -> npt.NDArray[np.float64]:
        """Return the vectors of the passage at a place of the shard, in 64 bits."""
        return decode(self.rows[self.starts[place] : self.starts[place + 1]], np.float64)


def token_shard(
    corpus: Corpus, embedder: TokenEmbedder, precision: Precision, start: int
) -> TokenShard:
    """Return the shard that begins at passage `start`, computed where it is not kept.

    With a store it is kept under the embedder's recipe and its own texts: going on after a kill,
    and passages added at the end, cost only the shards that are new.
    """
    texts = corpus.full_texts(start, start + SHARD)

    def write(folder: Path) -> None:
        made = rounded(embedder, texts, precision)
        np.save(folder / "rows.npy", made.rows, allow_pickle=False)
        np.save(folder / "starts.npy", made.starts, allow_pickle=False)

    if corpus.store is None:
        return rounded(embedder, texts, precision)
    return _load(corpus.store.files(_STEP, _made_of(embedder, texts, precision), write))


def kept_shard(
    corpus: Corpus, embedder: TokenEmbedder, precision: Precision, start: int
) -> TokenShard | None:
    """Return the shard that begins at passage `start` if it is kept."""
    if corpus.store is None:
        return None
    made_of = _made_of(embedder, corpus.full_texts(start, start + SHARD), precision)
    folder = corpus.store.kept_files(_STEP, made_of)
    return None if folder is None else _load(folder)


def rounded(embedder: TokenEmbedder, texts: Sequence[str], precision: Precision) -> TokenShard:
    """Return the vectors of some passages as they would be kept."""
    found = checked(embedder.passage_tokens(texts), texts, embedder)
    return TokenShard(encode(found.rows, precision), found.starts)


def checked(found: Any, texts: Sequence[str], embedder: TokenEmbedder) -> TokenVectors:
    """Return an embedder's vectors; raise `ConfigError` unless they can be searched."""
    if not isinstance(found, TokenVectors):
        raise ConfigError(
            f"the embedder {embedder!r} must return `TokenVectors`, found {type(found).__name__}"
        )
    if len(found.lengths) != len(texts) or found.starts[-1] != len(found.rows):
        raise ConfigError(
            f"the embedder {embedder!r} returned {len(found.lengths)} texts of "
            f"{found.starts[-1]} tokens and {len(found.rows)} vectors for {len(texts)} texts"
        )
    if not np.isfinite(found.rows).all():
        row = int(np.flatnonzero(~np.isfinite(found.rows).all(axis=1))[0])
        text = texts[int(np.searchsorted(found.starts, row, side="right")) - 1]
        raise ConfigError(
            f"the embedder {embedder!r} returned a vector with numbers that are not finite, "
            f"for the text {text[:60]!r}"
        )
    return found


def maxsim(query: npt.NDArray[np.floating[Any]], passage: npt.NDArray[np.float64]) -> float:
    """Return the sum over a query's tokens of the highest product with a passage's token.

    Khattab and Zaharia, "ColBERT", SIGIR 2020, equation 3. In 64 bits and for one pair at a time,
    so that a score depends on nothing else. 0 where either text has no token.

    >>> maxsim(np.eye(2), np.array([[1.0, 0.0], [0.6, 0.8]]))
    1.8
    """
    if not (len(query) and len(passage)):
        return 0.0
    products = query.astype(np.float64) @ passage.T
    return float(products.max(axis=1).sum())


def _made_of(embedder: TokenEmbedder, texts: Sequence[str], precision: Precision) -> dict[str, Any]:
    return {"embedder": embedder, "precision": precision, "texts": fingerprint(texts)}


def _load(folder: Path) -> TokenShard:
    starts = np.load(folder / "starts.npy", allow_pickle=False)
    return TokenShard(np.load(folder / "rows.npy", mmap_mode="r", allow_pickle=False), starts)
