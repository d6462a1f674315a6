"""Decimal numbers of a text as arrays."""

from __future__ import annotations

import random
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.core import decimals as module
from ragstone.core.byte_codes import WORD
from ragstone.core.decimals import _point, decimals

_HARD = [
    *("0", "-0", "0.0", "-0.0", "1.", ".5", "-.5", "+1", "1_0.5", "1e5", "1E-3", "00.5", "-7"),
    *("000000000012.5", "12345678.12345678", "123456789.5", "12345678", "123456789", "1e400"),
    *("9007199254740993", "9007199254740993.0", "0.1000000000000000055", "5e-324", "nan", "-inf"),
    *("0.30000000000000004", "999999999999999999", "9999999999999999999", "0.000000000000000001"),
]


def _read(numbers: list[str]) -> list[int]:
    """Return the bits of each number."""
    sizes = np.array([len(number) for number in numbers])
    padded = " ".join(numbers).encode() + bytes(2 * WORD)
    found = decimals(padded, np.cumsum(sizes + 1) - sizes - 1, sizes)
    bits: list[int] = found.view(np.int64).tolist()
    return bits


def _bits(numbers: list[str]) -> list[int]:
    bits: list[int] = np.array([float(n) for n in numbers]).view(np.int64).tolist()
    return bits


def _drawn(draw: random.Random) -> str:
    """Return a number: short, with 17 digits, in single precision, or halfway between floats."""
    digits, half = draw.randrange(1, 20), 2 * draw.randrange(2**52, 2**53) + 1
    forms = [
        f"{draw.gauss(0, 100):.{draw.randrange(20)}f}",
        repr(draw.random() * 10 ** draw.randrange(-6, 7)),
        repr(float(np.float32(draw.gauss(15, 5)))),
        str(draw.randrange(10**digits)),
        f"{draw.randrange(10**digits)}.{draw.randrange(10**digits):0{digits}d}",
        f"{half * 5 // 10}.{half * 5 % 10}",
        str(half),
        f"{draw.gauss(0, 1):e}",
    ]
    return draw.choice(forms)


@pytest.mark.parametrize(
    ("number", "is_slow"),
    [
        *((one, False) for one in ("0", "-7", "1.", ".5", "-.5", "0.0", "-0.0", "00.5", "7.25")),
        *((one, False) for one in ("12345678", "1234567.8", "123456789", "-1234567.5")),
        *(
            (one, False)
            for one in ("999999999999999999", "-9999999.99999999999", "0.1234567890123")
        ),
        *((one, False) for one in ("0.30000000000000004", "9007199254740991", "-9007199254740991")),
        *((one, False) for one in ("123456.123456789012", "-13.402999877929688", "0000012.5")),
        *(
            (one, True)
            for one in ("9" * 19, "0." + "1" * 18, "1e5", "+1", "1_0", "12345678.5", "inf")
        ),
        *((one, True) for one in ("9007199254740993", "9007199254740995.0", "4503599627370497.5")),
    ],
)
def test_only_unusual_numbers_are_left_to_float(
    number: str, monkeypatch: pytest.MonkeyPatch, *, is_slow: bool
) -> None:
    """Numbers with up to 18 digits are read together, unless they are halfway between floats."""
    read: list[str] = []

    def slow(part: bytes) -> float:
        read.append(part.decode())
        return float(part)

    monkeypatch.setattr(module, "float", slow, raising=False)
    numbers = ["0.5", number, "-3"]
    assert _read(numbers) == _bits(numbers)
    assert read == [number] * is_slow


def test_a_hundred_thousand_numbers_are_those_of_float() -> None:
    """Every bit is equal, with halfway cases that need the exact remainder."""
    draw = random.Random(5)  # noqa: S311 -- numbers, no secrets
    numbers = [_drawn(draw) for _ in range(100_000)] + _HARD
    assert _read(numbers) == _bits(numbers)


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=20))
def test_what_python_writes_is_read_again(values: list[float]) -> None:
    """The shortest form of any float gives the same float."""
    bits = [struct.unpack("<q", struct.pack("<d", value))[0] for value in values]
    assert _read([repr(value) for value in values]) == bits


@pytest.mark.parametrize("text", ["high", "-", ".", "1.2.3", "12a", "1-2", "0x10", "1.5.", "1__0"])
def test_what_float_refuses_is_refused(text: str) -> None:
    """The error of `float` comes through, whatever its neighbours are."""
    with pytest.raises(ValueError, match="could not convert"):
        _read(["1.5", text, "2"])


@pytest.mark.parametrize("text", ["1/5", "1,5", "1:5", "1;5", "--1", "1-5", "1.2.3"])
def test_other_signs_are_not_points(text: str) -> None:
    """A neighbour of the full stop in ASCII is an error, as it is for Python."""
    with pytest.raises(ValueError, match="could not convert"):
        _read([text])


@pytest.mark.parametrize("place", range(9))
def test_the_first_point_of_eight_bytes(place: int) -> None:
    """The place decides whether a number is plain: the slow way would hide a wrong one."""
    for rest in ("4", "."):
        text = "1" * place + ("." + rest * WORD)[: WORD - place]
        word = np.array([int.from_bytes(text[:WORD].encode(), "little")], dtype=np.uint64)
        assert _point(word).tolist() == [place]
