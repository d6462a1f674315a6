"""When an item is done, and which known labels are right."""

from __future__ import annotations

from typing import Any

import pytest

from ragstone.annotation.done import is_done, places, right_labels
from ragstone.annotation.events import GivenLabel
from ragstone.annotation.items import AnnotationItem, ShownAnswer
from ragstone.annotation.schemes import Option, Question, Scheme
from ragstone.annotation.tasks import own_scheme
from ragstone.types import Passage, Query

ITEM = AnnotationItem(
    "q",
    Query("q", "When?"),
    (Passage("p1", "At six."), Passage("p2", "At seven.")),
    (ShownAnswer("a", "", "At six."), ShownAnswer("b", "x", None, "it failed")),
)
YES = (Option("yes"), Option("no"))


def label(field: str, part: str = "", value: Any = "yes") -> GivenLabel:
    """Return a label of a person."""
    return GivenLabel("q", "ann", field, part, value)


def test_each_required_question_about_each_part_has_a_label() -> None:
    """Answers that failed need none; optional questions need none."""
    scheme = Scheme(
        "s",
        (
            Question("whole", options=YES),
            Question("good", of="answer", options=YES),
            Question("relevant", of="passage", options=YES),
            Question("note", kind="text", optional=True),
        ),
    )
    needed = [("whole", ""), ("good", "a"), ("relevant", "p1"), ("relevant", "p2")]
    assert list(places(scheme, ITEM, {})) == needed
    labels = [label(*place) for place in needed]
    assert is_done(scheme, ITEM, labels)
    assert not any(is_done(scheme, ITEM, labels[:n] + labels[n + 1 :]) for n in range(4))


def test_the_parts_that_a_person_wrote_need_labels() -> None:
    """No part, then two parts."""
    assert is_done(own_scheme("nuggets"), ITEM, [label("nugget", value=[])])
    two = [label("nugget", value=["a", "b"]), label("importance", "part:1", "vital")]
    assert not is_done(own_scheme("nuggets"), ITEM, two)
    assert is_done(own_scheme("nuggets"), ITEM, [*two, label("importance", "part:2", "okay")])


def test_a_conversation_is_done_if_it_was_submitted() -> None:
    """Labels of its turns do not end it."""
    turns = [label("answerability", "1", "answerable")]
    assert not is_done(own_scheme("conversation"), ITEM, turns)
    assert is_done(own_scheme("conversation"), ITEM, [*turns, label("submitted", value=True)])


@pytest.mark.parametrize(
    ("scheme", "known", "labels", "right"),
    [
        (own_scheme("support"), {"support": "no"}, [label("support", value="no")], (1, 1)),
        (own_scheme("support"), {"support": "no"}, [label("support")], (0, 1)),
        (own_scheme("support"), {"support": "no"}, [label("skipped", value="unclear")], (0, 1)),
        (
            own_scheme("fanc"),
            {"faithfulness": {"a": 4, "b · x": 1}},
            [label("faithfulness", "a", 4), label("faithfulness", "b · x", 2)],
            (1, 2),
        ),
        (own_scheme("fanc"), {"faithfulness": 4}, [label("faithfulness", "a", 4)], (1, 1)),
    ],
)
def test_known_labels(
    scheme: Scheme, known: dict[str, Any], labels: list[GivenLabel], right: tuple[int, int]
) -> None:
    """The part may be left out if the item has one answer that can be rated."""
    item = AnnotationItem("q", ITEM.query, (), ITEM.answers, known=known)
    assert right_labels(scheme, item, labels) == right
