"""Vectors of texts: one vector per token, or one sparse vector per text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Matrix: TypeAlias = npt.NDArray[np.float32]
    Whole: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True)
class TokenVectors:
    """The token vectors of some texts, one text after the other."""

    rows: Matrix
    """Vectors; shape (tokens of all texts, dimension)."""
    lengths: Whole
    """Number of tokens per text; shape (texts,)."""

    @classmethod
    def of(cls, texts: Sequence[Matrix], dimension: int) -> TokenVectors:
        """Return the vectors of several texts, given arrays of shape (tokens, dimension).

        >>> found = TokenVectors.of([np.ones((2, 3)), np.ones((0, 3)), np.ones((1, 3))], 3)
        >>> found.rows.shape, found.lengths.tolist(), found.of_text(2).tolist()
        ((3, 3), [2, 0, 1], [[1.0, 1.0, 1.0]])
        """
        rows = [np.zeros((0, dimension), dtype=np.float32), *texts]
        lengths = np.array([len(text) for text in texts], dtype=np.int64)
        return cls(np.concatenate(rows, dtype=np.float32), lengths)

    def of_text(self, place: int) -> Matrix:
        """Return the vectors of one text; shape (tokens, dimension)."""
        return self.rows[self.starts[place] : self.starts[place + 1]]

    @cached_property
    def starts(self) -> Whole:
        """Start of each text, and the end of the last; shape (texts + 1,)."""
        return np.concatenate([[0], np.cumsum(self.lengths, dtype=np.int64)])


@dataclass(frozen=True, slots=True)
class SparseVectors:
    """Sparse vectors in CSR layout: row n has `weights[starts[n]:starts[n + 1]]`.

    `starts` has shape (rows + 1,). `words` (numbers in the encoder's vocabulary, each at most once
    per row) and `weights` (above 0) have shape (entries,).
    """

    starts: npt.NDArray[np.int64]
    words: npt.NDArray[np.int32]
    weights: npt.NDArray[np.float32]

    @classmethod
    def from_rows(cls, rows: Sequence[Mapping[int, float]]) -> SparseVectors:
        """Return the vectors of rows given as word -> weight.

        >>> SparseVectors.from_rows([{7: 1.0}, {}, {2: 0.5, 9: 0.25}]).starts.tolist()
        [0, 1, 1, 3]
        """
        return cls(
            np.cumsum([0, *map(len, rows)], dtype=np.int64),
            np.array([word for row in rows for word in row], dtype=np.int32),
            np.array([weight for row in rows for weight in row.values()], dtype=np.float32),
        )

    @classmethod
    def of_parts(
        cls, words: Sequence[npt.NDArray[np.int32]], weights: Sequence[npt.NDArray[np.float32]]
    ) -> SparseVectors:
        """Return the vectors of rows given as arrays of words and arrays of weights."""
        return cls(
            np.cumsum([0, *map(len, words)], dtype=np.int64),
            np.concatenate([np.zeros(0, dtype=np.int32), *words]),
            np.concatenate([np.zeros(0, dtype=np.float32), *weights]),
        )

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.starts) - 1

    def slice(self, start: int, stop: int) -> SparseVectors:
        """Return rows `start` up to `stop`.

        >>> list(SparseVectors.from_rows([{7: 1.0}, {}, {2: 0.5, 9: 0.25}]).slice(1, 3).rows())
        [{}, {2: 0.5, 9: 0.25}]
        """
        starts = self.starts[start : stop + 1]
        entries = slice(starts[0], starts[-1])
        return SparseVectors(starts - starts[0], self.words[entries], self.weights[entries])

    def rows(self) -> Iterator[dict[int, float]]:
        """Yield word -> weight of each row."""
        for start, stop in zip(self.starts[:-1], self.starts[1:], strict=True):
            words, weights = self.words[start:stop].tolist(), self.weights[start:stop].tolist()
            yield dict(zip(words, weights, strict=True))
