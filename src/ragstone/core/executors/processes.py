"""Several processes of this machine; they are spawned, not forked."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from typing import Any

from ragstone.core import limits
from ragstone.core.executors.base import Item, Made, check_count
from ragstone.errors import RagstoneError


@dataclass
class ProcessExecutor:
    """Computes items in `count` processes, and starts new ones if one dies."""

    count: int
    _pool: Any = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        """Check the number of processes."""
        check_count("count", self.count)

    def open(self) -> None:
        """Do nothing: the processes start with the first item."""

    def map(self, job: Callable[[Item], Made], items: Iterable[Item]) -> Iterator[Made]:
        """Yield the results in the order of the items."""
        waiting: deque[tuple[Item, Future[Made]]] = deque()
        for item in items:
            waiting.append((item, self._submit(job, item)))
            if len(waiting) > self.count:
                yield self._first(job, waiting)
        while waiting:
            yield self._first(job, waiting)

    def close(self) -> None:
        """Stop the processes."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    def _first(
        self, job: Callable[[Item], Made], waiting: deque[tuple[Item, Future[Made]]]
    ) -> Made:
        """Return the result of the first item; it is sent alone if a process died."""
        item, future = waiting.popleft()
        for _ in range(limits.MAX_WORKER_DEATHS):
            try:
                return future.result()
            except BrokenProcessPool:
                self.close()
                future = self._submit(job, item)
        try:
            return future.result()
        except BrokenProcessPool as error:
            self.close()
            raise RagstoneError(
                f"{limits.MAX_WORKER_DEATHS} processes died, one after the other, while they "
                "computed the same item; the usual cause is too little memory"
            ) from error

    def _submit(self, job: Callable[[Item], Made], item: Item) -> Future[Made]:
        for _ in range(2):
            if self._pool is None:
                context = multiprocessing.get_context("spawn")
                self._pool = ProcessPoolExecutor(
                    self.count, mp_context=context, initializer=_end_with_parent
                )
            try:
                return self._pool.submit(job, item)  # type: ignore[no-any-return]
            except BrokenProcessPool:
                self.close()
        found: Any = Future()
        found.set_exception(BrokenProcessPool("the processes die when they start"))
        return found  # type: ignore[no-any-return]


def _end_with_parent() -> None:
    """End this process when the one that started it is killed: a pool's workers would go on."""
    threading.Thread(target=_follow, args=(multiprocessing.parent_process(),), daemon=True).start()


def _follow(parent: Any) -> None:
    parent.join()
    os._exit(1)
