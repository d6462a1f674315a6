"""Rubrics in a label of a query."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ragstone.components.judges.rubric import WeightedCriterion, rubric_of
from ragstone.core.registry import create
from ragstone.data.dataset import Dataset
from ragstone.errors import DatasetError
from ragstone.types import Label, Query


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("It is short.", [("It is short.", 1.0)]),
        (("A.", " ", "B."), [("A.", 1.0), ("B.", 1.0)]),
        ('[{"text": "A.", "weight": 0.5}]', [("A.", 0.5)]),
        ("", []),
        ("[sic] is quoted", [("[sic] is quoted", 1.0)]),
    ],
)
def test_every_form_of_a_rubric(label: Label, expected: list[tuple[str, float]]) -> None:
    """A sentence, sentences, objects, nothing."""
    found = rubric_of(Query("q", "?", labels={"rubric": label}), "rubric")
    assert found == [WeightedCriterion(*pair) for pair in expected]
    assert rubric_of(Query("q", "?"), "rubric") == []


@pytest.mark.parametrize(
    ("items", "problem"),
    [
        ([{"text": "A.", "weight": 0}], "has the weight 0; a weight is a number above 0"),
        ([{"text": "A.", "weight": "2"}], "has the weight '2'"),
        ([{"text": "A.", "weight": True}], "has the weight True"),
        ([{"text": ""}], r"has a criterion that is not \{text, weight\}"),
        (
            [{"text": "A.", "points": 2}],
            r"has .* not \{text, weight\}: \{'text': 'A.', 'points': 2\}",
        ),
    ],
)
def test_a_malformed_rubric_is_named(items: list[Any], problem: str) -> None:
    """With the query and the way out; before a judge asks anything."""
    query = {"query_id": "q7", "text": "?", "rubric": items}
    dataset = Dataset.from_records(queries=[query], passages=[{"passage_id": "p", "text": "T"}])
    with pytest.raises(DatasetError, match=rf"'rubric' of query 'q7' {problem}.*write a sentence"):
        rubric_of(dataset.queries[0], "rubric")
    model = {"name": "chat", "model": "m", "base_url": "http://localhost:1/v1"}
    judge = {"name": "criterion", "label": "rubric", "model": model}
    with pytest.raises(DatasetError, match="'q7'"):
        create("judges", judge, where="test").data_notes(dataset)


def test_broken_json_is_named() -> None:
    """With the query."""
    query = Query("q7", "?", labels={"rubric": json.dumps([{"text": "A."}])[:-2]})
    with pytest.raises(DatasetError, match="of query 'q7' is not valid JSON"):
        rubric_of(query, "rubric")
