"""What an answer took, and the confidence in it, as your own system reports them.

{"answer": "In 1912.", "usage": {"tokens_in": 210, "tokens_out": 4, "cost": 0.0002,
"seconds": 0.8}, "confidence": 0.9}
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from ragstone.data.readers.rows import FieldError, show

_USAGE: Final = {"tokens_in": int, "tokens_out": int, "cost": float, "seconds": float}


def read_usage(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return `tokens_in`, `tokens_out`, `cost` and `seconds`, as far as a reply has them.

    They are in `usage`, or beside the answer.

    >>> read_usage({"answer": "1912", "usage": {"tokens_in": 12, "cost": 0.5}})
    {'tokens_in': 12, 'cost': 0.5}

    Raises:
        FieldError: `usage` is not an object, or a value is not a number of 0 or more.
    """
    usage = row.get("usage")
    if not isinstance(usage, Mapping | None):
        raise FieldError(
            f"'usage' must be an object such as {{'tokens_in': 210}}, found {show(usage)}"
        )
    held = {**row, **(usage or {})}
    found = {name: _number(held, name) for name in _USAGE}
    return {name: _USAGE[name](value) for name, value in found.items() if value is not None}


def read_confidence(row: Mapping[str, Any]) -> float | None:
    """Return the confidence of a reply; raise `FieldError` if it is not from 0 to 1."""
    value = _number(row, "confidence")
    if value is not None and value > 1:
        raise FieldError(f"'confidence' must be a number from 0 to 1, found {show(value)}")
    return value


def _number(row: Mapping[str, Any], name: str) -> float | None:
    value = row.get(name)
    if value is None:
        return None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or value < 0:
        raise FieldError(f"{name!r} must be a number of 0 or more, found {show(value)}")
    return float(value)
