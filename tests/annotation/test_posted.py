"""The answer to posted events: items withdrawn while they are open, and labels of other tabs."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from tests.annotation.served_site import asked, browser, label, made_site, sign_in
from tests.fakes.labelled_project import made_site as labelled_site
from tests.fakes.labelled_project import plain_items


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
            await post(client, events, label("1"))
            done = await post(owner, withdraw, {"item_id": "q1", "reason": "It is q2 again."})
            assert done == {"item_id": "q1", "withdrawn": "It is q2 again."}
            both = await post(
                client, events, [label("1"), label("2", "no"), label("3", item_id="q2")]
            )
            assert [one["client_id"] for one in both["confirmed"]] == ["1", "3"]
            assert [one["client_id"] for one in both["refused"]] == ["2"]
            assert both["withdrawn"] == {"q1": "It is q2 again."}
            # A person who gets the item a second time.
            again = await post(client, events, label("6", item_id="q1#again"))
            assert again["refused"][0]["client_id"] == "6"
            assert list(again["withdrawn"]) == ["q1#again"]
            twice = await post(client, events, label("7", item_id="q2#again"))
            assert twice["confirmed"][0]["client_id"] == "7"
            mine = {"client_id": "4", "kind": "withdraw", "item_id": "q2", "value": "no"}
            assert (await post(client, events, mine))["refused"][0]["client_id"] == "4"

            undo = {"item_id": "q1", "reason": None}
            refused = await post(other, withdraw, undo, 409)
            assert refused["error"] == "lee withdrew the item and may undo it."
            assert (await post(owner, withdraw, undo))["withdrawn"] is None
            await post(owner, withdraw, undo, 409)
            for _ in range(2):
                await post(owner, withdraw, {"item_id": "q1", "reason": "twice"})
            assert (await post(owner, withdraw, undo))["withdrawn"] is None
            last = await post(client, events, label("5", "no"))
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


def test_what_is_no_label_of_the_scheme_is_refused(tmp_path: Path) -> None:
    """An export relies on the scheme; the other events of the request are kept."""
    site = made_site(tmp_path)
    wrong = [label("1", "perhaps"), label("2", ["yes"]), label("3", True), label("4", {"a": 1})]

    async def ask() -> dict[str, Any]:
        async with asked(site) as (address, client):
            async with client.get(f"{address}?key={site.key}"):
                pass
            events = [*wrong, label("5"), label("6", None)]
            async with client.post(f"{address}events", json=events) as reply:
                found: dict[str, Any] = await reply.json()
                return found

    found = asyncio.run(ask())
    assert [one["client_id"] for one in found["confirmed"]] == ["5", "6"]
    assert [one["client_id"] for one in found["refused"]] == ["1", "2", "3", "4"]
    assert found["refused"][0]["reason"] == "the question 'support' has no label 'perhaps'"


def test_nobody_tries_labels_until_the_qualification_is_right(tmp_path: Path) -> None:
    """Its labels can be changed until its last item is finished; a second copy is confirmed."""
    items: list[dict[str, Any]] = plain_items(3)
    for one in items[:2]:
        one["known"] = {"support": "yes"}
    with labelled_site(tmp_path, items, qualification=1.0) as (site, _):

        async def ask() -> list[dict[str, Any]]:
            async with asked(site) as (address, client):
                async with client.get(f"{address}?key={site.key}"):
                    pass
                found = []
                for event in (
                    label("1", "no", "q0"),
                    label("2", "partly", "q0"),
                    label("3", "yes", "q1"),
                    label("3", "yes", "q1"),
                    label("4", "yes", "q0"),
                    {"client_id": "5", "kind": "undo", "item_id": "q0", "value": "2"},
                    label("6", "yes", "q2"),
                ):
                    async with client.post(f"{address}events", json=event) as reply:
                        found.append(await reply.json())
                return found

        found = asyncio.run(ask())
        refused = ["refused" in one for one in found]
        assert refused == [False, False, False, False, True, True, False]
        assert found[3]["confirmed"] == [{"client_id": "3", "sequence": 3, "known": True}]
        assert found[4]["refused"][0]["reason"].startswith("the qualification is over")
        (said,) = {one.value for one in site.database.labels(item_id="q0")}
        assert said == "partly"
