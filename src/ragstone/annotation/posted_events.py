"""Posted events: requests that wait are kept in one transaction, and each gets its answer.

One transaction is written at a time. While it is written, further requests wait, and the next
transaction has them all: one sync of the disk is enough for many people.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Container, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeAlias

from ragstone.annotation.database import Database, Person
from ragstone.annotation.events import Event
from ragstone.annotation.items import base_id
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
        self._waiting.append((Posted(person.name, events, person.role == "owner"), future))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write())
        receipts: list[Receipt] = await future
        return receipts

    async def close(self) -> None:
        """Wait for what is being written."""
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


def events_answer(
    database: Database, person: str, events: Sequence[Event], receipts: Sequence[Receipt]
) -> dict[str, Any]:
    """Return the answer to the events of a request, as plain data.

    `confirmed` has `client_id` and `sequence` of what is kept, `refused` has `client_id` and
    `reason` of what never can be: a browser forgets both. For the items of the request, `current`
    has the labels of the person that count now, perhaps from another tab, and `withdrawn` the
    reasons of those that the owner took out of the project.
    """
    items = list(dict.fromkeys(one.item_id for one in events))
    # An event for a withdrawn item is refused.
    asked = [base_id(one) for one in items] if any(one.reason for one in receipts) else []
    gone = database.withdrawn(asked) if asked else {}
    return {
        **receipts_document(receipts),
        "current": {item_id: _labels(database, item_id, person) for item_id in items},
        "withdrawn": {one: gone[base_id(one)] for one in items if base_id(one) in gone},
    }


def _labels(database: Database, item_id: str, person: str) -> list[dict[str, Any]]:
    return [
        {"field": one.field, "part": one.part, "value": one.value, "sequence": one.sequence}
        for one in database.labels(item_id=item_id, person=person)
    ]


def receipts_document(receipts: Sequence[Receipt]) -> dict[str, Any]:
    """Return receipts as plain data: `confirmed`, and `refused` with reasons."""
    confirmed, refused = list[dict[str, Any]](), list[dict[str, Any]]()
    for one in receipts:
        if one.kept is None:
            refused.append({"client_id": one.client_id, "reason": one.reason})
            continue
        marks = {name: True for name in ("known", "differs") if getattr(one, name)}
        confirmed.append({"client_id": one.client_id, "sequence": one.kept.sequence} | marks)
    return {"confirmed": confirmed} | ({"refused": refused} if refused else {})
