"""The writer of a running server: requests that wait are kept together."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Container, Sequence

import pytest

from ragstone.annotation.database import Database, Person
from ragstone.annotation.events import Event
from ragstone.annotation.keeping import Posted, Receipt
from ragstone.annotation.writer import EventWriter
from ragstone.errors import StoreUnavailable
from ragstone.web import limits

ANN = Person("ann", "annotator")


class Counted(Database):
    """A database that counts its transactions, the first of which waits."""

    groups: list[int]
    gate: threading.Event
    fault: Exception | None = None

    def keep(
        self, posts: Sequence[Posted], item_ids: Container[str] | None = None
    ) -> list[list[Receipt]]:
        """Keep events after the gate is open."""
        assert self.gate.wait(30)
        self.groups.append(len(posts))
        if self.fault and any(one.events[0].client_id == "bad" for one in posts):
            raise self.fault
        return super().keep(posts, item_ids)


@pytest.fixture
def counted(database_url: str) -> Counted:
    """Return the database of a new project, in turn of each kind."""
    opened = Counted.open(database_url, "ferry")
    assert isinstance(opened, Counted)
    opened.groups, opened.gate = [], threading.Event()
    return opened


def label(client_id: str) -> list[Event]:
    """Return a request with one label."""
    return [Event(client_id, "label", "q1", "support", value="yes")]


async def together(database: Counted, *ids: str) -> list[list[Receipt] | BaseException]:
    """Send requests at once: the first is being written when the others come."""
    writer = EventWriter(database)
    sent = [asyncio.create_task(writer.keep(ANN, label(one))) for one in ids]
    await asyncio.sleep(0.05)
    database.gate.set()
    found = await asyncio.gather(*sent, return_exceptions=True)
    await writer.close()
    database.close()
    return found


def test_requests_that_wait_share_a_transaction(counted: Counted) -> None:
    """Each gets its own receipts."""
    found = asyncio.run(together(counted, *map(str, range(40))))

    assert [one[0].client_id for one in found if isinstance(one, list)] == list(map(str, range(40)))
    assert sum(counted.groups) == 40
    assert len(counted.groups) <= 2


def test_a_transaction_has_not_much_more_than_a_number_of_events(
    counted: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others are in the next one."""
    monkeypatch.setattr(limits, "GROUPED_EVENTS", 10)
    asyncio.run(together(counted, *map(str, range(40))))

    assert max(counted.groups) == 10


def test_the_fault_of_a_request_is_not_that_of_the_others(counted: Counted) -> None:
    """The requests of a group that fails are kept one by one."""
    counted.fault = ValueError("odd")
    found = asyncio.run(together(counted, "1", "2", "bad", "3"))

    assert [isinstance(one, ValueError) for one in found] == [False, False, True, False]


def test_a_database_that_does_not_answer_fails_every_request(counted: Counted) -> None:
    """Browsers keep the events, and the next request is tried again."""
    counted.fault = StoreUnavailable("gone")
    found = asyncio.run(together(counted, "bad", "2"))

    assert isinstance(found[0], StoreUnavailable)
