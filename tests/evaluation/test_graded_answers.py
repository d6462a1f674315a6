"""Graded answers as columns: pairs count for both systems, and labels become groups."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ragstone.components.judges.verdict import Item
from ragstone.core import limits
from ragstone.errors import ConfigError
from ragstone.evaluation.graded_answers import answer_groups, order_of, rated_answers
from ragstone.evaluation.human_grades import HumanSet, Labelled, read_human_set
from ragstone.types import Query


def labelled(number: int, system: str, other: str = "", **labels: str) -> Labelled:
    """Return an answer of some characters to one of two questions."""
    query = Query(f"q{number % 2}", f"Question {number % 2}?", labels=labels)
    return Labelled(Item(query, "x" * number, other=other), 1.0, system=system)


def test_equal_questions_are_one_query() -> None:
    """Whatever their ids; a cluster of the data comes first."""
    one, other = Query("a-1", "Who?"), Query("a-2", "Who?")
    items = [Labelled(Item(one), 1.0, system="a"), Labelled(Item(other), 0.0, system="b")]

    answers, columns = rated_answers(items, [[1.0, 0.0]])

    assert answers.queries[0] == answers.queries[1] == answers.clusters[0]
    assert list(answers.systems) == ["a", "b"]
    assert columns == [[1.0, 0.0]]


def test_a_pair_counts_for_both_systems() -> None:
    """A win of one is a loss of the other; a difference changes its sign; None stays."""
    items = [labelled(0, "a / b", "text"), labelled(1, "b / c"), labelled(2, "c / a", "text")]

    answers, columns = rated_answers(items, [[1.0, 0.5, None], [0.4, -0.2, None]])

    assert list(answers.systems) == ["a", "b", "b", "c", "c", "a"]
    assert columns == [[1.0, 0.0, 0.5, 0.5, None, None], [0.4, -0.4, -0.2, 0.2, None, None]]
    found = order_of(HumanSet("made", tuple(items), "pairwise", "?", {}), [1, 1, 1], [1, 1, None])
    assert found is not None
    assert next(one.system for one in found.systems) == "a"


def test_default_groups_are_labels_with_few_values() -> None:
    """The system, labels of the queries, and thirds by length; a name per answer is left out."""
    items = [
        labelled(number, "ab"[number // 20], kind=f"k{number % 2}", name=f"n{number}")
        for number in range(40)
    ]

    found = answer_groups(items)

    assert list(found) == ["system", "kind", "length"]
    assert {value: len(places) for value, places in found["system"].items()} == {"a": 20, "b": 20}
    assert sorted(len(places) for places in found["length"].values()) == [13, 13, 14]
    assert next(iter(found["length"])) == "below 13 characters"


def test_asked_groups_are_bounded_and_unknown_labels_refused() -> None:
    """The least frequent values are joined; the error lists the labels."""
    items = [labelled(number, f"s{number}", kind="k") for number in range(40)]

    (groups,) = answer_groups(items, ["system"]).values()

    assert len(groups) == limits.SHOWN_CHECK_GROUPS
    assert len(groups["(others)"]) == 29
    with pytest.raises(ConfigError, match=r"no answer has the label 'knd'; did you mean 'kind'"):
        answer_groups(items, ["knd"])
    assert answer_groups([]) == {}
    kinds = {f"kind{n}": "ab" for n in range(9)}
    many = [labelled(n, "s", **{name: v[n % 2] for name, v in kinds.items()}) for n in range(40)]
    assert len(answer_groups(many)) == limits.SHOWN_CHECK_LABELS


def test_labels_of_mtrag(shared_data: Callable[[str], Path]) -> None:
    """Each task has three answers, and each answer is in one group of a label."""
    items = read_human_set(str(shared_data("mtrag"))).items

    found = answer_groups(items, ["answerability", "system"])

    assert {value: len(places) for value, places in found["answerability"].items()} == {
        "answerable": 405, "partial": 45, "unanswerable": 21, "conversational": 6,
    }  # fmt: skip
    for groups in found.values():
        assert sorted(place for places in groups.values() for place in places) == [*range(477)]
