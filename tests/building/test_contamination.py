"""What models may know of a data set: shares, together, by dates."""

from __future__ import annotations

from datetime import date

import pytest

from ragstone.building.contamination import Contamination, answerable
from ragstone.data.dataset import Dataset
from ragstone.data.query_dates import query_dates
from ragstone.data_quality.ngram_overlap import OverlapSearch
from ragstone.experiment.clusters import query_clusters

COUNT = 20
DATA = Dataset.from_records(
    queries=[
        {
            "query_id": f"q{n}",
            "text": f"Which of the rivers of this country has the number {n}?",
            "gold_answers": [f"River {n}"] if n else [],
            "date": f"20{n:02}-06-01",
        }
        for n in range(COUNT)
    ],
    name="rivers",
)
KNOWN = {
    "a": {f"q{n}": None if n == 1 else n < 10 for n in range(1, COUNT)},
    "b": {f"q{n}": n < 5 for n in range(1, COUNT)},
}


def found(**changes: object) -> Contamination:
    """Return the contamination of the data set, with some parts changed."""
    clusters = {query.query_id: query.query_id for query in DATA.queries}
    values = {"known": KNOWN, "overlaps": None, "words": 0, "dates": None, "days": {}, **changes}
    values["clusters"] = clusters
    return Contamination(DATA, **values)  # type: ignore[arg-type]


def test_failed_calls_are_not_in_the_share() -> None:
    """A share has n, failures and an interval; unknown is not wrong."""
    share = found().shares["a"]
    assert (share.mean, share.n, share.failed) == (8 / 18, 18, 1)
    assert share.interval is not None
    assert answerable(DATA) == DATA.queries[1:]


def test_models_together() -> None:
    """A failed call matters only if it could change what the models know together."""
    together = found().together
    assert (together["at least one"].mean, together["at least one"].n) == (9 / 19, 19)
    # b is right about q1, and a may be.
    assert (together["every model"].mean, together["every model"].n) == (3 / 18, 18)
    assert (together["no model"].mean, together["no model"].failed) == (10 / 19, 0)
    assert found(known={"a": KNOWN["a"]}).together == {}


def test_knowledge_before_and_after_a_cutoff() -> None:
    """The difference of two different groups of queries has an interval."""
    days = {"a": date(2009, 6, 1), "": date(2014, 12, 31), "other": date(2030, 1, 1)}
    made = found(dates=query_dates(DATA), days=days)
    side = made.sides["a"]
    assert (side.older, side.newer, side.undated) == (10, 10, 0)
    assert side.before is not None
    assert side.after is not None
    assert (side.before.mean, side.after.mean, side.difference) == (1.0, 0.0, -1.0)
    assert side.interval is not None
    assert side.interval[1] < 0
    assert made.sides[""].before is None
    assert made.sides["other"].newer == 0
    assert found(dates=query_dates(DATA), days={"": date(2014, 12, 31)}).kept_positions() == [
        15, 16, 17, 18, 19
    ]  # fmt: skip


def test_a_cluster_on_both_sides_is_left_out() -> None:
    """Turns of one conversation depend on each other, so they are in no difference."""
    data = Dataset.from_records(
        conversations=[
            {
                "conversation_id": name,
                "turns": [
                    {"user": "Who?", "answers": ["A"], "date": first},
                    {"user": "When?", "answers": ["B"], "date": second},
                ],
            }
            for name, first, second in [
                ("old", "2020", "2020"),
                ("both", "2020", "2025"),
                ("new", "2025", "2025"),
            ]
        ]
    )
    known = {"a": {query.query_id: True for query in data.queries}}
    clusters = query_clusters(data)
    days = {"a": date(2022, 1, 1)}
    made = Contamination(data, known, None, 0, query_dates(data), days, clusters)
    side = made.sides["a"]
    assert side.before is not None
    assert side.after is not None
    assert (side.older, side.newer, side.before.n, side.after.n) == (3, 3, 2, 2)


def test_rows_and_shares_of_overlap() -> None:
    """Each query has a row; the shares are over those that are long enough."""
    search = OverlapSearch(DATA.queries)
    search.read("a.txt:1", DATA.queries[3].text + " It is River 3.")
    made = found(overlaps=search.overlaps(), words=20, dates=query_dates(DATA), days={})
    share = made.overlap_shares["query"]
    assert (share.mean, share.n) == (1 / COUNT, COUNT)
    assert made.overlap_shares["gold answer"].n == 0
    row = list(made.rows())[3]
    assert row["right"] == {"a": True, "b": True}
    assert row["overlap"]["with_answer"] is True
    assert row["date"] == "2003-06-01"
    document = made.to_dict()
    assert document["without_gold_answer"] == 1
    assert document["overlap"]["parts"]["query"]["mean"] == pytest.approx(1 / COUNT)
    assert len(document["per_query"]) == COUNT
