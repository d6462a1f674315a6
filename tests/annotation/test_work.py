"""Work over HTTP: three named people label a served project until nothing is left."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from pathlib import Path
from uuid import uuid4

import aiohttp
import pytest
from tests.annotation.served_site import label, sign_in
from tests.fakes.labelled_project import made_site

from ragstone.annotation.app import make_app
from ragstone.annotation.disagreements import final_labels
from ragstone.annotation.items import AGAIN
from ragstone.errors import StoreUnavailable
from ragstone.web.server import running

PEOPLE = ("ann", "ben", "cem")


async def work(address: str, token: str) -> list[str]:
    """Label what the page of labels shows until it shows nothing; return the ids."""
    found: list[str] = []
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as client:
        await sign_in(client, address, token)
        while True:
            async with client.get(f"{address}item") as reply:
                shown = re.search(r'data-item="([^"]+)"', await reply.text())
            if shown is None:
                return found
            found.append(shown[1])
            event = label(uuid4().hex, "yes", shown[1])
            async with client.post(f"{address}events", json=event) as reply:
                assert (await reply.json())["confirmed"], shown[1]
            decision = label(uuid4().hex, "no", shown[1], field="adjudicated:support")
            await client.post(f"{address}events", json=decision)
            assert len(found) < 100


def test_three_people_at_once_give_two_labels_per_item(tmp_path: Path) -> None:
    """Repeats are kept beside the first labels; an annotator decides nothing."""
    with made_site(tmp_path, 12, people_per_item=2, repeats=0.5) as (site, _):
        site.is_open = False
        tokens = {name: site.database.add_person(name, "annotator") for name in PEOPLE}

        async def serve() -> list[list[str]]:
            async with running(make_app(site)) as address:
                jobs = [work(address, token) for token in tokens.values()]
                first = await asyncio.gather(*jobs)
                # Items that were open at another person when somebody stopped.
                return [*first, *[await work(address, token) for token in tokens.values()]]

        given = asyncio.run(serve())
        found = final_labels(site.project, site.database)
    seen = Counter(item_id for ids in given for item_id in ids)
    assert {n for item_id, n in seen.items() if not item_id.endswith(AGAIN)} == {2}
    assert any(item_id.endswith(AGAIN) for item_id in seen)
    assert {one.how for one in found.values()} == {"agreed"}
    assert len(found) == 12


def test_no_event_is_missed_if_the_database_fails_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next call takes in the same events: the item is not offered again."""
    with made_site(tmp_path, 2) as (site, give):
        site.work.refresh()
        give("ann", "q0", "yes")

        def fails(**_chosen: object) -> None:
            raise StoreUnavailable("the server was restarted")

        with monkeypatch.context() as changed:
            changed.setattr(site.database, "labels", fails)
            with pytest.raises(StoreUnavailable):
                site.work.refresh()
        give("ann", "q1", "yes")
        site.work.refresh()

        assert site.work.of("ann").states == {"q0": "done", "q1": "done"}
