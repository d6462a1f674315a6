"""The page of progress: what it says, and who may read it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.annotation.served_site import browser, sign_in
from tests.fakes.labelled_project import made_site, plain_items
from tests.fakes.mirage_labels import mirage_site

from ragstone.annotation.app import make_app
from ragstone.annotation.site import Site
from ragstone.web.server import running


def asked(site: Site, path: str, token: str = "") -> tuple[int, Any]:
    """Return the status of a page and its text, or its plain data."""

    async def ask() -> tuple[int, Any]:
        async with running(make_app(site)) as address, browser() as client:
            if token:
                await sign_in(client, address, token)
            async with client.get(f"{address}{path}") as reply:
                return reply.status, await (reply.json() if ".json" in path else reply.text())

    return asyncio.run(ask())


def test_the_verdict_and_the_figures(tmp_path: Path) -> None:
    """The page and its plain data have the same figures."""
    with mirage_site(tmp_path / "p", done=0.4) as site:
        status, data = asked(site, "progress.json")
        _, page = asked(site, "progress")
    assert status == 200
    alpha = data["questions"][0]["alpha"]
    low, high = (f"{end:.2f}".lstrip("0") for end in alpha["interval"])
    shown = f"{alpha['value']:.2f}".lstrip("0")
    assert data["verdict"] == f"200 of 500 items have 3 labels; alpha {shown} [{low}, {high}]"
    assert f">{data['verdict']}</h1>" in page
    assert "900 of 1,500 items are left, counted per person" in page
    assert "more labels; " in page
    assert "with the model" in page
    assert [one["name"] for one in data["people"]] == ["ann", "ben", "eve"]
    assert data["progress"]["done"] == 200


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (1.0, "1.0 days at 1.0 a day, 1 minute of"),
        (240.0, "1.0 days at 1.0 a day, 4 minutes of"),
        (5400.0, "1.0 days at 1.0 a day, 1.5 hours of"),
    ],
)
def test_the_time_of_people_is_in_minutes_below_an_hour(
    tmp_path: Path, seconds: float, said: str
) -> None:
    """No page has 0.0 hours left, or 0.0 days."""
    with made_site(tmp_path / "p", 2) as (site, give):
        give("ann", "q0", "yes", seconds=seconds)
        _, page = asked(site, "progress")
    assert said in page


def test_a_part_of_a_day_is_less_than_a_day(tmp_path: Path) -> None:
    """Of three items, two are done today."""
    with made_site(tmp_path / "p", 3) as (site, give):
        for item_id in ("q0", "q1"):
            give("ann", item_id, "yes")
        _, page = asked(site, "progress")
    assert "1 of 3 items are left: less than a day at 2.0 a day, 1 minute of" in page


def test_an_empty_project_and_hostile_names(tmp_path: Path) -> None:
    """Nothing is divided by zero, and a name is text."""
    hostile = '<img src=x onerror="document.title=1">\u202e'
    with made_site(tmp_path / "p", 3) as (site, give):
        status, page = asked(site, "progress")
        assert status == 200
        assert "0 of 3 items have a label" in page
        assert "at least 10 labels are needed" in page
        give(hostile, "q0", "yes")
    with made_site(tmp_path / "p", 3) as (site, _):
        _, page = asked(site, "progress")
        _, detail = asked(site, "agreement")
    assert "<img" not in page + detail
    assert "9 more labels, then it can be known" in page


@pytest.mark.parametrize(
    ("shift", "said"), [(1, "(naturalness) to 1 (faithfulness)"), (0, "; alpha 1 of each question")]
)
def test_several_questions_have_the_range_of_alphas(shift: int, said: str, tmp_path: Path) -> None:
    """From the lowest to the highest, with the questions, if they differ."""
    items = [{**one, "answers": [{"system": "a", "answer": "At six."}]} for one in plain_items(8)]
    with made_site(tmp_path / "p", items, task="ratings") as (site, give):
        for person in ("ann", "ben"):
            for place in range(8):
                give(person, f"q{place}", 1 + place % 4, "faithfulness", "a")
                value = 1 + (place + shift * (person == "ben")) % 4
                give(person, f"q{place}", value, "naturalness", "a")
        _, data = asked(site, "progress.json")
    assert said in data["verdict"]


def test_annotators_do_not_see_it(tmp_path: Path) -> None:
    """The page is for reviewers and owners."""
    with made_site(tmp_path / "p", 2) as (site, _):
        for role, expected in (("annotator", 403), ("reviewer", 200), ("owner", 200)):
            token = site.database.add_person(role, role)  # type: ignore[arg-type]
            assert asked(site, "progress.json", token)[0] == expected


def test_conversations_are_done_when_they_are_submitted(tmp_path: Path) -> None:
    """The labels of turns, and of the passages of a turn, have figures of their own."""
    with made_site(tmp_path / "p", 2, task="conversation") as (site, give):
        for person, value in (("ann", "answerable"), ("ben", "partial")):
            give(person, "q0", value, "answerability", "1")
            give(person, "q0", "yes", "relevance", "1/p0")
        give("ann", "q0", True, "submitted")
        status, data = asked(site, "progress.json")
        page = asked(site, "progress")[1]
        assert asked(site, "agreement?question=relevance")[0] == 200
    assert (status, data["progress"]["done"]) == (200, 1)
    assert {one["question"] for one in data["questions"]} >= {"answerability", "relevance"}
    assert "1 of 2 items have a label" in page
