"""Rubrics of queries: a list of criteria with weights, in a label."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ragstone.core.parsing import parse_json
from ragstone.errors import DatasetError
from ragstone.types import Query


@dataclass(frozen=True)
class WeightedCriterion:
    """A sentence about the answer, and its weight in a rubric."""

    text: str
    weight: float = 1.0


def rubric_of(query: Query, label: str) -> list[WeightedCriterion]:
    """Return the criteria in a label of a query; [] if the query has none.

    The label is a sentence, a list of sentences, or a list of objects with `text` and `weight`.

    Raises:
        DatasetError: the label has another form, or a weight is not above 0.

    >>> rubric = '[{"text": "It names Paris.", "weight": 2}, {"text": "It is short."}]'
    >>> [one.weight for one in rubric_of(Query("q", "?", labels={"rubric": rubric}), "rubric")]
    [2.0, 1.0]
    """
    value = query.labels.get(label)
    items: Any = value if isinstance(value, tuple) else [value]
    # A list of objects is a label as the text of its JSON.
    if isinstance(value, str) and value.lstrip().startswith("[{"):
        try:
            items = parse_json(value.encode())
        except ValueError as error:
            raise _wrong(query, label, f"is not valid JSON ({error})") from error
    given = [one for one in items if one is not None and str(one).strip()]
    return [_criterion(query, label, one) for one in given]


def _criterion(query: Query, label: str, given: Any) -> WeightedCriterion:
    if not isinstance(given, Mapping):
        return WeightedCriterion(str(given))
    text, weight = given.get("text"), given.get("weight", 1)
    if not isinstance(text, str) or not text.strip() or given.keys() - {"text", "weight"}:
        raise _wrong(query, label, f"has a criterion that is not {{text, weight}}: {dict(given)}")
    is_number = isinstance(weight, int | float) and not isinstance(weight, bool)
    if not is_number or not 0 < weight < float("inf"):
        raise _wrong(query, label, f"has the weight {weight!r}; a weight is a number above 0")
    return WeightedCriterion(text, float(weight))


def _wrong(query: Query, label: str, problem: str) -> DatasetError:
    return DatasetError(
        f"the label {label!r} of query {query.query_id!r} {problem}; write a sentence, a list of "
        'sentences, or objects such as {"text": "The answer names a year.", "weight": 2}'
    )
