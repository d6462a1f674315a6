"""Dense retrieval over vectors that can be checked by eye."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pytest

from ragstone.datasets.corpus import Corpus
from ragstone.errors import ConfigError, UnknownComponent
from ragstone.fingerprint import recipe
from ragstone.retrievers import dense
from ragstone.retrievers.dense import Dense
from ragstone.types import Passage, Search


@dataclass(frozen=True)
class Written:
    """Reads the vector from the text itself; queries may be turned around."""

    sign: float = 1.0

    def embed_queries(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return the numbers written in each text."""
        return self.sign * self.embed_passages(texts)

    def embed_passages(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return the numbers written in each text."""
        return np.array([[float(n) for n in text.split()] for text in texts], dtype=np.float32)


WRITTEN = f"{__name__}:Written"


def _corpus(*texts: str) -> Corpus:
    return Corpus.from_passages([Passage(f"p{n}", text) for n, text in enumerate(texts)])


def test_nearest_first() -> None:
    """Passages stand by inner product, also the negative ones; all of them where `top_k` allows."""
    corpus = _corpus("0 1", "1 0", "-1 0", "2 2")
    (ranking,) = Dense(embedder=WRITTEN).retrieve([Search("q", "1 0.5")], corpus)
    assert list(ranking.passage_ids) == ["p3", "p1", "p0", "p2"]
    assert list(ranking.scores) == [3.0, 1.0, 0.5, -1.0]


@pytest.mark.parametrize("top_k", [1, 2, 3])
def test_ties_stand_in_the_order_of_the_corpus(top_k: int) -> None:
    """Equal passages are cut by position."""
    corpus = _corpus(*["0.3 0.7"] * 40)
    (ranking,) = Dense(top_k=top_k, embedder=WRITTEN).retrieve([Search("q", "0.1 0.9")], corpus)
    assert list(ranking.passage_ids) == [f"p{n}" for n in range(top_k)]


def test_a_ranking_does_not_depend_on_other_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    """One at a time, in blocks or all at once: the same ids and the same scores."""
    random = np.random.default_rng(3)
    corpus = _corpus(*[" ".join(map(str, row)) for row in random.normal(size=(300, 24)).round(1)])
    rows = random.normal(size=(50, 24)).round(1)
    searches = [Search(str(n), " ".join(map(str, row))) for n, row in enumerate(rows)]
    retriever = Dense(top_k=7, embedder=WRITTEN)
    together = retriever.retrieve(searches, corpus)
    alone = [retriever.retrieve([search], corpus)[0] for search in searches]
    monkeypatch.setattr(dense, "_BLOCK_NUMBERS", 300 * 7)
    assert together == alone == retriever.retrieve(searches, corpus)
    assert all(len(ranking) == 7 for ranking in together)


def test_the_embedder_is_part_of_the_recipe() -> None:
    """Its own parameters too, however it is written."""
    assert recipe(Dense(embedder=WRITTEN)) != recipe(Dense(embedder=f"{WRITTEN}(sign=-1)"))
    assert recipe(Dense()) != recipe(Dense(embedder="minilm(precision=float32)"))


def test_the_embedders_parameters_are_used() -> None:
    """A spec with parameters gives another embedder."""
    corpus = _corpus("1 0", "-1 0")
    turned = Dense(embedder=f"{WRITTEN}(sign=-1)")
    assert list(turned.retrieve([Search("q", "1 0")], corpus)[0].passage_ids) == ["p1", "p0"]


def test_nothing_to_search() -> None:
    """No queries, no rankings; an empty corpus gives empty ones."""
    assert Dense(embedder=WRITTEN).retrieve([], _corpus("1 0")) == []
    (ranking,) = Dense(embedder=WRITTEN).retrieve([Search("q", "1 0")], _corpus())
    assert len(ranking) == 0


def test_mistakes_are_found_before_anything_is_embedded() -> None:
    """An unknown embedder gets the nearest name, a wrong parameter its own."""
    with pytest.raises(UnknownComponent, match="unknown embedder 'minilmm'; did you mean 'minilm'"):
        Dense(embedder="minilmm")
    with pytest.raises(ConfigError, match="unknown key 'precison'; did you mean 'precision'"):
        Dense(embedder="minilm(precison=int8)")
    with pytest.raises(ConfigError, match="top_k must be 1 or more"):
        Dense(top_k=0)


def test_queries_of_another_dimension_are_refused() -> None:
    """The two lengths are part of the error."""
    with pytest.raises(ConfigError, match="gives queries 3 dimensions, passages 2"):
        Dense(embedder=WRITTEN).retrieve([Search("q", "1 0 0")], _corpus("1 0"))
