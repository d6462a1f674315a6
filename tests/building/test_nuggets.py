"""Nuggets: facts in the answer are vital, other facts of the passage are okay."""

from __future__ import annotations

from ragstone.building.draft import Draft
from ragstone.building.nuggets import nugget_labels


def test_facts_of_a_summary_are_vital_and_the_others_okay() -> None:
    """A summary of two facts has two vital nuggets."""
    facts = ("The mill was built in 1712.", "The mill burnt in 1840.", "Ducks live there.")
    draft = Draft("statements", "summary", (), facts=facts)
    draft.answer = "The mill, built in 1712, burnt in 1840."
    assert nugget_labels(draft) == {"vital_nuggets": facts[:2], "okay_nuggets": facts[2:]}


def test_a_query_without_an_answer_has_no_nuggets() -> None:
    """Unanswerable queries have neither label."""
    assert nugget_labels(Draft("adversarial", "unanswerable", ())) == {}
