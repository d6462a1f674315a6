"""Ranks and groups of systems: systems that no test separates share them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ragstone.types import one_line

Better: TypeAlias = Iterable[tuple[str, str]]
"""Pairs (better system, worse system) of the significant differences."""


@dataclass(frozen=True, slots=True)
class Place:
    """The place of one system under one metric."""

    rank: tuple[int, int]
    """From 1 plus the number of better systems to the number of systems that are not worse."""
    group: int
    """1 for the best system and those that no test separates from it, then 2, and so on."""

    __repr__ = one_line

    @property
    def text(self) -> str:
        """The rank as text.

        >>> Place((1, 3), 1).text, Place((4, 4), 2).text
        ('1-3', '4')
        """
        low, high = self.rank
        return str(low) if low == high else f"{low}-{high}"


def places(best_first: Sequence[str], better: Better) -> dict[str, Place]:
    """Return the place of each system; `best_first` are the systems in the order of their means.

    A group begins with the best system that is in none yet. It contains the following systems up to
    the first that is worse.

    >>> found = places(["a", "b", "c"], [("a", "c")])
    >>> [(one.text, one.group) for one in found.values()]
    [('1-2', 1), ('1-3', 1), ('2-3', 2)]
    """
    known = set(best_first)
    pairs = {pair for pair in better if known.issuperset(pair)}
    above = Counter(worse for _, worse in pairs)
    below = Counter(best for best, _ in pairs)
    size, group, first = len(best_first), 0, ""
    found = {}
    for system in best_first:
        if not group or (first, system) in pairs:
            group, first = group + 1, system
        found[system] = Place((1 + above[system], size - below[system]), group)
    return found


def best_group(found: Mapping[str, Place]) -> frozenset[str]:
    """Return the systems of the first group; none if there is no other group.

    >>> best_group(places(["a", "b"], [("a", "b")])), best_group(places(["a", "b"], []))
    (frozenset({'a'}), frozenset())
    """
    first = frozenset(system for system, place in found.items() if place.group == 1)
    return first if len(first) < len(found) else frozenset()
