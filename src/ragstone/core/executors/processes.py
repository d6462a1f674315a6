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
from typing import Any, NamedTuple

from ragstone.core import limits
from ragstone.core.executors.base import Item, Made, check_count
from ragstone.core.executors.in_worker import Secrets, in_worker
from ragstone.errors import RagstoneError


class _Sent(NamedTuple):
    """An item that processes have, and the pool of these processes."""

    pool: Any
    future: Any


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
        waiting: deque[tuple[Item, _Sent]] = deque()
        for item in items:
            waiting.append((item, self._submit(job, item)))
            if len(waiting) > self.count:
                yield self._first(job, waiting)
        while waiting:
            yield self._first(job, waiting)

    def close(self) -> None:
        """Stop the processes."""
        self._drop(self._pool)

    def _drop(self, pool: Any) -> None:
        """Stop the processes of a pool, unless others have taken their place."""
        if pool is not None and pool is self._pool:
            self._pool = None
            pool.shutdown(cancel_futures=True)

    def _first(self, job: Callable[[Item], Made], waiting: deque[tuple[Item, _Sent]]) -> Any:
        """Return the result of the first item, which is sent again if a process died."""
        item, sent = waiting.popleft()
        for _ in range(limits.MAX_WORKER_DEATHS):
            try:
                return sent.future.result()
            except BrokenProcessPool:
                self._drop(sent.pool)
                sent = self._submit(job, item)
        try:
            return sent.future.result()
        except BrokenProcessPool as error:
            self._drop(sent.pool)
            raise RagstoneError(
                f"{limits.MAX_WORKER_DEATHS} processes died, one after the other, while they "
                "computed the same item; the usual cause is too little memory"
            ) from error

    def _submit(self, job: Callable[[Item], Made], item: Item) -> _Sent:
        for _ in range(2):
            if self._pool is None:
                context = multiprocessing.get_context("spawn")
                self._pool = ProcessPoolExecutor(
                    self.count, mp_context=context, initializer=_end_with_parent
                )
            pool = self._pool
            try:
                return _Sent(pool, pool.submit(in_worker, job, item, Secrets()))
            except BrokenProcessPool:
                self._drop(pool)
        found: Any = Future()
        found.set_exception(BrokenProcessPool("the processes die when they start"))
        return _Sent(None, found)


def _end_with_parent() -> None:
    """End this process when the one that started it is killed: a pool's workers would go on."""
    threading.Thread(target=_follow, args=(multiprocessing.parent_process(),), daemon=True).start()


def _follow(parent: Any) -> None:
    parent.join()
    os._exit(1)
