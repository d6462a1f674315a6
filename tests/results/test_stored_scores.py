"""Scores as columns: equal to the scores of the table, one by one."""

from __future__ import annotations

import random

import pytest

from ragstone.core.schemas import scores_to_table, table_to_scores
from ragstone.results.stored_scores import (
    StoredScores,
    has_status,
    read_scores,
    reasons_of,
    with_inapplicable,
)
from ragstone.statistics.breakdown import breakdown
from ragstone.statistics.failures import Scale
from ragstone.types import Score, Status

METRICS = ("EM", "F1", "fluency")


def made(count: int = 300, seed: int = 1) -> list[Score]:
    """Return scores of every status, the metrics of a query one after the other."""
    draw = random.Random(seed)  # noqa: S311
    statuses: tuple[Status, ...] = ("scored", "failed", "unscored", "not_applicable")
    found = []
    for place in range(count):
        for metric in METRICS:
            status = draw.choice(statuses)
            value = draw.random() if status == "scored" else None
            reason = "" if status == "scored" else f"{status} {place % 4}"
            found.append(Score(f"q{place}", metric, value, status, reason))
    return found


def by_metric(scores: list[Score]) -> dict[str, dict[str, Score]]:
    """Return the scores as mappings."""
    found: dict[str, dict[str, Score]] = {}
    for score in scores:
        found.setdefault(score.metric, {})[score.query_id] = score
    return found


@pytest.mark.parametrize("rows", [1_000, 64])
def test_columns_have_the_scores_of_the_table(rows: int) -> None:
    """Values, statuses, reasons and order are those of the rows, also of a table in blocks."""
    table = scores_to_table(made())
    blocks = [
        table.slice(start, min(rows, table.num_rows - start))
        for start in range(0, table.num_rows, rows)
    ]
    found, expected = read_scores(blocks, {}), by_metric(table_to_scores(table))

    assert found == expected
    assert [list(held) for held in found.values()] == [list(held) for held in expected.values()]
    for metric, held in found.items():
        values = {query_id: score.value for query_id, score in expected[metric].items()}
        assert held.values_by_query == values
        for status in ("scored", "failed", "unscored", "not_applicable"):
            assert reasons_of(held, status) == reasons_of(expected[metric], status)
            assert has_status(held, status) == has_status(expected[metric], status)


@pytest.mark.parametrize("policy", ["wrong", "exclude", "bounds"])
def test_the_mean_is_that_of_the_scores(policy: str) -> None:
    """With and without clusters, under each policy for failed queries."""
    found = read_scores([scores_to_table(made())], {})
    scale = Scale(failures=policy)  # type: ignore[arg-type]
    for clusters in ({}, {f"q{place}": f"c{place // 3}" for place in range(300)}):
        for held in found.values():
            (group,) = breakdown(held, {"all": list(held)}, clusters, scale)
            assert held.summary(clusters, scale) == group.summary


def test_a_later_score_takes_the_place_of_an_earlier_one() -> None:
    """As in a mapping, the query keeps its first place."""
    first, second = made(5), made(3, seed=2)
    found = read_scores([scores_to_table(first), scores_to_table(second)], {})

    assert found == by_metric([*first, *second])
    assert list(found["EM"]) == [f"q{place}" for place in range(5)]


def test_queries_that_a_setting_does_not_apply_to_are_added() -> None:
    """They come last; a query that has a score gets another one."""
    found = read_scores([scores_to_table(made(4))], {})
    for reasons in ({"q7": "no gold", "q8": "no gold"}, {"q1": "no gold"}):
        longer = with_inapplicable(found, reasons)
        expected = by_metric(made(4))
        for metric, held in expected.items():
            for query_id, why in reasons.items():
                held[query_id] = Score(query_id, metric, None, "not_applicable", why)
        assert longer == expected
        assert [list(held) for held in longer.values()] == [list(h) for h in expected.values()]


def test_columns_with_equal_queries_share_them() -> None:
    """The ids of the queries are held once."""
    table = scores_to_table(made())
    known: dict[str, str] = {}
    found = read_scores([table], known)

    assert len({id(held._ids) for held in found.values()}) == 1
    assert all(isinstance(held, StoredScores) for held in found.values())
    assert len(known) == 300


def test_scores_are_made_one_after_the_other() -> None:
    """Values and items are those of a dictionary, and the queries get no look-up table for it."""
    table = scores_to_table(made())
    found, expected = read_scores([table], {}), by_metric(table_to_scores(table))
    for metric, held in found.items():
        assert list(held.values()) == list(expected[metric].values())
        assert list(held.items()) == list(expected[metric].items())
    assert "places" not in vars(found["EM"]._ids)
    for metric, held in found.items():
        assert len(held.items()) == len(held.values()) == len(expected[metric])
        assert ("q3", expected[metric]["q3"]) in held.items()
    assert found["EM"]._ids is found["F1"]._ids
