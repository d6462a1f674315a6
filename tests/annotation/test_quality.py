"""What the labels of a person show about their quality."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fakes.labelled_project import made_site, plain_items

from ragstone.annotation.items import AGAIN
from ragstone.annotation.quality import HASTY_SECONDS, quality
from ragstone.statistics.agreement import cohen_kappa
from ragstone.statistics.proportions import proportion


def test_known_labels_repeats_others_time_and_skips(tmp_path: Path) -> None:
    """Each share has its number of labels and an interval."""
    items = plain_items(6)
    items[5]["known"] = {"support": "no"}
    with made_site(tmp_path, items) as (site, give):
        for item_id, value, other in (
            ("q0", "yes", "yes"), ("q1", "no", "no"), ("q2", "yes", "no"), ("q3", "no", "no")
        ):  # fmt: skip
            give("ann", item_id, value, seconds=4.0)
            give("ben", item_id, other, seconds=HASTY_SECONDS / 2)
        give("ann", f"q0{AGAIN}", "yes", seconds=3.0)
        give("ann", f"q1{AGAIN}", "yes", seconds=None)
        give("ann", "q4", "the passage is empty", kind="skip")
        give("ann", "q5", "no")
        give("ben", "q5", "yes")
        give("owner", "q2", "no", "adjudicated:support")
        ann, ben = quality(site.project, site.database)

    assert (ann.items, ann.labels) == (4, 4)
    assert (ann.seconds, ann.timed, ann.hasty, ben.hasty) == (4.0, 4, 0, 4)
    assert (ann.known, ben.known) == (proportion(1, 1), proportion(0, 1))
    assert ann.repeats[0].same == proportion(1, 2)
    assert ann.others[0].same == proportion(3, 4)
    mine, others = ["yes", "no", "yes", "no"], ["yes", "no", "no", "no"]
    assert ann.others[0].kappa.value == cohen_kappa(mine, others).value == 0.5
    assert ann.skips == {"q4": "the passage is empty"}
    assert ben.repeats[0].same.value is None


def test_a_scale_has_weights_and_three_people_a_majority(tmp_path: Path) -> None:
    """A tie of the others is left out; a near point counts for a part."""
    with made_site(tmp_path, task="labels") as (site, give):
        for item_id, values in {"q0": (0, 0, 0), "q1": (3, 2, 2), "q2": (1, 0, 3)}.items():
            for person, value in zip(("ann", "ben", "cem"), values, strict=True):
                give(person, item_id, value, "relevance")
        ann = quality(site.project, site.database)[0]

    assert ann.others[0].same == proportion(1, 2)
    wanted = cohen_kappa([0, 3], [0, 2], weights="quadratic").value
    assert ann.others[0].kappa.value == pytest.approx(wanted)


def test_hostile_values_and_no_labels(tmp_path: Path) -> None:
    """A value of any form is compared; a project without labels has no rows."""
    with made_site(tmp_path) as (site, give):
        assert quality(site.project, site.database) == []
        for person, value in (("ann", {"a": [1]}), ("ben", True)):
            give(person, "q0", value)
        give("ann", "gone", "yes")
        ann, _ = quality(site.project, site.database)
    assert (ann.labels, ann.others[0].same) == (1, proportion(0, 1))
