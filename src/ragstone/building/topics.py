"""Topics of a corpus: groups of passages with the same rare words, so that a test set covers all.

The vectors are TF-IDF weights, projected at random to few dimensions; the groups are those of
spherical k-means with centres drawn as k-means++ draws them (Arthur and Vassilvitskii, 2007).
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt

from ragstone.core import limits
from ragstone.text.normalise import ENGLISH, pieces
from ragstone.types import Passage

_DIMENSIONS: Final = 256
_STEPS: Final = 20
_STARTS: Final = 5
_FITTED: Final = 2000
"""Passages that decide the centres."""
_PASSAGES_PER_TOPIC: Final = 10

Vectors = npt.NDArray[np.float32]
Places = npt.NDArray[np.intp]
U = TypeVar("U", bound=Sequence[Passage])


def topics_of(passages: Sequence[Passage], seed: int = 0) -> dict[str, int]:
    """Return passage id -> number of its topic, from 0.

    There is a topic per ten passages, at least one and at most 50. A topic may have one passage.

    >>> texts = ["sea and fish", "fish of the sea", "stars and moons", "moons, stars"]
    >>> found = topics_of([Passage(text, text) for text in texts * 5])
    >>> found["sea and fish"] == found["fish of the sea"] != found["moons, stars"]
    True
    """
    if not passages:
        return {}
    count = min(max(len(passages) // _PASSAGES_PER_TOPIC, 1), limits.TOPICS)
    vectors = _vectors(passages)
    groups = _groups(vectors, count, np.random.default_rng(seed))
    return {p.passage_id: int(group) for p, group in zip(passages, groups, strict=True)}


def in_turn(units: Sequence[U], topics: Mapping[str, int]) -> list[U]:
    """Return units in an order that takes one of each topic in turn, by their first passage."""
    groups: dict[int, list[U]] = {}
    for unit in units:
        groups.setdefault(topics.get(unit[0].passage_id, 0), []).append(unit)
    return [unit for row in zip_longest(*groups.values()) for unit in row if unit is not None]


def coverage(topics: Mapping[str, int], used: Iterable[str]) -> dict[str, Any]:
    """Return how many topics have a used passage, and the most used topic's share, as plain data.

    >>> coverage({"a": 0, "b": 1, "c": 2}, ["a", "b", "b"])
    {'topics': 3, 'covered': 2, 'largest_share': 0.6666666666666666}
    """
    counts = Counter(topics[passage_id] for passage_id in used if passage_id in topics)
    share = max(counts.values()) / counts.total() if counts else None
    return {"topics": len({*topics.values()}), "covered": len(counts), "largest_share": share}


def _vectors(passages: Sequence[Passage]) -> Vectors:
    """Return one unit vector per passage: TF-IDF weights, words hashed to places with a sign."""
    counts = [Counter(_content_words(passage)) for passage in passages]
    present = Counter(word for one in counts for word in one)
    vectors = np.zeros((len(passages), _DIMENSIONS), np.float32)
    for row, words in zip(vectors, counts, strict=True):
        for word, n in words.items():
            mark = zlib.crc32(word.encode())
            weight = (1 + np.log(n)) * np.log((1 + len(passages)) / present[word])
            row[mark % _DIMENSIONS] += weight if mark >> 31 else -weight
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Vectors = vectors / np.maximum(norms, 1e-9)
    return unit


def _content_words(passage: Passage) -> list[str]:
    """Return the content words of a passage, each as often as it occurs."""
    return [word for word in pieces(passage.full_text) if word not in ENGLISH]


def _groups(vectors: Vectors, count: int, generator: np.random.Generator) -> Places:
    """Return the number of each vector's group; centres are found from a sample of the vectors."""
    drawn = generator.permutation(len(vectors))[:_FITTED]
    starts = [_centres(vectors[drawn], count, generator) for _ in range(_STARTS)]
    centres, _ = max(starts, key=lambda found: found[1])
    groups: Places = np.unique((vectors @ centres.T).argmax(axis=1), return_inverse=True)[1]
    return groups


def _centres(vectors: Vectors, count: int, generator: np.random.Generator) -> tuple[Vectors, float]:
    """Return the centres of groups, and the sum of the vectors' similarities to the nearest."""
    centres = vectors[[int(generator.integers(len(vectors)))]]
    while len(centres) < count:
        gaps = np.clip(1 - (vectors @ centres.T).max(axis=1), 0, None).astype(np.float64)
        if not gaps.sum():
            break
        drawn = generator.choice(len(vectors), p=gaps / gaps.sum())
        centres = np.concatenate((centres, vectors[[drawn]]))
    nearest = (vectors @ centres.T).argmax(axis=1)
    for _ in range(_STEPS):
        sums = np.zeros_like(centres)
        np.add.at(sums, nearest, vectors)
        centres = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)
        again = (vectors @ centres.T).argmax(axis=1)
        if (again == nearest).all():
            break
        nearest = again
    return centres, float((vectors @ centres.T).max(axis=1).sum())
