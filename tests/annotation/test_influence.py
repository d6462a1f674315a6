"""People against the model: MIRAGE's validation in small, and what showing suggestions changes."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import krippendorff
import numpy as np
import pytest
from statsmodels.stats.inter_rater import cohens_kappa, to_table
from tests.fakes.labelled_project import made_site, plain_items
from tests.fakes.mirage_labels import PEOPLE, mirage_site, mirage_table

from ragstone.annotation.agreement import agreements
from ragstone.annotation.events import Event
from ragstone.annotation.influence import model_labels
from ragstone.annotation.label_columns import label_columns


def test_a_validation_of_mirages_size_has_the_kappas_of_statsmodels(tmp_path: Path) -> None:
    """Each person with the model, each pair of people, and alpha, over 500 items."""
    table = mirage_table()

    def kappa(a: int, b: int) -> float:
        return float(cohens_kappa(to_table(table[[a, b]].T, bins=2)[0]).kappa)

    with mirage_site(tmp_path / "p") as site:
        columns = label_columns(site)
        (question,) = agreements(columns)
        (found,) = model_labels(columns, site.database)

    assert (found.suggested, question.agreement.ratings) == (500, 1500)
    assert [one.person for one in found.people] == list(PEOPLE)
    for number, one in enumerate(found.people, 1):
        assert one.equal.mean == pytest.approx((table[number] == table[0]).mean(), abs=1e-12)
        assert one.kappa.value == pytest.approx(kappa(0, number), abs=1e-9)
        assert one.kappa.n == 500
    pairs = {(one.a, one.b): one.kappa.value for one in question.agreement.pairwise}
    for (a, first), (b, second) in combinations(enumerate(PEOPLE, 1), 2):
        assert pairs[first, second] == pytest.approx(kappa(a, b), abs=1e-9)
    alpha = krippendorff.alpha(table[1:].astype(float), level_of_measurement="nominal")
    assert question.agreement.alpha.value == pytest.approx(alpha, abs=1e-9)
    assert not found.was_shown


def test_groups_by_when_a_suggestion_was_shown(tmp_path: Path) -> None:
    """Shares by hand; differences are from the labels without a suggestion."""
    items = [{**one, "suggested": {"support": "yes"}} for one in plain_items(40)]
    with made_site(tmp_path / "p", items) as (site, _):
        for person in ("ann", "ben"):
            events = [
                Event(
                    f"{person}-{place}",
                    "label",
                    f"q{place}",
                    "support",
                    value="yes" if place < 20 or place % 2 else "no",
                    shown="before" if place < 20 else "",
                )
                for place in range(40)
            ]
            site.database.append(person, events)
        (found,) = model_labels(label_columns(site), site.database)
    never, before = found.groups
    assert [one.shown for one in found.groups] == ["never", "before"]
    assert found.was_shown
    assert (never.with_model.mean, never.with_model.n, before.with_model.mean) == (0.5, 40, 1)
    assert (never.with_others.mean, before.with_others.mean) == (1, 1)
    assert never.model_difference is None
    assert before.model_difference is not None
    assert before.model_difference.difference == 0.5
    assert before.model_difference.excludes_zero
    assert (found.after, found.changed) == (0, 0)


def test_labels_that_were_changed_after_the_suggestion_was_shown(tmp_path: Path) -> None:
    """To the model's label or to another one; an undone first label does not count."""
    items = [{**one, "suggested": {"support": "yes"}} for one in plain_items(5)]
    with made_site(tmp_path / "p", items) as (site, _):
        given = [
            [("q0", "no"), ("q1", "no"), ("q2", "yes"), ("q3", "no")],
            [("q0", "yes"), ("q1", "partly"), ("q3", "yes")],
        ]
        for round_number, labels in enumerate(given):
            for item_id, value in labels:
                if (round_number, item_id) == (1, "q3"):
                    undo = Event("u", "undo", "q3", value="0-q3")
                    site.database.append("ann", [undo])
                client_id = f"{round_number}-{item_id}"
                event = Event(client_id, "label", item_id, "support", value=value, shown="after")
                site.database.append("ann", [event])
        (found,) = model_labels(label_columns(site), site.database)
    assert (found.after, found.changed, found.to_model) == (4, 2, 1)


def test_changed_labels_are_no_group_of_their_own(tmp_path: Path) -> None:
    """Who changes to the model's label agrees with it by choice: the label before it counts."""
    items = [{**one, "suggested": {"support": "yes"}} for one in plain_items(4)]
    with made_site(tmp_path / "p", items) as (site, _):
        first = [
            Event(f"a{n}", "label", f"q{n}", "support", value="no", shown="after") for n in range(4)
        ]
        changed = Event("b", "label", "q0", "support", value="yes", shown="before")
        site.database.append("ann", [*first, changed])
        (found,) = model_labels(label_columns(site), site.database)
    assert [(one.shown, one.with_model.n, one.with_model.mean) for one in found.groups] == [
        ("after", 4, 0.0)
    ]
    assert (found.changed, found.to_model, found.is_influenced) == (1, 1, False)


def test_every_label_was_changed_after_the_suggestion(tmp_path: Path) -> None:
    """The first labels count, though no label that counts now was given before the suggestion."""
    items = [{**one, "suggested": {"support": "yes"}} for one in plain_items(3)]
    with made_site(tmp_path / "p", items) as (site, _):
        for n, value in enumerate(("yes", "yes", "partly")):
            first = Event(f"a{n}", "label", f"q{n}", "support", value="no", shown="after")
            changed = Event(f"b{n}", "label", f"q{n}", "support", value=value, shown="before")
            site.database.append("ann", [first, changed])
        (found,) = model_labels(label_columns(site), site.database)
    assert (found.after, found.changed, found.to_model) == (3, 3, 2)
    assert [(one.shown, one.with_model.mean) for one in found.groups] == [("after", 0.0)]


def test_without_suggestions_there_is_nothing(tmp_path: Path) -> None:
    """Items without a model's label."""
    with made_site(tmp_path / "p", 2) as (site, give):
        give("ann", "q0", "yes")
        assert model_labels(label_columns(site), site.database) == ()
    assert np.isfinite(mirage_table()).all()
