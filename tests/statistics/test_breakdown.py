"""Metrics are broken down by labels; each group has its own n and interval."""

from __future__ import annotations

import pytest

from ragstone.components.metrics.score import score_answers
from ragstone.core.schemas import table_to_scores
from ragstone.errors import ConfigError
from ragstone.statistics.breakdown import breakdown, differences_by, groups_of
from ragstone.statistics.failures import Scale
from ragstone.types import Prediction, Query, Score

QUERIES = [
    Query(f"{c}<::>{turn}", "?", labels={"turn": turn, "conversation": c, "kind": kinds})
    for c in "ab"
    for turn, kinds in ((10, ("x", "y")), (1, ("x",)), (2, ()))
]
CLUSTERS = {query.query_id: query.query_id[0] for query in QUERIES}


def scores(*values: float | None) -> dict[str, Score]:
    """Return scores of the queries; None is a failure."""
    return {
        query.query_id: Score(query.query_id, "M", value, "failed" if value is None else "scored")
        for query, value in zip(QUERIES, values, strict=True)
    }


def test_groups_are_ordered_and_lists_count_under_each_value() -> None:
    """2 comes before 10; queries without the label are in their own group."""
    assert list(groups_of(QUERIES, "turn")) == ["1", "2", "10"]
    kinds = groups_of(QUERIES, "kind")
    assert {value: len(ids) for value, ids in kinds.items()} == {"x": 4, "y": 2, "(none)": 2}
    assert {v: len(i) for v, i in groups_of(QUERIES, "first_turn").items()} == {
        "later": 4,
        "first": 2,
    }


def test_an_unknown_label_is_refused() -> None:
    """The message suggests the nearest label."""
    with pytest.raises(ConfigError, match="did you mean 'turn'"):
        groups_of(QUERIES, "turns")


def test_each_group_has_its_mean_its_failures_and_its_interval() -> None:
    """Intervals are over conversations: two equal conversations do not give a width of 0."""
    scale = Scale(failures="exclude")
    found = breakdown(scores(1, 0, 0.5, 1, 0, None), groups_of(QUERIES, "turn"), CLUSTERS, scale)

    first, second, tenth = (group.summary for group in found)
    assert (first.mean, first.n) == (0.0, 2)
    assert first.interval == pytest.approx((0.0, 1 - 0.025**0.5))
    assert (second.mean, second.n, second.failed, second.interval) == (0.5, 1, 1, None)
    assert tenth.mean == 1.0


def test_differences_use_the_pairs_that_both_have() -> None:
    """The difference is the second system minus the first."""
    before, after = scores(1, 1, 0.5, 1, 1, None), scores(0.5, 1, 0.5, 0.5, None, 1)

    kept = Scale(failures="exclude")
    found = {
        g.value: g.difference
        for g in differences_by(before, after, groups_of(QUERIES, "turn"), CLUSTERS, kept)
    }

    assert (found["10"].difference, found["10"].n) == (-0.5, 2)
    assert (found["1"].difference, found["1"].n) == (0.0, 1)
    assert found["2"].n == 1


@pytest.mark.parametrize(
    ("label", "answer", "value"),
    [
        ("answerable", "In 1912.", 1.0),
        ("ANSWERABLE", "I do not know.", 0.0),
        ("partial", "In 1912.", 1.0),
        ("unanswerable", "I do not know.", 1.0),
        ("unanswerable", "In 1912.", 0.0),
        ("conversational", "You are welcome.", None),
        ("", "In 1912.", None),
    ],
)
def test_answerability_is_met_by_answer_or_refusal(
    label: str, answer: str, value: float | None
) -> None:
    """Conversational turns and queries without the label are not applicable."""
    query = Query("q", "?", labels={"answerability": label} if label else {})

    (score,) = table_to_scores(score_answers(["answerability"], [query], [Prediction("q", answer)]))

    assert score.value == value
    assert score.status == ("scored" if value is not None else "not_applicable")
