"""Vectors as they are stored: in 32, 16 or 8 bits per number, in memory or in mapped files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import numpy as np

from ragstone.errors import ConfigError

if TYPE_CHECKING:
    import numpy.typing as npt

    Matrix: TypeAlias = npt.NDArray[np.float32]

Precision: TypeAlias = Literal["float32", "float16", "int8"]

_LEVELS: Final = 127


def row_type(precision: Precision, dimension: int) -> np.dtype[Any]:
    """Return the type of one stored vector.

    In 8 bits a vector is stored as whole steps, followed by the length of its step.

    >>> row_type("int8", 384).itemsize, row_type("float16", 384).itemsize
    (388, 768)
    """
    if precision == "int8":
        return np.dtype([("steps", "<i1", (dimension,)), ("step", "<f4")])
    return np.dtype(("<f4" if precision == "float32" else "<f2", (dimension,)))


def encode(vectors: Matrix, precision: Precision) -> npt.NDArray[Any]:
    """Return vectors of shape (n, dimension) as they are stored.

    Raises:
        ConfigError: a number is above 65,504, the maximum in 16 bits.
    """
    if precision == "float32":
        return np.ascontiguousarray(vectors, dtype="<f4")
    if precision == "float16":
        largest = np.abs(vectors).max(initial=0)
        if largest > np.finfo(np.float16).max:
            raise ConfigError(
                f"a vector contains {largest:g}, above 65,504, the maximum of precision float16; "
                "use precision: float32 or int8"
            )
        return vectors.astype("<f2")
    rows = np.zeros(len(vectors), dtype=row_type(precision, vectors.shape[1]))
    step = np.abs(vectors).max(axis=1, initial=0) / _LEVELS
    rows["step"] = step
    rows["steps"] = np.rint(vectors / np.where(step > 0, step, 1)[:, None])
    return rows


def decode(rows: npt.NDArray[Any], kind: type[np.floating[Any]]) -> npt.NDArray[Any]:
    """Return stored vectors as numbers, of shape (n, dimension); float32 without a copy."""
    if rows.dtype.names is None:
        return rows.astype(kind, copy=False)
    numbers: npt.NDArray[Any] = np.multiply(rows["steps"], rows["step"][:, None], dtype=kind)
    return numbers


def longest(rows: npt.NDArray[Any]) -> float:
    """Return the length of the longest stored vector."""
    return float(np.linalg.norm(decode(rows, np.float64), axis=1).max(initial=0))


@dataclass(frozen=True)
class Vectors:
    """The stored vectors of a corpus, in its order."""

    parts: Sequence[npt.NDArray[Any]]
    """Stored vectors in order: the mapped parts of files, or one array."""
    dimension: int
    longest: float
    """The length of the longest vector."""

    def __len__(self) -> int:
        """Return the number of vectors."""
        return int(self._ends[-1]) if len(self.parts) else 0

    @property
    def in_32_bits(self) -> bool:
        """Whether the stored numbers are multiplied as they are."""
        return len(self.parts) > 0 and self.parts[0].dtype == np.float32

    def slice(self, start: int, stop: int) -> Matrix:
        """Return the vectors at positions `start` up to `stop` in 32 bits."""
        found = [np.zeros((0, self.dimension), dtype=np.float32)]
        while start < min(stop, len(self)):
            found.append(self.rough(start, stop - start))
            start += len(found[-1])
        return np.concatenate(found)

    def rough(self, start: int, most: int) -> Matrix:
        """Return up to `most` vectors from position `start` on in 32 bits, at least one."""
        part = int(np.searchsorted(self._ends, start, side="right"))
        place = start - self._starts[part]
        return decode(self.parts[part][place : place + most], np.float32)

    def exact(self, places: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.float64]:
        """Return the vectors at some positions in 64 bits."""
        return decode(self.stored(places), np.float64)

    def stored(self, places: npt.NDArray[np.integer[Any]]) -> npt.NDArray[Any]:
        """Return the vectors at some positions as they are stored."""
        if len(self.parts) == 1:
            alone: npt.NDArray[Any] = self.parts[0][places]
            return alone
        if not len(self.parts):
            return np.zeros((0, self.dimension), dtype=np.float32)
        parts = np.searchsorted(self._ends, places, side="right")
        found = np.empty((len(places), *self.parts[0].shape[1:]), dtype=self.parts[0].dtype)
        for part in np.unique(parts):
            here = parts == part
            found[here] = self.parts[part][places[here] - self._starts[part]]
        return found

    @cached_property
    def _ends(self) -> npt.NDArray[np.int64]:
        return np.cumsum([len(part) for part in self.parts], dtype=np.int64)

    @cached_property
    def _starts(self) -> npt.NDArray[np.int64]:
        return np.concatenate([np.zeros(1, dtype=np.int64), self._ends[:-1]])
