"""64-bit codes of many parts of a text at once: equal parts have equal codes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Codes = npt.NDArray[np.uint64]
    Ints = npt.NDArray[np.int64]
    Flags = npt.NDArray[np.bool_]

Text: TypeAlias = bytes | bytearray
WORD: Final = 8
"""Bytes that are read at once; a text needs as many behind its last part."""
MIX: Final = np.uint64(0x9E3779B97F4A7C15)
_MIX_TOO: Final = np.uint64(0xBF58476D1CE4E5B9)
_SHIFTS: Final = np.array([64 - 8 * size for size in range(WORD + 1)], dtype=np.uint64)
FIRST: Final = np.array([2 ** (8 * size) - 1 for size in range(WORD + 1)], dtype=np.uint64)
"""Number of bytes -> a mask of that many first bytes of a word."""


def words_at(padded: Text) -> Codes:
    """Return the eight bytes from each position on, as a view of the text."""
    return np.ndarray((len(padded) - WORD + 1,), "<u8", padded, 0, (1,))


def byte_codes(padded: Text, starts: Ints, sizes: Ints) -> Codes:
    """Return the code of each part: its bytes if there are at most eight, else a hash of them.

    Two different parts, neither with a zero byte, have one code with a probability of 2^-64.
    """
    eight = words_at(padded)
    # The shift removes the bytes after the part; its own bytes are never 0, so codes are unique.
    code: Codes = eight[starts] << _SHIFTS[np.minimum(sizes, WORD)]
    rest = np.flatnonzero(sizes > WORD)
    last = eight[(starts + sizes)[rest] - WORD]
    code[rest] = mixed(mixed(code[rest]) ^ (last + sizes[rest].astype(np.uint64)))
    done = WORD
    while len(rest := rest[sizes[rest] > done + WORD]):
        code[rest] = mixed(code[rest] ^ eight[starts[rest] + done])
        done += WORD
    return code


def mixed(code: Codes) -> Codes:
    """Return other codes for other codes, each bit a mixture of all bits."""
    code = (code ^ (code >> np.uint64(32))) * MIX
    code = (code ^ (code >> np.uint64(29))) * _MIX_TOO
    return code ^ (code >> np.uint64(32))


def same_bytes(a: Text, a_starts: Ints, b: Text, b_starts: Ints, sizes: Ints) -> Flags:
    """Return whether the parts of two padded texts, equal in size, have the same bytes."""
    ours, theirs = words_at(a), words_at(b)
    shifts = _SHIFTS[np.minimum(sizes, WORD)]
    same: Flags = (ours[a_starts] << shifts) == (theirs[b_starts] << shifts)
    done, rest = WORD, np.flatnonzero(same & (sizes > WORD))
    while len(rest):
        at = np.minimum(done, sizes[rest] - WORD)  # the last eight bytes may overlap
        equal = ours[a_starts[rest] + at] == theirs[b_starts[rest] + at]
        same[rest] = equal
        done += WORD
        rest = rest[equal & (sizes[rest] > done)]
    return same


def later_bytes(padded: Text, a: tuple[Ints, Ints], b: tuple[Ints, Ints]) -> Flags:
    """Return whether each part of `a` (starts, sizes) is greater than that of `b`, as bytes are."""
    eight, longest = words_at(padded), np.maximum(a[1], b[1])
    later, done = np.zeros(len(longest), np.bool_), 0
    rest = np.arange(len(longest))
    while len(rest):
        ours, theirs = (
            (
                eight[np.minimum(starts[rest] + done, len(eight) - 1)]
                & FIRST[np.clip(sizes[rest] - done, 0, WORD)]
            ).byteswap()
            for starts, sizes in (a, b)
        )
        later[rest] = ours > theirs
        done += WORD
        rest = rest[(ours == theirs) & (longest[rest] > done)]
    return later
