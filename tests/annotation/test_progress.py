"""How far a project is: items by state, people, days, and what is left."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fakes.labelled_project import made_site, plain_items

from ragstone.annotation.agreement import agreements
from ragstone.annotation.label_columns import label_columns
from ragstone.annotation.progress import ProjectProgress, progress_of
from ragstone.annotation.site import Site


def progress(site: Site) -> ProjectProgress:
    """Return the progress of a site now."""
    columns = label_columns(site)
    return progress_of(columns, site.project.settings.people_per_item, agreements(columns))


def test_items_people_and_what_is_left(tmp_path: Path) -> None:
    """Each item has one state; times are medians of finished items."""
    with made_site(tmp_path / "p", 7, people_per_item=2) as (site, give):
        for person, seconds in (("ann", 10.0), ("ben", 20.0)):
            give(person, "q0", "yes", seconds=seconds)
            give(person, "q1", "yes" if person == "ann" else "no", seconds=seconds)
        give("ann", "q2", "yes", seconds=30.0)
        give("ann", "q3", "too hard", kind="skip", field="")
        give("ann", "q4", "too hard", kind="skip", field="")
        give("ben", "q4", "no", seconds=20.0)
        give("owner", "q6", None, kind="withdraw", field="")
        found = progress(site)
    states = (found.done, found.begun, found.skipped, found.open, found.withdrawn)
    assert states == (2, 2, 1, 1, 1)
    assert (found.items, found.disagreeing, found.labels) == (6, 1, 6)
    ann, ben = found.people
    assert (ann.name, ann.items, ann.skipped, ann.labels, ann.median_seconds) == (
        *("ann", 3, 2, 3), 10.0,
    )  # fmt: skip
    assert (ann.equal, ann.compared) == (0.5, 2)
    assert (ben.items, ben.median_seconds) == (3, 20.0)
    assert found.left == 12 - 6
    assert found.median_seconds == 20.0
    assert found.hours_left == pytest.approx(6 * 20 / 3600)
    assert [(one.labels, one.items, one.people) for one in found.days] == [(6, 6, 2)]
    assert (found.per_day, found.days_left) == (6, 1)


def test_an_empty_project_and_more_people_than_wanted(tmp_path: Path) -> None:
    """Nothing is known without labels; a third label of an item does not count as work done."""
    with made_site(tmp_path / "p", 2) as (site, give):
        empty = progress(site)
        for person in ("ann", "ben", "eve"):
            give(person, "q0", "yes", seconds=None)
        found = progress(site)
    assert (empty.open, empty.left, empty.people, empty.days) == (2, 2, (), ())
    assert (empty.days_left, empty.hours_left) == (None, None)
    assert (found.done, found.open, found.left) == (1, 1, 1)
    assert found.hours_left is None


def test_points_of_a_scale_disagree_from_two_on(tmp_path: Path) -> None:
    """As in the list of disagreements; an item with several answers is done if all are rated."""
    systems = [{"system": name, "answer": name} for name in ("a", "b")]
    items = [{**one, "answers": systems} for one in plain_items(2)]
    with made_site(tmp_path / "p", items, task="ratings") as (site, give):
        names = [one.name for one in site.project.scheme.questions]
        for person, value in (("ann", 2), ("ben", 3)):
            for name in names:
                for part in ("a", "b"):
                    give(person, "q0", value, name, part)
        give("ann", "q1", 1, names[0], "a")
        give("ben", "q1", 4, names[0], "a")
        found = progress(site)
    assert (found.done, found.begun, found.disagreeing) == (1, 1, 1)
