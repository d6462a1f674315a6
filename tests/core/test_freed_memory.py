"""Free memory goes back to the system, if the C library can give it back."""

from __future__ import annotations

import ctypes

import pytest

from ragstone.core import freed_memory


@pytest.mark.parametrize("problem", [OSError, TypeError])
def test_another_c_library_keeps_its_memory(
    problem: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without `malloc_trim` nothing happens, and nothing fails."""

    def refuse(_: None) -> None:
        raise problem

    freed_memory.give_back()
    freed_memory._trim.cache_clear()
    monkeypatch.setattr(ctypes, "CDLL", refuse)

    freed_memory.give_back()

    assert freed_memory._trim() is None
    freed_memory._trim.cache_clear()
