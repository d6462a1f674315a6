"""The inverted index equals a sum over every list, also after it was stored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.errors import ConfigError
from ragstone.indexes import inverted
from ragstone.indexes.inverted import Postings

WORDS = 30


def _random(seed: int, documents: int) -> tuple[Postings, npt.NDArray[np.float64]]:
    """Return an index of random documents, and the same as a table documents x words."""
    rng = np.random.default_rng(seed)
    # Some words stand in nearly every document, some in none; few distinct weights make ties.
    table = rng.integers(1, 5, (documents, WORDS)) / 4
    table *= rng.random((documents, WORDS)) < np.linspace(0, 1, WORDS) ** 3
    rows, terms = np.nonzero(table)
    starts = np.searchsorted(rows, np.arange(documents + 1))
    weights = table[rows, terms].astype(np.float32)
    return Postings.of_rows(starts, terms, weights, vocabulary=WORDS), table


def _by_hand(
    table: npt.NDArray[np.float64], terms: list[int], weights: list[float], top_k: int
) -> tuple[list[int], list[float]]:
    scores = sum(
        (weight * table[:, term] for term, weight in zip(terms, weights, strict=True)),
        start=np.zeros(len(table)),
    )
    order = np.lexsort((np.arange(len(table)), -scores))
    places = [int(place) for place in order if scores[place] > 0][:top_k]
    return places, scores[places].tolist()


def _lists(found: tuple[Any, Any]) -> tuple[list[int], list[float]]:
    return found[0].tolist(), found[1].tolist()


@pytest.mark.parametrize("small", [0, 10_000], ids=["pruned", "whole"])
@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    documents=st.integers(0, 300),
    query=st.dictionaries(st.integers(0, WORDS - 1), st.integers(0, 8), max_size=WORDS),
    top_k=st.integers(1, 40),
)
def test_the_search_is_exact(
    small: int, seed: int, documents: int, query: dict[int, int], top_k: int
) -> None:
    """Places, scores and ties equal those of the full sum, by every way of the search."""
    index, table = _random(seed, documents)
    terms, weights = list(query), [weight / 8 for weight in query.values()]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inverted, "SMALL", small)
        first, second = (_lists(index.search(terms, weights, top_k)) for _ in range(2))
    # Quarters times eighths are exact in single precision, so equal must be equal.
    assert first == second == _by_hand(table, terms, weights, top_k)


def test_many_terms_are_added_in_double_precision() -> None:
    """A sum of ten thousand terms is as exact as the stored weights."""
    rng = np.random.default_rng(5)
    weights = rng.random(10_000).astype(np.float32)
    index = Postings.of_rows(np.array([0, 10_000]), np.arange(10_000), weights, vocabulary=10_000)
    _, scores = index.search(list(range(10_000)), [0.1] * 10_000, top_k=1)
    exact = float(np.float32(0.1)) * weights.astype(np.float64).sum()
    assert scores[0] == pytest.approx(exact, rel=1e-7)


@pytest.mark.parametrize("small", [0, 10_000], ids=["pruned", "whole"])
def test_a_loaded_index_is_the_same(
    tmp_path: Path, small: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Saving and loading does not change the results."""
    monkeypatch.setattr(inverted, "SMALL", small)
    index, _ = _random(3, 200)
    index.save(tmp_path)
    query = [29, 20, 12], [1.0, 0.5, 2.0]
    assert _lists(Postings.load(tmp_path).search(*query, 10)) == _lists(index.search(*query, 10))


def test_an_index_without_documents_is_searched() -> None:
    """It returns no documents."""
    empty = np.zeros(0)
    index = Postings.of_rows(np.zeros(1, np.int64), empty.astype(int), empty, vocabulary=3)
    assert _lists(index.search([0, 2], [1.0, 1.0], 5)) == ([], [])


@pytest.mark.parametrize("weights", [[1.0], [1.0, -0.5], [1.0, float("nan")]])
def test_an_invalid_query_is_refused(weights: list[float]) -> None:
    """A query needs one weight per term, none below 0: the search relies on it."""
    index, _ = _random(1, 10)
    with pytest.raises(ConfigError, match="one weight per term, each 0 or more"):
        index.search([1, 2], weights, 5)
