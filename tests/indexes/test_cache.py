"""The most recent indexes stay in memory."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from ragstone.indexes.cache import IndexCache


def test_the_oldest_index_of_a_kind_is_dropped_before_the_next_is_built() -> None:
    """At most two per kind are in memory, also during a build; other kinds are not affected."""
    cache = IndexCache(2)
    built: list[str] = []

    def get(kind: str, key: str) -> str:
        def build() -> str:
            built.append(f"{key}{len(cache._held[kind])}")
            return key.upper()

        return cache.get(kind, key, build)

    found = [get("words", key) for key in "ab"] + [get("vectors", "z")]
    found += [get("words", key) for key in "abcba"] + [get("vectors", "z")]

    assert found == list("ABZABCBAZ")
    assert built == ["a0", "b1", "z0", "c1", "a1"]


def test_threads_share_one_build() -> None:
    """Threads that need an index at the same time get the same object."""
    cache, together = IndexCache(), Barrier(4)

    def get(_: int) -> object:
        together.wait()
        return cache.get("words", "key", object)

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(get, range(4)))

    assert len({id(index) for index in found}) == 1


def test_a_failed_build_is_tried_again() -> None:
    """Neither a failed build nor `clear` leaves a key behind."""
    cache = IndexCache()

    with pytest.raises(ZeroDivisionError):
        cache.get("words", "key", lambda: 1 // 0)
    assert cache.get("words", "key", lambda: 1) == 1
    cache.clear()
    assert cache.get("words", "key", lambda: 2) == 2
