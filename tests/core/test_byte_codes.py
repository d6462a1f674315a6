"""Codes of parts of a text, and comparisons of their bytes."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ragstone.core.byte_codes import WORD, byte_codes, later_bytes, same_bytes

_PARTS = st.lists(
    st.tuples(st.text("ab", min_size=1, max_size=40), st.text("ab", min_size=1, max_size=40)),
    min_size=1,
    max_size=30,
)


def _placed(parts: list[str]) -> tuple[bytes, np.ndarray, np.ndarray]:
    sizes = np.array([len(part) for part in parts])
    padded = "\n".join(parts).encode() + bytes(2 * WORD)
    return padded, np.cumsum(sizes + 1) - sizes - 1, sizes


@given(_PARTS)
def test_parts_compare_as_bytes_do(pairs: list[tuple[str, str]]) -> None:
    """Equality, order and codes are those of Python's bytes, for every length."""
    firsts, seconds = [a for a, _ in pairs], [b for _, b in pairs]
    padded, starts, sizes = _placed(firsts + seconds)
    a, b = (starts[: len(pairs)], sizes[: len(pairs)]), (starts[len(pairs) :], sizes[len(pairs) :])

    assert later_bytes(padded, a, b).tolist() == [x > y for x, y in pairs]
    alike = np.flatnonzero(a[1] == b[1])
    same = same_bytes(padded, a[0][alike], padded, b[0][alike], a[1][alike])
    assert same.tolist() == [x == y for x, y in pairs if len(x) == len(y)]
    codes = byte_codes(padded, starts, sizes)
    assert len(set(codes.tolist())) == len({*firsts, *seconds})


def test_ids_that_differ_in_a_few_letters_have_their_own_codes() -> None:
    """Differences in the last letter of two words do not cancel out, at any length."""
    for size in range(1, 30):
        letters = [chr(97 + number) for number in range(16)]
        first = ["x" * min(size - 1, 7) + letter + "x" * (size - 8) for letter in letters]
        parts = sorted({one[: size - 1] + letter for one in first for letter in letters})
        padded, starts, sizes = _placed(parts)
        assert len(set(byte_codes(padded, starts, sizes).tolist())) == len(parts)
