"""Exact search of a small inverted index, several queries at a time.

The scores are those of a search alone, bit by bit: the same numbers are added in the same order.
The rare terms of all queries are added in one step, as far as they come before each query's first
frequent term, and the best of all queries are found in one step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import numpy as np

from ragstone.indexes.inverted import SINGLE, SMALL, Postings, add_term, terms_of
from ragstone.indexes.top_k import HEAPS, lower_bounds

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragstone.indexes.inverted import Term

    Integers: TypeAlias = npt.NDArray[np.integer[Any]]
    Scores: TypeAlias = npt.NDArray[np.float32]

_FEWEST: Final = 2
"""Queries in a batch that save anything."""
_BYTES: Final = 4_000_000
"""Sums of a batch: they stay near the processor."""
_LEAST: Final = np.finfo(np.float32).smallest_subnormal


class WeighedTerms(NamedTuple):
    """The terms of a query, and the weight of each."""

    terms: Sequence[int]
    weights: Sequence[float]


def search_all(
    index: Postings, queries: Sequence[WeighedTerms], top_k: int
) -> Iterator[tuple[Integers, npt.NDArray[Any]]]:
    """Yield the best documents of each query and their scores, as `Postings.search` does."""
    size = _BYTES // (4 * max(1, index.length))
    if index.length > SMALL or index.length < HEAPS * HEAPS * top_k or size < _FEWEST:
        yield from (index.search(*query, top_k) for query in queries)
        return
    for start in range(0, len(queries), size):
        batch = queries[start : start + size]
        if max(len(query.terms) for query in batch) > SINGLE:
            yield from (index.search(*query, top_k) for query in batch)
        else:
            yield from _search(index, [terms_of(index, *query) for query in batch], top_k)


def _search(
    index: Postings, queries: list[list[Term]], top_k: int
) -> Iterator[tuple[Integers, Scores]]:
    """Yield the best of each query."""
    sums = index.sums(len(queries))
    first = [_rare(index, terms) for terms in queries]
    _add_rare(index, [terms[:n] for terms, n in zip(queries, first, strict=True)], sums)
    for terms, n, own in zip(queries, first, sums, strict=True):
        for term in terms[n:]:
            add_term(index, term, own)
    floors = np.maximum(lower_bounds(sums, top_k), _LEAST)
    hits = np.flatnonzero(sums >= floors[:, None])
    scores = sums.reshape(-1)[hits]
    sums.fill(0)
    edges = np.searchsorted(hits, np.arange(len(queries) + 1) * index.length).tolist()
    for query, (start, stop) in enumerate(pairwise(edges)):
        found = scores[start:stop]
        order = (-found).argsort(kind="stable")[:top_k]
        yield hits[start:stop][order] - query * index.length, found[order]


def _rare(index: Postings, terms: list[Term]) -> int:
    """Return the number of terms before the first frequent one."""
    rare = (n for n, term in enumerate(terms) if index.row(term.number) is not None)
    return next(rare, len(terms))


def _add_rare(index: Postings, queries: list[list[Term]], sums: Scores) -> None:
    """Add the weights of some terms of each query to its sums."""
    every = [(n * index.length, term) for n, terms in enumerate(queries) for term in terms]
    if not every:
        return
    counts = [term.stop - term.start for _, term in every]
    places = np.concatenate([index.places[term.start : term.stop] for _, term in every])
    weights = np.concatenate([index.weights[term.start : term.stop] for _, term in every])
    at = places + np.repeat(np.array([first for first, _ in every]), counts)
    factors = np.array([term.weight for _, term in every], dtype=np.float32)
    if (factors != 1).any():
        weights = weights * np.repeat(factors, counts)
    np.add.at(sums.reshape(-1), at, weights)
