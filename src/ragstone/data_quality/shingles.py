"""Near-duplicates by MinHash (Broder, 1997) and banded buckets, in numpy.

A text is the set of its shingles: runs of words, or of characters for short texts. 64 minima per
text estimate the Jaccard similarity of two sets. Texts that share a band of 4 minima become
candidates, whose similarity is then computed exactly. A pair of similarity 0.8 is missed with
probability 0.0002; one of 0.5 becomes a candidate with probability 0.64.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ragstone.core import limits
from ragstone.text.normalise import UNSPACED_CHARACTER

_WORD: Final = re.compile(r"\w+")
_MIX: Final = np.uint64(0x9E3779B97F4A7C15)
_MINIMA, _BAND = 64, 4

Hashes = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two texts by position, the earlier one first, and the Jaccard similarity of their sets."""

    first: int
    second: int
    similarity: float


@dataclass(frozen=True)
class ShingleSets:
    """The distinct shingles of every text, sorted, one after the other."""

    hashes: Hashes
    starts: NDArray[np.int64]
    """Start of each text's shingles, and the end of the last; shape (n + 1,)."""

    def of(self, place: int) -> Hashes:
        """Return the shingles of one text."""
        return self.hashes[self.starts[place] : self.starts[place + 1]]

    def first(self, count: int) -> ShingleSets:
        """Return the sets of the first texts, without a copy."""
        return ShingleSets(self.hashes[: self.starts[count]], self.starts[: count + 1])

    def take(self, places: Sequence[int]) -> ShingleSets:
        """Return the sets of some texts, in this order."""
        chosen = [self.of(place) for place in places]
        sizes = np.array([0, *map(len, chosen)], np.int64)
        empty = np.zeros(0, np.uint64)
        return ShingleSets(np.concatenate(chosen) if chosen else empty, np.cumsum(sizes))


def word_shingles(texts: Iterable[str], size: int = 5) -> ShingleSets:
    """Return the sets of runs of `size` words; a shorter text is one run.

    Case and punctuation are ignored. In scripts without spaces a character is a word.
    """
    known: dict[str, int] = {}
    return _sets(
        (_numbered(_WORD.findall(_spaced(text.lower())), known) for text in texts), size=size
    )


def character_shingles(texts: Iterable[str], size: int = 4) -> ShingleSets:
    """Return the sets of runs of `size` characters of the words joined by single blanks."""
    joined = (" ".join(_WORD.findall(text.lower())) for text in texts)
    codes = (np.array(list(map(ord, text)), np.uint64) for text in joined)
    return _sets(map(_mixed, codes), size=size)


def _spaced(text: str) -> str:
    return text if text.isascii() else UNSPACED_CHARACTER.sub(r" \g<0> ", text)


def _numbered(words: Sequence[str], known: dict[str, int]) -> Hashes:
    return _mixed(np.array([known.setdefault(w, len(known) + 1) for w in words], np.uint64))


def _sets(sequences: Iterable[Hashes], size: int) -> ShingleSets:
    found, starts = [], [0]
    for sequence in sequences:
        hashes = np.unique(_runs(sequence, size)) if len(sequence) else sequence
        found.append(hashes)
        starts.append(starts[-1] + len(hashes))
    empty = np.zeros(0, np.uint64)
    return ShingleSets(np.concatenate(found) if found else empty, np.array(starts, np.int64))


def _runs(sequence: Hashes, size: int) -> Hashes:
    """Hash every run of `size` items, in 64-bit arithmetic that wraps round."""
    length = max(len(sequence) - size + 1, 1)
    hashed = np.zeros(length, np.uint64)
    for offset in range(min(size, len(sequence))):
        hashed = (hashed ^ sequence[offset : offset + length]) * _MIX
    return _mixed(hashed)


def _mixed(values: Hashes) -> Hashes:
    mixed = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    return np.asarray(mixed ^ (mixed >> np.uint64(27)))


def near_pairs(sets: ShingleSets, least: float) -> list[Pair]:
    """Return the pairs of texts with a similarity of at least `least`, most similar first.

    Texts without a shingle are skipped.

    >>> texts = ["one two three four five six", "ONE two three, four five six!", "seven eight"]
    >>> near_pairs(word_shingles(texts), 0.8)
    [Pair(first=0, second=1, similarity=1.0)]
    """
    candidates = sorted({pair for bucket in _buckets(sets) for pair in _within(bucket)})
    found = [Pair(a, b, _jaccard(sets.of(a), sets.of(b))) for a, b in candidates]
    kept = [pair for pair in found if pair.similarity >= least]
    return sorted(kept, key=lambda pair: (-pair.similarity, pair.first, pair.second))


def contained_pairs(inner: ShingleSets, outer: ShingleSets, least: float = 1.0) -> list[Pair]:
    """Return the texts of `inner` of which a share of at least `least` is in one of `outer`.

    `first` is the position in `inner`, `second` in `outer`; `similarity` is the share of the
    shingles of the first that the second has. Both must have been numbered together. A text is
    looked up by its smallest and by its largest shingle, unless many texts have it.

    >>> sets = word_shingles(["a b c d e f g", "x a b c d e f g y", "b c d e f g h"])
    >>> contained_pairs(sets.take([0]), sets)
    [Pair(first=0, second=0, similarity=1.0), Pair(first=0, second=1, similarity=1.0)]
    """
    filled = np.flatnonzero(np.diff(inner.starts))
    if not len(filled) or not len(outer.hashes):
        return []
    firsts = inner.hashes[inner.starts[filled]]
    lasts = inner.hashes[inner.starts[filled + 1] - 1]
    owners = _owners(outer, np.unique(np.concatenate([firsts, lasts])))
    found = []
    for place, first, last in zip(filled.tolist(), firsts.tolist(), lasts.tolist(), strict=True):
        own = inner.of(place)
        for other in sorted(owners.get(first, set()) | owners.get(last, set())):
            shared = len(np.intersect1d(own, outer.of(other), assume_unique=True)) / len(own)
            if shared >= least:
                found.append(Pair(place, other, shared))
    return found


def _owners(sets: ShingleSets, wanted: Hashes) -> dict[int, set[int]]:
    """Return shingle -> positions of the texts that have it, for shingles that few texts have."""
    found: dict[int, set[int]] = {}
    for start in range(0, len(sets.hashes), limits.TABLE_BATCH_ROWS):
        part = sets.hashes[start : start + limits.TABLE_BATCH_ROWS]
        near = np.minimum(np.searchsorted(wanted, part), len(wanted) - 1)
        hits = np.flatnonzero(wanted[near] == part)
        texts = np.searchsorted(sets.starts, hits + start, side="right") - 1
        for shingle, text in zip(part[hits].tolist(), texts.tolist(), strict=True):
            held = found.setdefault(shingle, set())
            if len(held) <= limits.MAX_BUCKET_TEXTS:
                held.add(text)
    return {name: held for name, held in found.items() if len(held) <= limits.MAX_BUCKET_TEXTS}


def _buckets(sets: ShingleSets) -> Iterator[list[int]]:
    """Yield the positions of texts that share a band of minima."""
    filled = np.flatnonzero(np.diff(sets.starts))
    if len(filled) < 2:  # noqa: PLR2004 - a pair is two
        return
    generator = np.random.default_rng(0)
    for _ in range(_MINIMA // _BAND):
        band = np.zeros(len(filled), np.uint64)
        for _ in range(_BAND):
            odd, salt = generator.integers(1 << 62, size=2).astype(np.uint64)
            # The shingles are mixed already, so a product alone gives a new order.
            shuffled = (sets.hashes ^ salt) * (odd * np.uint64(2) + np.uint64(1))
            minima = np.minimum.reduceat(shuffled, sets.starts[filled])
            band = (band ^ _mixed(minima)) * _MIX
        order = np.argsort(band, kind="stable")
        starts = np.concatenate([[0], np.flatnonzero(np.diff(band[order])) + 1, [len(order)]])
        for place in np.flatnonzero(np.diff(starts) > 1):
            yield [int(i) for i in filled[order[starts[place] : starts[place + 1]]]]


def _within(bucket: list[int]) -> Iterator[tuple[int, int]]:
    # In a larger bucket each text is compared with the first one only.
    is_large = len(bucket) > limits.MAX_BUCKET_TEXTS
    return ((bucket[0], other) for other in bucket[1:]) if is_large else combinations(bucket, 2)


def _jaccard(a: Hashes, b: Hashes) -> float:
    shared = len(np.intersect1d(a, b, assume_unique=True))
    return shared / (len(a) + len(b) - shared)
