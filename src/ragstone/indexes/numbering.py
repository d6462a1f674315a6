"""The numbers of the words of many texts: one look-up in arrays for all pieces of a text at once.

A piece is what stands between two ASCII separators. A piece of at most 16 bytes is two numbers of
64 bits; a table finds it by them, compared in full. The few pieces that are longer, or whose place
in the table is taken, are looked up one by one. Each distinct piece is split into words once: a
piece of ASCII is a word, any other piece is split by `words` itself, in which a word never crosses
a separator.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ragstone.indexes.inverted import starts_of
from ragstone.text.words import PLAIN, split

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragstone.text.analyzer import Analysis

    Integers = npt.NDArray[np.integer[Any]]
    Codes = npt.NDArray[np.uint64]

_BITS: Final = 18
"""The table has 2 ** _BITS places: five megabytes, which stay near the processor."""
_ODD: Final = np.uint64(0x9E3779B97F4A7C15)
"""Factor that spreads pieces over the table."""
_HALF: Final = 8
"""Bytes of one code; a piece in the table has at most two."""
_MASKS: Final = np.array([(1 << (8 * size)) - 1 for size in range(_HALF + 1)], dtype="<u8")
"""Mask of the first bytes of a code."""
_END: Final = b" " * 2 * _HALF
"""Separators behind the last piece, so that its codes can be read."""


class Numbering:
    """Numbers of words, assigned at the first sight of each."""

    def __init__(self, analysis: Analysis) -> None:
        self.words: dict[str, int] = {}
        """Word -> number, from 0."""
        self._pieces = _Pieces(analysis, self.words)
        self._heads = np.zeros(1 << _BITS, dtype="<u8")
        self._tails = np.zeros(1 << _BITS, dtype="<u8")
        self._numbers = np.zeros(1 << _BITS, dtype=np.int32)

    def numbers(self, texts: Sequence[bytes]) -> tuple[Integers, Integers]:
        """Return the numbers of the words of some normal texts, and the text of each, from 0.

        The words are in no particular order.
        """
        data = b" ".join([b"", *texts, _END]).translate(PLAIN)
        starts, stops = _bounds(data)
        found = self._find(data, starts, stops)
        ends = starts_of(np.fromiter((len(text) + 1 for text in texts), np.int64, len(texts)))
        counts = np.diff(np.searchsorted(starts, ends))
        places = np.repeat(np.arange(len(texts), dtype=np.int32), counts)
        single = found >= 0
        if single.all():
            return found, places
        more = [self._pieces.several[-1 - number] for number in found[~single].tolist()]
        words = [word for several in more for word in several]
        spread = np.repeat(places[~single], list(map(len, more)))
        return (
            np.concatenate([found[single], np.array(words, dtype=np.int32)]),
            np.concatenate([places[single], spread]),
        )

    def _find(self, data: bytes, starts: Integers, stops: Integers) -> Integers:
        """Return the number of each piece; a negative one is of several words or none."""
        heads, tails = _codes(data, starts, stops)
        places = ((heads ^ tails * _ODD) * _ODD) >> np.uint64(64 - _BITS)
        short = stops - starts <= 2 * _HALF
        known = (self._heads[places] == heads) & (self._tails[places] == tails) & short
        new = np.flatnonzero(~known)
        new = new[short[new] & (self._heads[places[new]] == 0)]
        if len(new):
            at = places[new]
            # One of the new pieces of each free place, the last: mostly a frequent one.
            self._numbers[at] = np.arange(len(new))
            own = new[np.unique(self._numbers[at])]
            pieces = _cut(data, starts[own], stops[own])
            self._add(pieces, heads[own], tails[own], places[own])
            known[new] = (self._heads[at] == heads[new]) & (self._tails[at] == tails[new])
        found: Integers = self._numbers[places]
        left = np.flatnonzero(~known)
        pieces = _cut(data, starts[left], stops[left])
        found[left] = np.fromiter(map(self._pieces.__getitem__, pieces), np.int32, len(pieces))
        return found

    def _add(self, pieces: list[bytes], heads: Codes, tails: Codes, places: Codes) -> None:
        """Put new pieces into the table, each at a place of its own."""
        self._heads[places], self._tails[places] = heads, tails
        self._numbers[places] = [self._pieces[piece] for piece in pieces]


class _Pieces(dict[bytes, int]):
    """Piece of a text -> the number of its word; -1, -2, ... if it is not exactly one word."""

    def __init__(self, analysis: Analysis, words: dict[str, int]) -> None:
        super().__init__()
        self.analysis, self.plain = analysis, analysis.plain
        self.words = words
        self.several: list[list[int]] = []
        """The words of the pieces numbered -1, -2, ..."""

    def __missing__(self, piece: bytes) -> int:
        """Return the number of a new piece."""
        text = piece.decode()
        if self.plain and piece.isascii():
            found = self[piece] = self.words.setdefault(text, len(self.words))
            return found
        kept = self.analysis.kept([text] if piece.isascii() else split(text))
        numbers = [self.words.setdefault(word, len(self.words)) for word in kept]
        if len(numbers) == 1:
            self[piece] = numbers[0]
        else:
            self.several.append(numbers)
            self[piece] = -len(self.several)
        return self[piece]


def _bounds(data: bytes) -> tuple[Integers, Integers]:
    """Return the start and the end of each piece; `data` begins and ends with a separator."""
    inside = np.frombuffer(data, dtype=np.uint8) != ord(" ")
    edges = np.flatnonzero(inside[1:] != inside[:-1]) + 1
    return edges[::2], edges[1::2]


def _codes(data: bytes, starts: Integers, stops: Integers) -> tuple[Codes, Codes]:
    """Return the first and the second 8 bytes of each piece; bytes behind its end are 0."""
    windows: Codes = np.ndarray(len(data) - _HALF + 1, "<u8", data, 0, (1,))
    sizes = stops - starts
    heads = windows[starts] & _MASKS[np.minimum(sizes, _HALF)]
    tails = np.zeros_like(heads)
    longer = np.flatnonzero(sizes > _HALF)
    rest = np.minimum(sizes[longer] - _HALF, _HALF)
    tails[longer] = windows[starts[longer] + _HALF] & _MASKS[rest]
    return heads, tails


def _cut(data: bytes, starts: Integers, stops: Integers) -> list[bytes]:
    return [data[start:stop] for start, stop in zip(starts.tolist(), stops.tolist(), strict=True)]
