"""Merging the indexes of parts of a corpus into one, with little memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, TypeAlias

import numpy as np

from ragstone.indexes.inverted import Postings, highest_of, starts_of

if TYPE_CHECKING:
    import numpy.typing as npt

    Integers: TypeAlias = npt.NDArray[np.integer[Any]]
    Floats: TypeAlias = npt.NDArray[np.float32]
    Reweigh: TypeAlias = Callable[[Integers, Integers, Integers], Floats]
    """Terms, places and stored weights of some postings -> their weights in the index."""

_BLOCK: Final = 2_000_000
"""Postings merged at a time: about 100 MB with the intermediate arrays."""


@dataclass(frozen=True)
class Part:
    """The index of some of the documents."""

    source: Postings | Path
    """The index, or its folder, which is then open only while it is read."""
    first: int
    """Number of its first document among all documents."""
    terms: Integers | None = None
    """Numbers of its terms in the merged index, ascending; None if they are the same."""

    @property
    def postings(self) -> Postings:
        """The index."""
        return Postings.load(self.source) if isinstance(self.source, Path) else self.source


def merge(
    parts: Sequence[Part],
    length: int,
    counts: Integers,
    *,
    reweigh: Reweigh | None = None,
    folder: Path | None = None,
) -> Postings:
    """Return one index of the documents of all parts.

    Args:
        parts: the parts, in the order of their documents.
        length: total number of documents.
        counts: number of documents that contain each term of the merged index, see `held`.
        reweigh: function from the weight in a part to the weight in the merged index.
        folder: folder to which the index is written block by block; None makes it in memory.
    """
    starts = starts_of(counts)
    highest = np.zeros(len(counts), dtype=np.float32)
    with ExitStack() as open_files:
        places = _Sink(open_files, folder, "places", int(starts[-1]), np.dtype(np.uint32))
        weights = _Sink(open_files, folder, "weights", int(starts[-1]), np.dtype(np.float32))
        for low, high in _blocks(starts):
            found, kept = _block(parts, starts, low, high)
            if reweigh is not None:
                terms = np.repeat(np.arange(low, high), counts[low:high])
                kept = reweigh(terms, found, kept)
            highest[low:high] = highest_of(starts[low : high + 1] - starts[low], kept)
            places.write(found)
            weights.write(kept)
    if folder is None:
        return Postings(length, starts, places.array, weights.array, highest)
    np.save(folder / "length.npy", np.int64(length))
    np.save(folder / "starts.npy", starts)
    np.save(folder / "highest.npy", highest)
    return Postings.load(folder)


def held(parts: Sequence[Part], vocabulary: int) -> Integers:
    """Return the number of documents of the parts that contain each term of a vocabulary."""
    counts = np.zeros(vocabulary, dtype=np.int64)
    for part in parts:
        own = np.diff(part.postings.starts)
        if part.terms is None:
            counts += own
        else:
            counts[part.terms] += own
    return counts


def _blocks(starts: Integers) -> Iterator[tuple[int, int]]:
    """Yield ranges of terms with about `_BLOCK` postings, or one term that has more."""
    low, last = 0, len(starts) - 1
    while low < last:
        high = int(np.searchsorted(starts, starts[low] + _BLOCK, side="right")) - 1
        high = min(max(high, low + 1), last)
        yield low, high
        low = high


def _block(
    parts: Sequence[Part], starts: Integers, low: int, high: int
) -> tuple[Integers, npt.NDArray[Any]]:
    """Return places and stored weights of the terms from `low` up to `high`."""
    total = int(starts[high] - starts[low])
    places = np.empty(total, dtype=np.uint32)
    weights = np.empty(total, dtype=np.float32)
    ends = starts[low:high] - starts[low]
    for part in parts:
        postings = part.postings
        if part.terms is None:
            begin, end = low, high
            terms: Integers = np.arange(high - low)
        else:
            begin, end = (int(n) for n in np.searchsorted(part.terms, [low, high]))
            terms = part.terms[begin:end] - low
        own = np.asarray(postings.starts[begin : end + 1])
        counts = np.diff(own)
        inside = slice(int(own[0]), int(own[-1]))
        # A list's postings are put behind those of the parts before, in that list.
        to = np.arange(inside.stop - inside.start) + np.repeat(
            ends[terms] - (own[:-1] - own[0]), counts
        )
        places[to] = postings.places[inside] + np.uint32(part.first)
        weights[to] = postings.weights[inside]
        ends[terms] += counts
    return places, weights


class _Sink:
    """An array that is written from its start to its end, to a file or to memory."""

    def __init__(
        self,
        open_files: ExitStack,
        folder: Path | None,
        name: str,
        length: int,
        kind: np.dtype[Any],
    ) -> None:
        self.kind = kind
        self.file: BinaryIO | None = None
        if folder is None:
            self.array: npt.NDArray[Any] = np.empty(length, dtype=kind)
            self.done = 0
        else:
            self.file = open_files.enter_context((folder / f"{name}.npy").open("wb"))
            header = {"descr": kind.str, "fortran_order": False, "shape": (length,)}
            np.lib.format.write_array_header_1_0(self.file, header)

    def write(self, values: npt.NDArray[Any]) -> None:
        """Add values at the end."""
        if self.file is not None:
            self.file.write(values.astype(self.kind, copy=False).data)
        else:
            self.array[self.done : self.done + len(values)] = values
            self.done += len(values)
