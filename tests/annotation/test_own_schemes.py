"""The schemes that come with Ragstone."""

from __future__ import annotations

from ragstone.annotation.own_schemes import CAUSES, VALIDATION
from ragstone.causes.order import CAUSES as ORDER
from ragstone.components.judges.critiques import CRITIQUES


def test_the_causes_are_those_that_are_measured() -> None:
    """People name the same causes as `ragstone show --causes`, each with a key."""
    (question,) = CAUSES.questions

    assert {one.value for one in question.options} == {one.name for one in ORDER}
    assert len(question.keys) == len(ORDER)
    assert all(one.words and one.name for one in question.options)


def test_validation_rates_by_the_names_of_critiques() -> None:
    """People's ratings can be compared with those of `data critique`."""
    rated = {one.name for one in VALIDATION.questions if one.numeric}

    assert rated <= set(CRITIQUES)
    assert [one.start for one in VALIDATION.questions if one.kind == "text"] == ["query", "answer"]
