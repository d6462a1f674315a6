"""The writer of events: requests that wait are kept together, in one transaction.

One transaction is written at a time. While it is written, further requests wait, and the next
transaction has them all: one sync of the disk is enough for many people.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Container, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeAlias

from ragstone.annotation.database import Database, Person
from ragstone.annotation.events import Event
from ragstone.annotation.keeping import Posted, Receipt
from ragstone.errors import StoreUnavailable
from ragstone.web import limits

_Waiting: TypeAlias = tuple[Posted, asyncio.Future[list[Receipt]]]


class EventWriter:
    """Keeps the events of a running server, in a thread of its own."""

    def __init__(self, database: Database, item_ids: Container[str] | None = None) -> None:
        self._database, self._item_ids = database, item_ids
        self._waiting: deque[_Waiting] = deque()
        self._writing: asyncio.Task[None] | None = None
        # Events wait for neither pages nor agents.
        self._thread = ThreadPoolExecutor(1, "ragstone-events")

    async def keep(self, person: Person, events: Sequence[Event]) -> list[Receipt]:
        """Keep the events of a request, and return their receipts in order.

        Raises `StoreUnavailable` if they were not kept: the same request may be sent again.
        """
        future = asyncio.get_running_loop().create_future()
        may_decide = person.role != "annotator"
        post = Posted(person.name, events, person.role == "owner", may_decide)
        self._waiting.append((post, future))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write())
        receipts: list[Receipt] = await future
        return receipts

    async def close(self) -> None:
        """Wait for the write in progress, and stop the thread."""
        if self._writing is not None:
            await self._writing
        self._thread.shutdown(wait=True)

    async def _write(self) -> None:
        while self._waiting:
            group = self._group()
            try:
                found = await self._kept([post for post, _ in group])
            except Exception as error:  # noqa: BLE001 - each request gets the error
                if len(group) > 1 and not isinstance(error, StoreUnavailable):
                    await self._each(group)
                else:
                    _fail(group, error)
                continue
            for (_, future), receipts in zip(group, found, strict=True):
                if not future.done():
                    future.set_result(receipts)

    async def _each(self, group: Sequence[_Waiting]) -> None:
        """Keep requests one by one: the others are kept if one of them has a fault."""
        for post, future in group:
            try:
                (receipts,) = await self._kept([post])
            except Exception as error:  # noqa: BLE001 - the request gets the error
                _fail([(post, future)], error)
            else:
                if not future.done():
                    future.set_result(receipts)

    async def _kept(self, posts: Sequence[Posted]) -> list[list[Receipt]]:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._database.keep, posts, self._item_ids)

    def _group(self) -> list[_Waiting]:
        """Take the first requests that wait, up to a number of events."""
        group, count = list[_Waiting](), 0
        while self._waiting and count < limits.GROUPED_EVENTS:
            group.append(self._waiting.popleft())
            count += len(group[-1][0].events)
        return group


def _fail(group: Sequence[_Waiting], error: Exception) -> None:
    for _, future in group:
        if not future.done():
            future.set_exception(error)
