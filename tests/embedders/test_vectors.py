"""The vectors of a corpus, kept shard by shard."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from ragstone.datasets.corpus import Corpus
from ragstone.embedders import vectors
from ragstone.embedders.vectors import embed_corpus
from ragstone.errors import ConfigError
from ragstone.progress import shown_by
from ragstone.protocols import NOT_IN_KEY
from ragstone.store import Store
from ragstone.types import Passage


@dataclass(frozen=True)
class Counting:
    """Embeds a text by its length; remembers what it was given, and can die on the way."""

    scale: float = 1.0
    seen: list[str] = field(default_factory=list, metadata=NOT_IN_KEY)
    dies_at: str = field(default="", metadata=NOT_IN_KEY)

    def embed_queries(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return one row of two numbers per text."""
        return self.embed_passages(texts)

    def embed_passages(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return one row of two numbers per text."""
        if self.dies_at and self.dies_at in texts:
            raise KeyboardInterrupt
        self.seen.extend(texts)
        rows = [[len(text) * self.scale, ord(text[-1])] for text in texts]
        return np.array(rows, dtype=np.float32)


@pytest.fixture(autouse=True)
def _small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "SHARD", 4)
    monkeypatch.setattr(vectors, "_AT_ONCE", 3)


def _corpus(count: int, store: Store | None = None) -> Corpus:
    made = Corpus.from_passages([Passage(f"p{n}", "x" * n + str(n)) for n in range(count)])
    return Corpus(made.table, store)


def test_a_kill_loses_one_shard_at_most(tmp_path: Path) -> None:
    """What was finished before the interruption is not embedded again, and the rows are right."""
    corpus = _corpus(10, Store(tmp_path))
    texts = corpus.full_texts()
    with pytest.raises(KeyboardInterrupt):
        embed_corpus(corpus, Counting(dies_at=texts[9]))
    again = Counting()
    found = embed_corpus(corpus, again)
    assert again.seen == texts[8:]
    assert np.array_equal(found, Counting().embed_passages(texts))


def test_kept_vectors_are_read_back(tmp_path: Path) -> None:
    """A second look embeds nothing; another parameter, or a longer corpus, what is new."""
    store = Store(tmp_path)
    first = embed_corpus(_corpus(8, store), Counting())
    second, other, longer = Counting(), Counting(scale=2.0), Counting()
    assert np.array_equal(embed_corpus(_corpus(8, store), second), first)
    assert second.seen == []
    embed_corpus(_corpus(8, store), other)
    assert len(other.seen) == 8
    assert len(embed_corpus(_corpus(9, store), longer)) == 9
    assert len(longer.seen) == 1


def test_without_a_store_all_is_computed() -> None:
    """A corpus in memory is embedded in memory."""
    embedder = Counting()
    assert embed_corpus(_corpus(5), embedder).shape == (5, 2)
    assert len(embedder.seen) == 5


def test_an_empty_corpus_has_no_vectors() -> None:
    """No passages, no rows."""
    assert len(embed_corpus(_corpus(0), Counting())) == 0


def test_progress_counts_every_passage_once(tmp_path: Path) -> None:
    """Kept or computed, the bar ends at the number of passages."""
    counted: list[int] = []

    class Bar:
        def advance(self, count: int = 1) -> None:
            counted.append(count)

        def close(self) -> None:
            """Nothing to close."""

    store = Store(tmp_path)
    embed_corpus(_corpus(4, store), Counting())
    with shown_by(lambda _title, _total: Bar()):
        embed_corpus(_corpus(10, store), Counting())
    assert sum(counted) == 10


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (np.zeros(3), r"must return an array of shape \(3, dimension\).*found shape \(3,\)"),
        (np.zeros((2, 5)), r"found shape \(2, 5\)"),
        (np.array([[1.0], [np.nan], [1.0]]), "not finite, for the text 'x1'"),
    ],
)
def test_a_broken_embedder_is_named(
    returned: Any, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that are missing or not numbers are found before they are searched."""
    monkeypatch.setattr(Counting, "embed_passages", lambda _self, _texts: returned)
    with pytest.raises(ConfigError, match=message):
        embed_corpus(_corpus(3), Counting())
