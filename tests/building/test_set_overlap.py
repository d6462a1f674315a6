"""What two data sets have in common."""

from __future__ import annotations

from ragstone.building.set_overlap import SharedItems, overlap
from ragstone.building.set_properties import Facts
from ragstone.data.dataset import Dataset


def some(*texts: str, passages: str = "", relevant: str = "") -> Facts:
    """Return a set of queries, and passages named and judged by single letters."""
    return Facts.of(
        Dataset.from_records(
            queries=[{"query_id": f"q{n}", "text": text} for n, text in enumerate(texts)],
            passages=[{"passage_id": f"{len(texts)}{p}", "text": f"About  {p}"} for p in passages],
            qrels=[("q0", f"{len(texts)}{p}", 1) for p in relevant],
        )
    )


def means(found: SharedItems) -> tuple[float | None, float | None]:
    """Return the two shares."""
    assert found.a
    assert found.b
    return found.a.mean, found.b.mean


def test_shares_by_hand() -> None:
    """One query is equal but for its case, one has another last character."""
    a = some(
        "Where is Lisbon?", "how old is the bridge over the Tagus", passages="abc", relevant="a"
    )
    b = some(
        *("where is  lisbon?", "How old is the bridge over the Tagus?", "Who?", "When was it?"),
        passages="bcde",
        relevant="b",
    )
    found = overlap(a, b)
    assert means(found["equal queries"]) == (0.5, 0.25)
    assert means(found["similar queries"]) == (1.0, 0.5)
    assert means(found["passages"]) == (2 / 3, 0.5)
    assert means(found["relevant passages"]) == (0.0, 0.0)


def test_the_history_belongs_to_a_query() -> None:
    """Equal last turns after different first turns are not equal."""
    sides = [
        Facts.of(
            Dataset.from_records(
                conversations=[
                    {
                        "conversation_id": "c",
                        "turns": [
                            {"user": first, "agent": "Yes."},
                            {"user": "Why?", "agent": "So."},
                        ],
                    }
                ]
            )
        )
        for first in ("Is it old?", "Can the river be crossed at night?")
    ]
    assert means(overlap(*sides)["equal queries"]) == (0.0, 0.0)
    assert means(overlap(sides[0], sides[0])["equal queries"]) == (1.0, 1.0)


def test_an_empty_set_has_no_share() -> None:
    """The other one has: 0."""
    found = overlap(some(), some("Who?", passages="a"))
    assert found["equal queries"].a is None
    assert found["equal queries"].b
    assert found["equal queries"].b.mean == 0.0
    assert list(found) == ["equal queries", "similar queries", "passages"]
    assert overlap(some(), some()) == {}
