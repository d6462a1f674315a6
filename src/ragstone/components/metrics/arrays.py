"""Array types and functions that metrics share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Values = npt.NDArray[np.float64]
    Ints = npt.NDArray[np.int64]
    Flags = npt.NDArray[np.bool_]
    Codes = npt.NDArray[np.uint64]
    Vectors = npt.NDArray[np.float32]


def ratio(parts: Values | Ints, wholes: Values | Ints) -> Values:
    """Return parts / wholes, 0 if the whole is 0 or less."""
    return np.divide(parts, wholes, out=np.zeros(len(parts)), where=wholes > 0)


def within(group: Ints, counts: Ints) -> Ints:
    """Return each entry's position in its group, from 0; entries are sorted by group.

    >>> within(np.array([0, 0, 2]), np.array([2, 0, 1])).tolist()
    [0, 1, 0]
    """
    starts = np.cumsum(counts) - counts
    place: Ints = np.arange(len(group)) - starts[group]
    return place


def positions(flags: Flags) -> list[int]:
    """Return the positions of the flags that are set."""
    found: list[int] = np.flatnonzero(flags).tolist()
    return found
