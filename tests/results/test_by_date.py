"""Results before and after a date."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.canary_store import COUNT, canary_experiment, word

from ragstone.data.query_dates import QueryDates
from ragstone.errors import ConfigError
from ragstone.results.by_date import date_table
from ragstone.results.results import Results

OWN: dict[str, Any] = {
    "systems": {"own": {"retriever": "bm25", "generator": "gold"}},
    "metrics": ["Match", "R@2"],
    "judges": [],
}
DATES = QueryDates(
    "date",
    {f"id{word(n)}": date(2000 + n, 1, 1) for n in range(COUNT - 4)},
    {f"id{word(n)}": "no date" for n in range(COUNT - 4, COUNT)},
)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Return the results of 40 queries."""
    return canary_experiment(tmp_path_factory.mktemp("dates"), **OWN)


def test_both_sides_have_n_and_the_difference_an_interval(results: Results) -> None:
    """Queries without a date are counted and left out."""
    table = date_table(results, DATES, date(2015, 1, 1))
    assert (table.before, table.after, table.undated, table.mixed) == (16, 20, 4, 0)
    (row,) = (r for r in table.rows if (r.setting, r.metric) == ("gold", "Match"))
    assert (row.first.n, row.second.n) == (16, 20)
    assert row.interval is not None
    assert table.sentence == (
        "The newer queries are not shown to differ (Match). 4 queries have no date."
    )
    document = table.to_dict()
    assert document["rows"][0]["before"]["n"] == 16
    assert document["queries"] == {"before": 16, "after": 20}
    assert "Queries up to 2015-01-01 and after it" in str(table.table())


def test_one_side_alone_is_an_error(results: Results) -> None:
    """The message has the dates that there are."""
    with pytest.raises(ConfigError, match="from 2000-01-01 to 2035-01-01"):
        date_table(results, DATES, date(2040, 1, 1))


def test_secret_queries_stay_secret(tmp_path: Path) -> None:
    """The counts are of the open queries."""
    hidden = canary_experiment(tmp_path, share="30%", **OWN)
    table = date_table(hidden, DATES, date(2015, 1, 1))
    assert table.before + table.after + table.undated == COUNT - len(hidden.secret_queries)
