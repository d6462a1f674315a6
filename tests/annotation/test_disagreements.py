"""The label that counts in the end, and what people disagree about."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.fakes.labelled_project import made_site

from ragstone.annotation.disagreements import (
    ADJUDICATED,
    FinalLabel,
    comparable,
    disagreements,
    final_labels,
)


@pytest.mark.parametrize(
    ("values", "final"),
    [
        (["yes"], FinalLabel("yes", "only", 1)),
        (["yes", "yes"], FinalLabel("yes", "agreed", 2)),
        (["yes", "no", "yes"], FinalLabel("yes", "majority", 3)),
        (["yes", "no"], FinalLabel(None, "unresolved", 2)),
        ([["b", "a"], ["a", "b"]], FinalLabel(["b", "a"], "agreed", 2)),
    ],
)
def test_the_label_of_words_is_that_of_the_majority(
    tmp_path: Path, values: list[Any], final: FinalLabel
) -> None:
    """More than half of the people must have given it."""
    with made_site(tmp_path) as (site, give):
        for number, value in enumerate(values):
            give(f"person {number}", "q1", value)
        found = final_labels(site.project, site.database)
    assert found == {("q1", "support", ""): final}


@pytest.mark.parametrize(
    ("values", "how", "size"),
    [([3, 3], "agreed", None), ([2, 3], "median", None), ([0, 2], "median", 2 / 3)],
)
def test_labels_of_a_scale_may_differ_by_a_point(
    tmp_path: Path, values: list[int], how: str, size: float | None
) -> None:
    """Two points of 0 to 3 are a disagreement; the median counts."""
    with made_site(tmp_path, task="labels") as (site, give):
        for number, value in enumerate(values):
            give(f"person {number}", "q1", value, "relevance")
        final = final_labels(site.project, site.database)["q1", "relevance", ""]
        found = disagreements(site.project, site.database)
        all_found = disagreements(site.project, site.database, threshold=1)
    assert (final.value, final.how) == (sum(values) / 2, how)
    assert [one.size for one in found] == ([] if size is None else [size])
    assert len(all_found) == (values[0] != values[1])


def test_a_value_outside_the_scale_is_a_word(tmp_path: Path) -> None:
    """It has no median."""
    with made_site(tmp_path, task="labels") as (site, give):
        give("ann", "q1", "<b>", "relevance")
        give("ben", "q1", 3, "relevance")
        assert final_labels(site.project, site.database)["q1", "relevance", ""].value is None
        assert [one.size for one in disagreements(site.project, site.database)] == [0.5]


def test_a_decision_counts_if_it_is_not_of_an_annotator(tmp_path: Path) -> None:
    """The last one counts; the labels of the people stay as they were."""
    with made_site(tmp_path) as (site, give):
        site.database.add_person("ann", "annotator")
        site.database.add_person("rea", "reviewer")
        give("ann", "q1", "yes")
        give("ben", "q1", "no")
        give("ann", "q1", "yes", f"{ADJUDICATED}support")
        place = ("q1", "support", "")
        assert final_labels(site.project, site.database)[place].how == "unresolved"
        give("rea", "q1", "partly", f"{ADJUDICATED}support")
        assert final_labels(site.project, site.database)[place] == FinalLabel(
            "partly", "adjudicated", 2
        )
        (found,) = disagreements(site.project, site.database)
        assert found.decided
        assert [one.value for one in found.given] == ["yes", "no"]
        give("rea", "q1", None, f"{ADJUDICATED}support")
        assert final_labels(site.project, site.database)[place].how == "unresolved"


def test_other_labels_are_left_out(tmp_path: Path) -> None:
    """Known items, repeats, withdrawn items, other questions and items that are gone."""
    items: list[dict[str, Any]] = [
        {"item_id": "a", "query": "A?"},
        {"item_id": "k", "query": "K?", "known": {"support": "no"}},
        {"item_id": "w", "query": "W?"},
    ]
    with made_site(tmp_path, items) as (site, give):
        site.database.add_person("ann", "annotator")
        for item_id in ("a", "k", "w", "a#again", "gone"):
            give("ann", item_id, "yes")
        give("ann", "a", "yes", "mood")
        give("owner", "a", "unclear", kind="withdraw")
        give("owner", "a", "c6", kind="undo")
        give("owner", "w", "unclear", kind="withdraw")
        assert list(final_labels(site.project, site.database)) == [("a", "support", "")]
        with_known = final_labels(site.project, site.database, known=True)
        assert list(with_known) == [("a", "support", ""), ("k", "support", "")]


def test_the_largest_disagreement_comes_first(tmp_path: Path) -> None:
    """One of three, then two halves."""
    with made_site(tmp_path) as (site, give):
        for person, value in (("ann", "yes"), ("ben", "yes"), ("cem", "no")):
            give(person, "q1", value)
        for person, value in (("ann", "yes"), ("ben", "no")):
            give(person, "q3", value)
        found = disagreements(site.project, site.database)
    assert [(one.item_id, round(one.size, 2)) for one in found] == [("q3", 0.5), ("q1", 0.33)]


def test_objects_are_compared_by_their_content() -> None:
    """The order of keys does not matter."""
    assert comparable({"a": 1, "b": 2}) == comparable({"b": 2, "a": 1})
