"""The indexes used last in this process: several rankings of one corpus share one index."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Hashable
from typing import Any, Final, TypeVar

from ragstone.core import limits
from ragstone.core.step_notes import collect_arrays, use_arrays

Index = TypeVar("Index")


class IndexCache:
    """At most `size` indexes per kind; the oldest of its kind is dropped first.

    Threads that ask for the same index wait for one build.
    """

    def __init__(self, size: int = limits.CACHED_INDEXES) -> None:
        self._size = size
        self._held: defaultdict[str, dict[Hashable, Any]] = defaultdict(dict)
        self._lock = threading.RLock()

    def get(self, kind: str, key: Hashable, build: Callable[[], Index]) -> Index:
        """Return the index under a key of its kind, built if there is none."""
        with self._lock:
            held = self._held[kind]
            if key not in held:
                # Before the build, which needs the memory.
                while len(held) >= self._size:
                    held.pop(next(iter(held)))
                with collect_arrays() as arrays:
                    held[key] = build(), arrays
            index: Index
            index, arrays = held[key]
            use_arrays(arrays)
            return index

    def clear(self) -> None:
        """Drop every index."""
        with self._lock:
            self._held.clear()


INDEXES: Final = IndexCache()
