"""Many decimal numbers in a text at once, each exactly as `float` reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from ragstone.core.byte_codes import FIRST, WORD, words_at

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragstone.core.byte_codes import Codes, Flags, Ints, Text

    Values = npt.NDArray[np.float64]

_DIGITS: Final = 18
"""Digits of a whole number that fits into 63 bits."""
_EXACT: Final = 2**53
"""Whole numbers below this are exact as floats, and so are their quotients by `_POWERS`, rounded
once."""
_POWERS: Final = np.array([10**power for power in range(_DIGITS + 1)], dtype=np.int64)
_TOLERANCE: Final = 2.0**-30
"""Far above the rounding error of a remainder, and far below half a unit of the last place."""
_SPLITTER: Final = 2.0**27 + 1


def _repeated(byte: int) -> np.uint64:
    return np.uint64(int.from_bytes(bytes([byte] * WORD)))


_POINTS, _ZEROS, _SIXES = _repeated(ord(".")), _repeated(ord("0")), _repeated(6)
_ONES, _HIGHS, _UPPER, _THREES = (_repeated(b) for b in (0x01, 0x80, 0xF0, 0x33))
_SHIFTS: Final = np.array([64 - 8 * size for size in range(WORD + 1)], dtype=np.uint64)
_FILL: Final = np.array([int(_ZEROS) >> 8 * size for size in range(WORD + 1)], dtype=np.uint64)
_PAIRS: Final = np.uint64(0x000000FF000000FF)


def decimals(padded: Text, starts: Ints, sizes: Ints) -> Values:
    """Return the number of each part of a text, which has eight more bytes behind the last part.

    Raises `ValueError` if `float` refuses a part.
    """
    eight = words_at(padded)
    negative = (eight[starts] & np.uint64(0xFF)) == ord("-")
    place = starts + negative
    held = sizes - negative
    word = eight[place]
    whole = np.minimum(_point(word), held)
    has_point = (whole < held) & (whole < WORD)
    fraction = (held - whole - 1) * has_point
    before = FIRST[whole]
    word = (word & before) | ((word >> np.uint64(8)) & ~before)
    number, plain = _digits(word, np.minimum(held, WORD) - has_point)
    plain &= (held > has_point) & (held - has_point <= _DIGITS)
    rest = np.flatnonzero(plain & (held > WORD))
    done = WORD
    while len(rest):
        size = np.minimum(held[rest] - done, WORD)
        more, plain[rest] = _digits(eight[place[rest] + done], size)
        number[rest] = number[rest] * _POWERS[size] + more
        done += WORD
        rest = rest[plain[rest] & (held[rest] > done)]
    values, sure = _quotients(number, np.minimum(fraction, _DIGITS))
    values = np.where(negative, -values, values)
    for i in np.flatnonzero(~(plain & sure)).tolist():
        values[i] = float(padded[starts[i] : starts[i] + sizes[i]])
    return values


def _point(word: Codes) -> Ints:
    """Return the place of the first full stop among eight bytes; 8 without one."""
    other = word ^ _POINTS
    found = (other - _ONES) & ~other & _HIGHS
    lowest = found & (~found + np.uint64(1))
    return (np.bitwise_count(lowest - np.uint64(1)) >> 3).astype(np.int64)


def _digits(word: Codes, size: Ints) -> tuple[Ints, Flags]:
    """Return the number in the first bytes of each word, and whether they are all digits."""
    word = (word << _SHIFTS[size]) | _FILL[size]
    all_digits: Flags = ((word & _UPPER) | (((word + _SIXES) & _UPPER) >> np.uint64(4))) == _THREES
    tens = word - _ZEROS
    tens = tens * np.uint64(10) + (tens >> np.uint64(8))
    first = (tens & _PAIRS) * np.uint64(0x000F424000000064)
    second = ((tens >> np.uint64(16)) & _PAIRS) * np.uint64(0x0000271000000001)
    return ((first + second) >> np.uint64(32)).astype(np.int64), all_digits


def _quotients(number: Ints, power: Ints) -> tuple[Values, Flags]:
    """Return number / 10^power, rounded once, and whether this rounding is certain."""
    divisor = _POWERS[power].astype(np.float64)
    values, sure = number / divisor, np.ones(len(number), np.bool_)
    long = np.flatnonzero(number >= _EXACT)
    if len(long):
        upper, divisor = number[long].astype(np.float64), divisor[long]
        quotient = values[long]
        product, error = _product(quotient, divisor)
        left = (number[long] - upper.astype(np.int64)) + ((upper - product) - error)
        values[long] = quotient + (left - _TOLERANCE) / divisor
        sure[long] = values[long] == quotient + (left + _TOLERANCE) / divisor
    return values, sure


def _product(a: Values, b: Values) -> tuple[Values, Values]:
    """Return the rounded product and its rounding error.

    Dekker, Numerische Mathematik 18, 1971.
    """
    (a_upper, a_lower), (b_upper, b_lower) = _halves(a), _halves(b)
    product = a * b
    error = ((a_upper * b_upper - product) + a_upper * b_lower + a_lower * b_upper) + (
        a_lower * b_lower
    )
    return product, error


def _halves(value: Values) -> tuple[Values, Values]:
    wide = value * _SPLITTER
    upper = wide - (wide - value)
    return upper, value - upper
