"""An inverted index over weighted terms: for each term, the documents that hold it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from ragstone.errors import ConfigError
from ragstone.indexes.list_search import search

if TYPE_CHECKING:
    import numpy.typing as npt

    Integers: TypeAlias = npt.NDArray[np.integer[Any]]
    Numbers: TypeAlias = npt.NDArray[np.number[Any]]

FILES: Final = ("starts", "places", "weights", "highest")
_ROWS_BYTES: Final = 64_000_000
"""Memory for frequent terms written out as one weight per document."""
_FREQUENT: Final = 32
"""A term is frequent where one document in so many holds it."""


@dataclass(frozen=True)
class Postings:
    """Which documents hold a term, and how much it counts there; documents are numbered from 0.

    Term `t` stands in the documents `places[starts[t]:starts[t + 1]]`, ascending, with the
    `weights` at the same positions, all above 0. The score of a document for a query is the sum,
    over the query's terms, of the term's weight in the query times its weight in the document.

    >>> index = Postings.of_rows(
    ...     np.array([0, 2, 3]), np.array([4, 1, 4]), np.array([1.0, 0.5, 2.0]), vocabulary=5
    ... )
    >>> [found.tolist() for found in index.search([4, 1], [1.0, 3.0], top_k=10)]
    [[0, 1], [2.5, 2.0]]
    """

    length: int
    """Number of documents, with those that hold no term."""
    starts: Integers
    places: Integers
    weights: Numbers
    highest: Numbers
    """The highest weight of each term; 0 where no document holds it."""

    @classmethod
    def of_lists(
        cls, length: int, starts: Integers, places: Integers, weights: Numbers
    ) -> Postings:
        """Return the index whose lists are given, as the class describes them."""
        return cls(length, starts, places, weights, highest_of(starts, weights))

    @classmethod
    def of_rows(
        cls, starts: Integers, terms: Integers, weights: Numbers, *, vocabulary: int
    ) -> Postings:
        """Return the index of documents given row by row.

        Args:
            starts: of shape (documents + 1,): document n holds `terms[starts[n]:starts[n + 1]]`.
            terms: numbers from 0 to `vocabulary` - 1, each at most once a document.
            weights: one for each of `terms`, above 0; kept in their own type.
            vocabulary: number of terms that there are.
        """
        length = len(starts) - 1
        documents = np.repeat(np.arange(length, dtype=np.uint32), np.diff(starts))
        order = np.argsort(terms, kind="stable")
        counts = np.bincount(terms, minlength=vocabulary)
        return cls.of_lists(length, starts_of(counts), documents[order], weights[order])

    @classmethod
    def load(cls, folder: Path) -> Postings:
        """Return the index kept in a folder; its arrays are read as they are needed."""
        arrays = [np.load(folder / f"{name}.npy", mmap_mode="r") for name in FILES]
        length = int(np.load(folder / "length.npy"))
        # A slice of a memory map's own class takes ten times as long as an array's.
        return cls(length, *(array.view(np.ndarray) for array in arrays))

    def save(self, folder: Path) -> None:
        """Write the index into a folder that exists."""
        np.save(folder / "length.npy", np.int64(self.length))
        for name in FILES:
            np.save(folder / f"{name}.npy", getattr(self, name), allow_pickle=False)

    def search(
        self, terms: Sequence[int], weights: Sequence[float], top_k: int
    ) -> tuple[Integers, Numbers]:
        """Return the best documents and their scores (float32), best first, equal ones by place.

        Args:
            terms: the query's terms: numbers from 0 to the size of the vocabulary - 1.
            weights: how much each counts, from 0.
            top_k: number of documents at most; those that hold none of the terms are left out.
        """
        if len(weights) != len(terms) or not all(weight >= 0 for weight in weights):
            raise ConfigError("a query needs one weight per term, each 0 or more")
        return search(self, terms, weights, top_k)

    def row(self, term: int) -> Numbers | None:
        """Return a frequent term's weight in every document; None for any other term."""
        found = self._rows.get(term)
        if found is None:
            part = slice(self.starts[term], self.starts[term + 1])
            rare = (part.stop - part.start) * _FREQUENT < self.length
            if rare or (len(self._rows) + 1) * self.length * 4 > _ROWS_BYTES:
                return None
            found = np.zeros(self.length, dtype=np.float32)
            found[self.places[part]] = self.weights[part]
            self._rows[term] = found
        return found

    @cached_property
    def _rows(self) -> dict[int, Numbers]:
        return {}

    @cached_property
    def _own(self) -> threading.local:
        return threading.local()

    def zeros(self, kind: type[np.floating[Any]]) -> Numbers:
        """Return this thread's zeros, one per document; whoever writes there cleans up."""
        found: Numbers | None = getattr(self._own, kind.__name__, None)
        if found is None:
            found = np.zeros(self.length, dtype=kind)
            setattr(self._own, kind.__name__, found)
        return found


def starts_of(counts: Integers) -> npt.NDArray[np.int64]:
    """Return where each of some lists starts when they stand one after another, and the end.

    >>> starts_of(np.array([2, 0, 1])).tolist()
    [0, 2, 2, 3]
    """
    starts = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=starts[1:])
    return starts


def highest_of(starts: Integers, weights: Numbers) -> Numbers:
    """Return the highest of each list's weights, 0 for an empty list."""
    highest = np.zeros(len(starts) - 1, dtype=weights.dtype)
    held = np.flatnonzero(np.diff(starts))
    if len(held):
        highest[held] = np.maximum.reduceat(weights, starts[held])
    return highest
