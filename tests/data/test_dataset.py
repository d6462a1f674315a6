"""A data set of plain records names the record that is wrong."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import pytest

from ragstone import Dataset
from ragstone.errors import DatasetError

QUERY = {"query_id": "q1", "text": "Which river?"}
PASSAGE = {"passage_id": "p1", "text": "The Tagus."}


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ({"queries": ["q1"]}, "queries, record 1: expected a JSON object, found 'q1'"),
        ({"passages": [PASSAGE, None]}, "passages, record 2: expected a JSON object, found None"),
        ({"queries": [QUERY, QUERY]}, "'q1'.*record 1"),
        ({"qrels": [("q1", "p1", "1")]}, r"qrels, row 1: expected \(query id, .*, found \('q1', "),
        ({"qrels": [("q1", "p1", 0.5)]}, "qrels, row 1: expected .* with a whole number"),
        ({"qrels": [("q1", "p1", 1), ("q1", "p1")]}, "qrels, row 2: expected"),
        ({"qrels": [("q2", "p1", 1)]}, r"1 name queries that do not exist: 'q2' \(row 1\)"),
    ],
)
def test_a_wrong_record_is_named(records: dict[str, Any], message: str) -> None:
    """The error is a `DatasetError` with the list and the number of the record."""
    with pytest.raises(DatasetError, match=message):
        Dataset.from_records(**{"queries": [QUERY], "passages": [PASSAGE], **records})


def test_any_mapping_is_a_record() -> None:
    """A record need not be a dict, and is not changed."""
    data = Dataset.from_records(queries=[MappingProxyType(QUERY)], passages=[PASSAGE])

    assert data.queries[0].text == "Which river?"
    assert PASSAGE == {"passage_id": "p1", "text": "The Tagus."}
