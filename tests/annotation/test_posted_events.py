"""Posted events: requests that wait are kept together; what the answer has."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Container, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.annotation.served_site import asked, browser, made_site, sign_in
from tests.annotation.served_site import label as posted

from ragstone.annotation.database import Database, Person
from ragstone.annotation.events import Event
from ragstone.annotation.keeping import Posted, Receipt
from ragstone.annotation.posted_events import EventWriter
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


def test_an_item_withdrawn_while_it_is_open(tmp_path: Path) -> None:
    """Later labels are refused with the reason; what was kept before is confirmed again."""
    site = made_site(tmp_path, is_open=False)
    ann = site.database.add_person("ann", "annotator")
    lee, kim = (site.database.add_person(name, "owner") for name in ("lee", "kim"))

    async def post(client: Any, path: str, body: Any, status: int = 200) -> Any:
        async with client.post(path, json=body) as reply:
            assert reply.status == status, await reply.text()
            return await reply.json()

    async def ask() -> None:
        async with asked(site) as (address, client), browser() as owner, browser() as other:
            events, withdraw = f"{address}events", f"{address}withdraw"
            for one, token in ((client, ann), (owner, lee), (other, kim)):
                await sign_in(one, address, token)
            await post(client, events, posted("1"))
            done = await post(owner, withdraw, {"item_id": "q1", "reason": "It is q2 again."})
            assert done == {"item_id": "q1", "withdrawn": "It is q2 again."}
            both = await post(
                client, events, [posted("1"), posted("2", "no"), posted("3", item_id="q2")]
            )
            assert [one["client_id"] for one in both["confirmed"]] == ["1", "3"]
            assert [one["client_id"] for one in both["refused"]] == ["2"]
            assert both["withdrawn"] == {"q1": "It is q2 again."}
            # A person who gets the item a second time.
            again = await post(client, events, posted("6", item_id="q1#again"))
            assert again["refused"][0]["client_id"] == "6"
            assert list(again["withdrawn"]) == ["q1#again"]
            twice = await post(client, events, posted("7", item_id="q2#again"))
            assert twice["confirmed"][0]["client_id"] == "7"
            mine = {"client_id": "4", "kind": "withdraw", "item_id": "q2", "value": "no"}
            assert (await post(client, events, mine))["refused"][0]["client_id"] == "4"

            undo = {"item_id": "q1", "reason": None}
            refused = await post(other, withdraw, undo, 409)
            assert refused["error"] == "lee withdrew the item and may undo it."
            assert (await post(owner, withdraw, undo))["withdrawn"] is None
            await post(owner, withdraw, undo, 409)
            last = await post(client, events, posted("5", "no"))
            assert (last["withdrawn"], last["current"]["q1"][0]["value"]) == ({}, "no")
            for wrong, status in (
                ({"item_id": "q9", "reason": "x"}, 404),
                ({"item_id": ["q1"], "reason": "x"}, 400),
                ({"item_id": "q1"}, 400),
                ({"item_id": "q1", "reason": ""}, 400),
                ({"item_id": "q1", "reason": 1}, 400),
                ({"item_id": "q1", "reason": 501 * "x"}, 400),
                ([], 400),
            ):
                await post(owner, withdraw, wrong, status)

    asyncio.run(ask())
