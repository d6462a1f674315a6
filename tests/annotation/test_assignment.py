"""Which items a person gets: overlap, qualification, repeats, skips and withdrawn items."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest
from tests.fakes.labelled_project import Give, made_site, plain_items

from ragstone.annotation.assignment import next_items, standing
from ragstone.annotation.items import AGAIN, base_id
from ragstone.annotation.site import Site
from ragstone.annotation.work import REPEAT_AFTER, Work
from ragstone.web import limits


def finish(site: Site, give: Give, person: str, value: str = "yes") -> list[str]:
    """Label all items that a person gets, and return their ids in order."""
    found = []
    while given := next_items(site, person, 1):
        give(person, given[0], value)
        found.append(given[0])
    return found


def test_the_order_is_drawn_per_person(tmp_path: Path) -> None:
    """The same order at each start; that of the file if the project says so."""
    with made_site(tmp_path / "a", 30, people_per_item=3) as (site, _):
        first = {name: next_items(site, name, 30) for name in ("ann", "ben")}
        again = Site(site.project, site.database)
        assert {name: next_items(again, name, 30) for name in ("ann", "ben")} == first
        assert first["ann"] != first["ben"]
        assert sorted(first["ann"]) == sorted(site.project.items)
    with made_site(tmp_path / "b", 30, order="file") as (site, _):
        assert next_items(site, "ann", 30) == list(site.project.items)


@pytest.mark.parametrize("seed", range(3))
def test_every_item_gets_as_many_people_as_the_project_says(tmp_path: Path, seed: int) -> None:
    """Three people in any order, two people per item; a label may be undone in between."""
    drawing = random.Random(seed)  # noqa: S311
    with made_site(tmp_path, 40, people_per_item=2, seed=seed) as (site, give):
        idle: set[str] = set()
        while len(idle) < 3:
            person = drawing.choice(["ann", "ben", "cem"])
            given = next_items(site, person, drawing.randint(1, 3))
            idle = idle - {person} if given else idle | {person}
            for item_id in given:
                give(person, item_id, "yes")
                if drawing.random() < 0.2:
                    give(person, item_id, None)
                    idle.clear()
        labels = Counter(one.item_id for one in site.database.labels())
    assert labels == dict.fromkeys((f"q{n}" for n in range(40)), 2)


def test_two_people_who_ask_at_once_get_different_items(tmp_path: Path) -> None:
    """Until one of them leaves an item for some minutes."""
    now = [1e9]
    with made_site(tmp_path, 5) as (site, give):
        site.work = Work(site.project, site.database, clock=lambda: now[0])
        ann, ben = next_items(site, "ann", 3), next_items(site, "ben", 3)
        assert len({*ann, *ben}) == 5
        assert next_items(site, "cem", 1) == []
        assert standing(site, "cem").state == "waiting"
        assert next_items(site, "ann", 3) == ann
        give("ann", ann[0], "yes")
        now[0] += 60 * limits.CLAIM_MINUTES
        assert set(next_items(site, "cem", 5)) == {*site.project.items} - {ann[0]}


def test_a_person_who_asks_for_all_items_keeps_a_few(tmp_path: Path) -> None:
    """Others get the rest."""
    with made_site(tmp_path, 20) as (site, _):
        first = next_items(site, "ann", 20)
        assert len(first) == 20
        assert set(next_items(site, "ben", 20)) == set(first[limits.CLAIMED_ITEMS :])
        found = standing(site, "ben")
        assert (found.state, found.left) == ("open", 20)


def test_an_item_that_was_opened_before_a_restart_is_open_at_its_person(tmp_path: Path) -> None:
    """The event of opening it has the time."""
    with made_site(tmp_path, 2) as (site, give):
        give("ann", "q0", None, kind="open")
        assert next_items(Site(site.project, site.database), "ben", 2) == ["q1"]
        assert set(next_items(Site(site.project, site.database), "ann", 2)) == {"q0", "q1"}


def test_an_owner_who_only_looks_takes_no_item(tmp_path: Path) -> None:
    """Neither one without an entry nor a named one; who has labelled an item takes the next."""
    with made_site(tmp_path, 3) as (site, give):
        site.database.add_person("olga", "owner")
        for person in ("owner", "olga"):
            first, *_ = next_items(site, person, 3)
            give(person, first, None, kind="open")
        for again in (site, Site(site.project, site.database)):
            assert len(next_items(again, "olga", 3)) == 3
        ann = next_items(site, "ann", 1)
        give("owner", next_items(site, "owner", 1)[0], "yes")
        last = next_items(site, "owner", 3)
        assert len({*ann, *last}) == 2
        assert next_items(site, "ben", 3) == []


def test_a_skipped_item_goes_to_others(tmp_path: Path) -> None:
    """If the skip is undone, the item comes back, unless it is open at another person."""
    with made_site(tmp_path, 1) as (site, give):
        assert next_items(site, "ann", 1) == ["q0"]
        give("ann", "q0", "unclear", kind="skip")
        assert (next_items(site, "ann", 1), standing(site, "ann").skipped) == ([], 1)
        assert next_items(site, "ben", 1) == ["q0"]
        give("ben", "q0", "yes")
        assert standing(site, "ben").state == standing(site, "ann").state == "finished"
        give("ben", "q0", None)
        give("ann", "q0", "c0", kind="undo")
        assert next_items(site, "ann", 1) == []
        assert standing(site, "ann").state == "waiting"


def test_an_undone_label_brings_the_item_back(tmp_path: Path) -> None:
    """To its person, at whom it is open."""
    with made_site(tmp_path, 3) as (site, give):
        assert len(finish(site, give, "ann")) == 3
        assert next_items(site, "ben", 1) == []
        last = list(site.database.events(item_id="q1"))[-1].event.client_id
        give("ann", "q1", last, kind="undo")
        assert next_items(site, "ben", 1) == []
        assert next_items(site, "ann", 1) == ["q1"]


def test_a_withdrawn_item_goes_to_nobody(tmp_path: Path) -> None:
    """Until it is taken back; labels in between are not lost."""
    with made_site(tmp_path, 2) as (site, give):
        give("owner", "q0", "unclear", kind="withdraw")
        assert next_items(site, "ann", 2) == ["q1"]
        give("owner", "q0", "c0", kind="undo")
        assert set(next_items(site, "ann", 2)) == {"q0", "q1"}


def with_known(count: int, known: int) -> list[dict[str, object]]:
    """Return plain items, the last of which are qualification items."""
    items = plain_items(count)
    for one in items[count - known :]:
        one["known"] = {"support": "no"}
    return items


def test_qualification_items_come_first_and_open_the_others(tmp_path: Path) -> None:
    """Three of four are enough; each person gets them, and they are not finished items."""
    with made_site(tmp_path, with_known(8, 4), qualification=0.75) as (site, give):
        for person in ("ann", "ben"):
            first = next_items(site, person, 8)
            assert set(first) == {"q4", "q5", "q6", "q7"}
            assert standing(site, person).state == "qualifying"
            for number, item_id in enumerate(first):
                give(person, item_id, "yes" if number == 0 else "no")
            found = standing(site, person)
            assert found.qualification is not None
            assert (found.qualification.count, found.qualification.n) == (3, 4)
        assert len(next_items(site, "ann", 8)) == 4
        assert (standing(site, "ann").state, standing(site, "ann").finished) == ("open", 0)
        assert len(finish(Site(site.project, site.database), give, "ann")) == 4


def test_a_person_who_fails_the_qualification_gets_nothing_else(tmp_path: Path) -> None:
    """The reason has the number of labels; a skip is not right."""
    with made_site(tmp_path, with_known(5, 2), qualification=0.8) as (site, give):
        give("ann", "q3", "no")
        give("ann", "q4", "unclear", kind="skip")
        assert next_items(site, "ann", 5) == []
        found = standing(site, "ann")
        assert found.state == "failed"
        assert found.said.startswith("1 of 2 labels of the qualification are right")
        assert "80%" in found.said
    with made_site(tmp_path / "none", 2, qualification=0.8) as (site, _):
        assert next_items(site, "ann", 1) == []
        assert "none of its items has known labels" in standing(site, "ann").said


def test_repeats_come_twenty_items_later(tmp_path: Path) -> None:
    """Each item comes again once; the first label stays."""
    with made_site(tmp_path, 30, repeats=1.0) as (site, give):
        seen = finish(site, give, "ann")
        firsts = [one for one in seen if not one.endswith(AGAIN)]
        repeats = [one for one in seen if one.endswith(AGAIN)]
        assert len(firsts) == len(repeats) == 30
        assert [base_id(one) for one in repeats] == firsts
        due = seen[: seen.index(firsts[-1])]
        for one in due:
            if one.endswith(AGAIN):
                between = due[due.index(base_id(one)) + 1 : due.index(one)]
                assert sum(not other.endswith(AGAIN) for other in between) >= REPEAT_AFTER
        assert standing(site, "ann").finished == 30
        assert len(list(site.database.labels())) == 60
        assert finish(Site(site.project, site.database), give, "ann") == []


def test_a_share_of_the_items_comes_again(tmp_path: Path) -> None:
    """About a fifth; the same ones after a restart, and none of them to others."""
    with made_site(tmp_path, 200, repeats=0.2) as (site, give):
        for number in range(150):
            give("ann", f"q{number}", "yes")
        ids = [f"q{n}" for n in range(150, 200)]
        seen = finish(Site(site.project, site.database), give, "ann")
        assert sorted(one for one in seen if not one.endswith(AGAIN)) == sorted(ids)
        assert 20 <= len([one for one in seen if one.endswith(AGAIN)]) <= 60
        assert next_items(site, "ben", 1) == []
