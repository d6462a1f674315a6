"""Topics: passages of one subject are one group, and units of all groups are taken in turn."""

from __future__ import annotations

import pytest

from ragstone.building.topics import coverage, in_turn, topics_of
from ragstone.core import limits
from ragstone.types import Passage

SUBJECTS = (
    "The cod swims in the cold sea with herring and mackerel",
    "Stars and planets move around the galaxy with comets",
    "The baker kneads dough for bread with flour and yeast",
)
PASSAGES = [
    Passage(f"{place}-{n}", f"{subject}, note {n} of the series.")
    for n in range(10)
    for place, subject in enumerate(SUBJECTS)
]


def test_passages_of_a_subject_are_a_topic() -> None:
    """Three subjects of ten passages are three topics, the same ones on each call."""
    found = topics_of(PASSAGES)
    by_subject = [{found[f"{place}-{n}"] for n in range(10)} for place in range(3)]
    assert all(len(topics) == 1 for topics in by_subject)
    assert set.union(*by_subject) == {0, 1, 2}
    assert topics_of(PASSAGES) == found


def test_the_number_of_topics_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """With one topic at most, all passages are of it."""
    monkeypatch.setattr(limits, "TOPICS", 1)
    assert set(topics_of(PASSAGES).values()) == {0}


def test_few_or_equal_passages_are_one_topic() -> None:
    """Without passages there is no topic; equal texts, or texts without words, are one."""
    assert topics_of([]) == {}
    assert topics_of(PASSAGES[:3]) == dict.fromkeys(("0-0", "1-0", "2-0"), 0)
    same = [Passage(str(n), "...") for n in range(40)]
    assert set(topics_of(same).values()) == {0}


def test_units_are_taken_of_each_topic_in_turn() -> None:
    """The first units are of different topics; a small topic is used up first."""
    units = [(Passage(name, ""),) for name in ("a1", "a2", "a3", "b1")]
    topics = {"a1": 0, "a2": 0, "a3": 0, "b1": 1}
    assert [unit[0].passage_id for unit in in_turn(units, topics)] == ["a1", "b1", "a2", "a3"]


def test_coverage_of_nothing_has_no_share() -> None:
    """Without used passages, no topic is covered."""
    assert coverage({"a": 0}, []) == {"topics": 1, "covered": 0, "largest_share": None}
