"""Memory that is free in this process, given back to the system."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any


def give_back() -> None:
    """Give free memory back to the system, which the C library otherwise keeps between steps."""
    if (trim := _trim()) is not None:
        trim(0)


@cache
def _trim() -> Any:
    """Return glibc's `malloc_trim`; None under another C library."""
    try:
        return ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return None
