"""Dates of queries and of the passages that answer them."""

from __future__ import annotations

from datetime import date

import pytest

from ragstone.data.dataset import Dataset
from ragstone.data.query_dates import label_dates, query_dates, read_date, required_date
from ragstone.errors import ConfigError, DatasetError

DATA = Dataset.from_records(
    queries=[
        {"query_id": "own", "text": "Who?", "date": "2024-05-01"},
        {"query_id": "passage", "text": "When?"},
        {"query_id": "newer passage", "text": "Where?", "date": "2023"},
        {"query_id": "none", "text": "Why?"},
        {"query_id": "wrong", "text": "Why?", "date": "soon"},
    ],
    passages=[
        {"passage_id": "a", "text": "A.", "date": "2022-03-04T10:00:00Z"},
        {"passage_id": "b", "text": "B.", "date": 2025},
    ],
    qrels=[("passage", "a", 1), ("newer passage", "a", 1), ("newer passage", "b", 1)],
)


def test_the_newest_date_of_query_and_gold_passages_counts() -> None:
    """A query without a date has a reason."""
    found = query_dates(DATA)
    assert found.label == "date"
    assert found.dates == {
        "own": date(2024, 5, 1),
        "passage": date(2022, 3, 4),
        "newer passage": date(2025, 1, 1),
    }
    assert found.undated == {
        "none": "neither the query nor a gold passage has a date",
        "wrong": "'soon' is not a date",
    }
    assert found.after(date(2024, 4, 30)) == {"own": True, "passage": False, "newer passage": True}


def test_stored_queries_have_their_own_dates_alone() -> None:
    """Passages are not needed."""
    assert set(label_dates(DATA.queries, "date", "e").dates) == {"own", "newer passage"}


def test_without_dates_the_error_has_the_way_out() -> None:
    """A misspelt label has the nearest one."""
    plain = Dataset.from_records(queries=[{"query_id": "q", "text": "Who?", "colour": "red"}])
    with pytest.raises(DatasetError, match="Name another label with --date-label"):
        query_dates(plain)
    with pytest.raises(DatasetError, match=r"'dates'.*date"):
        query_dates(DATA, "dates")
    with pytest.raises(ConfigError, match="--after: 'later' is not a date"):
        required_date("later", "--after")


@pytest.mark.parametrize("value", ["2024-13-01", "2024-02-30", "", True, 1700000000])
def test_what_is_not_a_date(value: object) -> None:
    """Impossible days and other numbers are no dates."""
    assert read_date(value) is None
