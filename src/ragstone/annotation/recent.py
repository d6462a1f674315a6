"""Values that are known for a short time, so that not every request asks the database."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Recent(Generic[K, V]):
    """The last values put in, each for some seconds. Methods may be called in any thread."""

    def __init__(
        self, count: int, seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._count, self._seconds, self._clock = count, seconds, clock
        self._held: dict[K, tuple[float, V]] = {}
        self._lock = threading.Lock()

    def get(self, key: K) -> V | None:
        """Return a value; None if it is unknown or too old."""
        with self._lock:
            until, value = self._held.get(key, (0.0, None))
        return value if self._clock() < until else None

    def put(self, key: K, value: V) -> None:
        """Know a value from now on; the oldest one goes if there are too many."""
        with self._lock:
            self._held.pop(key, None)
            self._held[key] = (self._clock() + self._seconds, value)
            if len(self._held) > self._count:
                del self._held[next(iter(self._held))]

    def clear(self) -> None:
        """Forget all values."""
        with self._lock:
            self._held.clear()
