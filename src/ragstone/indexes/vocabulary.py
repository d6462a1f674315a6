"""Words and their numbers, as two arrays that can be memory maps."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ragstone.indexes.inverted import starts_of

if TYPE_CHECKING:
    import numpy.typing as npt

_SEARCHED: Final = 100
"""All words are read if more than one in 100 of them is looked up."""
_WHOLE: Final = 1_000_000
"""Number of words above which they are never all read: they would take 150 MB."""


@dataclass(frozen=True)
class Vocabulary:
    """Distinct words in the order of their code points; a word's number is its place.

    >>> vocabulary = Vocabulary.of(["bird", "fish"])
    >>> vocabulary.find({"fish", "cat"})
    {'fish': 1}
    """

    text: npt.NDArray[np.uint8]
    """All words in UTF-8, one after another."""
    starts: npt.NDArray[np.integer[Any]]
    """Start of each word in `text`, and the end of the last."""

    @classmethod
    def of(cls, ordered: Sequence[str]) -> Vocabulary:
        """Return the vocabulary of some words that are in order."""
        encoded = [word.encode() for word in ordered]
        lengths = np.fromiter(map(len, encoded), np.int64, len(encoded))
        return cls(np.frombuffer(b"".join(encoded), dtype=np.uint8), starts_of(lengths))

    @classmethod
    def load(cls, folder: Path) -> Vocabulary:
        """Return the vocabulary in a folder."""
        arrays = (
            np.load(folder / f"word_{name}.npy", mmap_mode="r") for name in ("text", "starts")
        )
        return cls(*(array.view(np.ndarray) for array in arrays))

    def save(self, folder: Path) -> None:
        """Write the vocabulary into a folder that exists."""
        np.save(folder / "word_text.npy", self.text)
        np.save(folder / "word_starts.npy", self.starts)

    def __len__(self) -> int:
        """Return the number of words."""
        return len(self.starts) - 1

    def words(self) -> list[str]:
        """Return all words, in order."""
        text, starts = self.text.tobytes(), self.starts.tolist()
        return [text[start:stop].decode() for start, stop in pairwise(starts)]

    def find(self, words: Collection[str]) -> dict[str, int]:
        """Return the numbers of some words; unknown words are left out."""
        if len(self) <= _WHOLE and (len(words) * _SEARCHED > len(self) or self._read):
            if not self._read:
                self._read.update(zip(self.words(), range(len(self)), strict=True))
            return {word: self._read[word] for word in words if word in self._read}
        places = ((word, self._place(word.encode())) for word in words)
        return {word: place for word, place in places if place is not None}

    @cached_property
    def _read(self) -> dict[str, int]:
        """All words and their numbers, once they have been read."""
        return {}

    def _place(self, word: bytes) -> int | None:
        place = bisect_left(range(len(self)), word, key=self._word)
        return place if place < len(self) and self._word(place) == word else None

    def _word(self, place: int) -> bytes:
        return self.text[self.starts[place] : self.starts[place + 1]].tobytes()
