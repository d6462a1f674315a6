"""Counting the words of many passages at once: the same words as `words`, in less time.

Lower case and the split at ASCII spaces and punctuation are done on the bytes of many passages
together; each distinct piece between two separators is looked at once. A piece of ASCII is a word.
Any other piece is split by `words` itself, in which a word never crosses a separator.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ragstone.indexes.inverted import Postings, starts_of
from ragstone.indexes.vocabulary import Vocabulary
from ragstone.text.words import PLAIN, normal, split

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragstone.text.analyzer import Analysis

    Integers = npt.NDArray[np.integer[Any]]

_MARK: Final = b"\xff"
"""Mark between two passages: a byte that no text in UTF-8 contains."""
_BETWEEN: Final = -1
"""The number of the mark; lower numbers are those of pieces with several words or none."""
_CHUNK: Final = 2_000_000
"""Bytes split at a time, since their pieces are Python objects for a moment."""


@dataclass(frozen=True)
class Counted:
    """The words of some passages, with their counts in each passage."""

    words: list[str]
    """The distinct words, in the order of their characters' code points."""
    lengths: npt.NDArray[np.uint32]
    """Number of words of each passage, repeated words included."""
    postings: Postings
    """The passages that contain each of `words`; the weights are the counts."""

    @classmethod
    def load(cls, folder: Path) -> Counted:
        """Return the counts in a folder."""
        words = Vocabulary.load(folder).words()
        return cls(words, np.load(folder / "lengths.npy"), Postings.load(folder))

    def save(self, folder: Path) -> None:
        """Write the counts into a folder that exists."""
        self.postings.save(folder)
        Vocabulary.of(self.words).save(folder)
        np.save(folder / "lengths.npy", self.lengths)


def count_words(texts: Iterable[str], analysis: Analysis) -> Counted:
    """Return the words of some passages, counted.

    >>> from ragstone.text.analyzer import Analysis
    >>> found = count_words(["Red fish", "blue fish, FISH!"], Analysis())
    >>> found.words, found.lengths.tolist(), found.postings.weights.tolist()
    (['blue', 'fish', 'red'], [2, 3], [1, 1, 2, 1])
    """
    numbering = Numbering(analysis)
    chunks, lengths = [], []
    for chunk in _chunks(texts):
        numbers, counts = numbering.numbers(chunk)
        chunks.append(numbers)
        lengths.append(counts)
    whole = np.concatenate([np.zeros(0, np.int32), *chunks])
    counts = np.concatenate([np.zeros(0, np.int64), *lengths])
    ordered = sorted(numbering.words)
    order = np.empty(len(ordered), dtype=np.int64)
    order[[numbering.words[word] for word in ordered]] = np.arange(len(ordered))
    return Counted(ordered, counts.astype(np.uint32), _invert(order[whole], counts, len(ordered)))


class Numbering(dict[bytes, int]):
    """Piece of a text -> its number, assigned at the first look-up."""

    def __init__(self, analysis: Analysis) -> None:
        super().__init__({_MARK: _BETWEEN})
        self.analysis = analysis
        self.words: dict[str, int] = {}
        """Word -> number, from 0."""
        self.several: list[list[int]] = []
        """The words of the pieces numbered -2, -3, ... that are not exactly one word."""

    def __missing__(self, piece: bytes) -> int:
        """Return the number of a new piece."""
        text = piece.decode()
        found = self.analysis.kept([text] if piece.isascii() else split(text))
        numbers = [self.words.setdefault(word, len(self.words)) for word in found]
        if len(numbers) == 1:
            self[piece] = numbers[0]
        else:
            self.several.append(numbers)
            self[piece] = _BETWEEN - len(self.several)
        return self[piece]

    def numbers(self, chunk: Sequence[bytes]) -> tuple[Integers, Integers]:
        """Return the numbers of the words of some passages, and the number of words of each."""
        pieces = (b" " + _MARK + b" ").join([*chunk, b""]).translate(PLAIN).split()
        found: Integers = np.fromiter(map(self.__getitem__, pieces), np.int32, len(pieces))
        if self.several:
            found = self._spread(found)
        ends = np.flatnonzero(found == _BETWEEN)
        return found[found != _BETWEEN], np.diff(ends, prepend=-1) - 1

    def _spread(self, found: Integers) -> Integers:
        """Return the numbers with each piece that is not one word replaced by its words."""
        places = np.flatnonzero(found < _BETWEEN)
        if not len(places):
            return found
        which = (_BETWEEN - 1) - found[places]
        counts = np.ones(len(found), dtype=np.int64)
        counts[places] = np.array([len(numbers) for numbers in self.several])[which]
        spread = np.repeat(found, counts)
        inside = np.repeat(found < _BETWEEN, counts)
        spread[inside] = [number for n in which.tolist() for number in self.several[n]]
        return spread


def _chunks(texts: Iterable[str]) -> Iterator[list[bytes]]:
    """Yield normalised passages in UTF-8, some megabytes at a time."""
    chunk: list[bytes] = []
    held = 0
    for text in texts:
        chunk.append(text.encode() if text.isascii() else normal(text).encode("utf-8", "replace"))
        held += len(chunk[-1])
        if held >= _CHUNK:
            yield chunk
            chunk, held = [], 0
    if chunk:
        yield chunk


def _invert(numbers: Integers, lengths: Integers, vocabulary: int) -> Postings:
    """Return the passages that contain each word, with its count in each."""
    bits = max(1, (len(lengths) - 1).bit_length())
    keys = numbers << bits
    keys |= np.repeat(np.arange(len(lengths)), lengths)
    keys.sort()
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    counts = np.diff(first, append=len(keys))
    held = np.bincount(keys[first] >> bits, minlength=vocabulary)
    places = (keys[first] & ((1 << bits) - 1)).astype(np.uint32)
    kind = np.min_scalar_type(int(counts.max(initial=0)))
    return Postings.of_lists(len(lengths), starts_of(held), places, counts.astype(kind))
