"""Diversity of the texts of a data set: the share of distinct n-grams, the spread of vectors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

import numpy as np

from ragstone.statistics.bootstrap import Floats
from ragstone.statistics.resampling import Bootstrap
from ragstone.statistics.summary import Numbers, Summary

Words: TypeAlias = Sequence[str]
_CHUNK: Final = 500
"""Words of a chunk, if there are enough of them."""
_LEAST: Final = 50
_CHUNKS: Final = 10
"""Chunks that the smaller of two data sets should have."""


def chunk_size(words: Sequence[int]) -> int:
    """Return the size of chunks that data sets of these numbers of words have in common.

    It is 0 if the smallest has too few words for ten chunks of 50.

    >>> chunk_size([7_000, 16_000]), chunk_size([3_000, 16_000]), chunk_size([90, 7_000])
    (500, 300, 0)
    """
    size = min(_CHUNK, min(words, default=0) // _CHUNKS)
    return size if size >= _LEAST else 0


def distinct_shares(
    groups: Sequence[Sequence[Words]], n: int, size: int, *, seed: int = 0
) -> list[float]:
    """Return the share of distinct n-grams (distinct-n) in each chunk of `size` n-grams.

    distinct-n (Li et al., NAACL 2016) falls with the length of a text, so only values of equal
    sizes compare. The groups, such as conversations, are shuffled and cut into chunks; no n-gram
    goes from one text to the next. The rest of less than a chunk is left out.

    Args:
        groups: the words of the texts of each group.
        n: words of an n-gram.
        size: n-grams of a chunk, 1 or more.
        seed: seed of the order.

    >>> distinct_shares([[["a", "b", "a", "b"]]], 1, 4), distinct_shares([[["a", "b", "c"]]], 2, 1)
    ([0.5], [1.0, 1.0])
    """
    order = np.random.default_rng(seed).permutation(len(groups))
    grams = [gram for place in order for text in groups[place] for gram in _grams(text, n)]
    ends = range(size, len(grams) + 1, size)
    return [len(set(grams[end - size : end])) / size for end in ends]


def _grams(words: Words, n: int) -> Iterator[tuple[str, ...]]:
    return zip(*(words[start:] for start in range(n)), strict=False)


def spread(vectors: Floats, members: Numbers, *, resamples: int = 1000, seed: int = 0) -> Summary:
    """Return the mean cosine distance of two vectors of different groups, with its interval.

    Args:
        vectors: shape (items, dimensions); each has length 1.
        members: number of each item's group, counted from 0.
        resamples: number of resamples of whole groups.
        seed: seed of the resamples.

    >>> found = spread(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]), np.array([0, 1, 2]))
    >>> round(found.mean, 3), found.n
    (0.667, 3)
    """
    sizes = np.bincount(members).astype(np.float64)
    groups = len(sizes)
    if groups < 2:  # noqa: PLR2004 - a pair is of two groups
        return Summary(None, len(members))
    sums = np.zeros((groups, vectors.shape[1]))
    np.add.at(sums, members, vectors)
    own, pairs = (sums**2).sum(axis=1), sizes**2

    def of(counts: Floats) -> Floats:
        # Copies of a drawn group are no different groups.
        inner = ((counts @ sums) ** 2).sum(axis=1) - counts**2 @ own
        total = (counts @ sizes) ** 2 - counts**2 @ pairs
        found: Floats = 1 - inner / np.where(total > 0, total, np.nan)
        return found

    bootstrap = Bootstrap(resamples=resamples, seed=seed)
    drawn = [of(c.astype(np.float64)) for c in bootstrap.counts(groups, width=vectors.shape[1])]
    mean = float(of(np.ones((1, groups)))[0])
    return Summary(
        mean,
        len(members),
        interval=bootstrap.interval(np.concatenate(drawn)),
        mean_of_answered=mean,
    )
