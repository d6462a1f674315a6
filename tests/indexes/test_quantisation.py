"""Vectors in 32, 16 and 8 bits."""

from __future__ import annotations

import numpy as np
import pytest

from ragstone.errors import ConfigError
from ragstone.indexes.quantisation import Precision, Vectors, decode, encode, longest, row_type


@pytest.mark.parametrize(
    ("precision", "error"), [("float32", 0.0), ("float16", 0.0005), ("int8", 0.004)]
)
def test_decoding_is_exact_to_the_step_of_the_precision(precision: Precision, error: float) -> None:
    """The error is relative to the largest number of the vector."""
    rows = np.random.default_rng(0).normal(size=(50, 24)).astype(np.float32)
    rows[3] = 0
    stored = encode(rows, precision)
    back = decode(stored, np.float32)
    assert back.dtype == np.float32
    assert (np.abs(back - rows) <= error * np.abs(rows).max(axis=1, keepdims=True)).all()
    assert stored.nbytes == 50 * row_type(precision, 24).itemsize
    np.testing.assert_allclose(
        longest(stored), np.linalg.norm(rows, axis=1).max(), rtol=error + 1e-6
    )


def test_numbers_too_large_for_float16_are_refused() -> None:
    """The error names the precisions that can store the number."""
    with pytest.raises(ConfigError, match=r"70000.*use precision: float32 or int8"):
        encode(np.array([[7e4, 1]], dtype=np.float32), "float16")


def test_parts_read_as_one() -> None:
    """Positions continue through the parts, in blocks and one by one."""
    rows = np.arange(20, dtype=np.float32).reshape(10, 2)
    vectors = Vectors((rows[:3], rows[3:4], rows[4:]), 2, longest(rows))
    assert len(vectors) == 10
    assert np.array_equal(vectors.slice(2, 7), rows[2:7])
    assert np.array_equal(vectors.slice(8, 99), rows[8:])
    assert np.array_equal(vectors.exact(np.array([9, 0, 3, 4])), rows[[9, 0, 3, 4]])
    assert np.array_equal(vectors.rough(2, 100), rows[2:3])
    assert vectors.slice(5, 5).shape == (0, 2)
