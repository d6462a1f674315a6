"""The places of ids by 64-bit hashes: many ids as objects would fill memory.

Two different ids have one hash with a probability of 2^-64.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from arro3.core import Table
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]


def numbered(values: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the different values in ascending order, their numbers, and the number of each value.

    Numbers are from 0, by first appearance.

    >>> [part.tolist() for part in numbered(np.array([7, 3, 7, 5]))]
    [[3, 5, 7], [1, 2, 0], [0, 1, 0, 2]]
    """
    different, first, members = np.unique(values, return_index=True, return_inverse=True)
    numbers = np.argsort(np.argsort(first))
    return different, numbers, numbers[members]


@dataclass(frozen=True)
class HashedIds:
    """The place of each id among the different ids of some rows, by first appearance."""

    hashes: Ints
    """In ascending order."""
    places: Ints

    @classmethod
    def of(cls, blocks: Iterable[Table]) -> tuple[Self, Ints]:
        """Return the query ids of the rows of a table, and the place of each row's id."""
        hashes, places, of_rows = numbered(
            np.concatenate([np.zeros(0, np.int64), *map(hashes_of, blocks)])
        )
        return cls(hashes, places), of_rows

    def known(self, hashes: Ints) -> tuple[Ints, Ints]:
        """Return the positions of the ids that are among these, and their places."""
        if not len(self.hashes):
            return self.places, self.places
        at = np.minimum(np.searchsorted(self.hashes, hashes), len(self.hashes) - 1)
        known = np.flatnonzero(self.hashes[at] == hashes)
        return known, self.places[at[known]]

    def find(self, name: object) -> int | None:
        """Return the place of an id; None if it is not among these."""
        wanted = hash(name)
        at = self.hashes.searchsorted(wanted)
        found = at < len(self.hashes) and self.hashes[at] == wanted
        return int(self.places[at]) if found else None


def hashes_of(block: Table) -> Ints:
    """Return the hashes of the query ids of some rows."""
    ids = block.column("query_id").to_pylist()
    return np.fromiter(map(hash, ids), np.int64, len(ids))
