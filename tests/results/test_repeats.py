"""The score of a query whose answers were repeated, by the policy for failures."""

from __future__ import annotations

from typing import Any

import pytest

from ragstone.results.data_facts import DataFacts, Tables
from ragstone.results.record import MetricEntry, Record
from ragstone.results.repeats import mean_figures, mean_labels, mean_score, repeat_scores
from ragstone.results.scored_rows import RepeatRows, TrialResults, with_failure_rates
from ragstone.statistics.correctness import Correctness
from ragstone.statistics.failures import FAILURE_RATE, Scale
from ragstone.statistics.summary import Policy
from ragstone.types import Prediction, Score, Status

NAMES = ("pass@2", "consistency", "consistency(of=correctness)")


def score(value: float | None, status: Status = "scored") -> Score:
    """Return a score of EM of the query q."""
    return Score("q", "EM", value, status, "" if status == "scored" else f"{status}!")


FAILED, UNSCORED, BARE = (score(None, s) for s in ("failed", "unscored", "not_applicable"))


@pytest.mark.parametrize(
    ("scores", "policy", "direction", "expected"),
    [
        ([score(1.0), score(0.0), score(1.0), score(1.0)], "wrong", "higher", 0.75),
        ([score(1.0), FAILED], "wrong", "higher", 0.5),
        ([score(0.5), FAILED], "wrong", "lower", 0.75),
        ([score(1.0), FAILED], "wrong", "neutral", 1.0),
        ([score(1.0), FAILED], "exclude", "higher", 1.0),
        ([score(1.0), FAILED], "bounds", "higher", "failed"),
        ([FAILED, FAILED], "wrong", "higher", "failed"),
        ([FAILED, BARE], "exclude", "higher", "failed"),
        ([score(0.5), UNSCORED], "wrong", "higher", 0.5),
        ([score(0.5), UNSCORED], "bounds", "higher", "unscored"),
        ([UNSCORED, BARE], "wrong", "higher", "unscored"),
        ([BARE, BARE], "wrong", "higher", "not_applicable"),
        ([BARE, score(0.25)], "wrong", "higher", 0.25),
    ],
)
def test_the_score_of_a_query_is_the_mean_of_its_repeats(
    scores: list[Score], policy: Policy, direction: str, expected: float | str
) -> None:
    """A failed repeat is wrong or left out; under `bounds` the query as a whole has bounds."""
    found = mean_score(scores, Scale((0.0, 1.0), direction, policy))
    assert (found.status if found.value is None else found.value) == expected


def test_the_reason_tells_how_many_repeats_have_no_value() -> None:
    """The page of the query shows it beside the mean."""
    assert mean_score([score(1.0), FAILED], Scale()).reason == (
        "1 of 2 repeats have no value: failed!"
    )


def record(policy: Policy) -> Record:
    """Return a record with the metrics of repeats."""
    entries = [MetricEntry(name, "repeats") for name in NAMES]
    facts, tables = DataFacts("d", 0, 1, 1, 1, ""), Tables("", "", "", "")
    file = {"failures": policy}
    return Record("e", "", file, facts, tables, (), (MetricEntry("EM", "answer"), *entries), {}, "")


def answers(*given: tuple[str | None, float | None]) -> list[RepeatRows]:
    """Return the rows of some answers to one query, and their values of EM; None if they failed."""
    return [
        RepeatRows(
            number,
            0,
            {},
            {"q": Prediction("q", text, "" if text is not None else "time-out")},
            {"EM": {"q": score(value, "failed" if text is None else "scored")}},
        )
        for number, (text, value) in enumerate(given)
    ]


@pytest.mark.parametrize(
    ("given", "policy", "expected"),
    [
        ([("Lima", 1.0), ("the LIMA!", 1.0), ("Quito", 0.0)], "wrong", [1.0, 1 / 3, 1 / 3]),
        ([("Quito", 0.0), ("Bogota", 0.0)], "wrong", [0.0, 0.0, 1.0]),
        ([("Lima", 1.0), (None, None), (None, None)], "wrong", [2 / 3, 0.0, 1 / 3]),
        ([("Lima", 1.0), ("Lima", 1.0), (None, None)], "exclude", [1.0, 1.0, 1.0]),
        ([("Lima", 1.0), (None, None)], "exclude", ["not_applicable"] * 3),
        ([("Lima", 1.0), ("Lima", 1.0), (None, None)], "bounds", ["failed"] * 3),
        ([(None, None), (None, None)], "wrong", ["failed"] * 3),
        ([("Lima", 1.0)], "wrong", ["not_applicable"] * 3),
    ],
)
def test_the_metrics_of_repeats(given: Any, policy: Policy, expected: list[Any]) -> None:
    """pass@2, the agreement of answers and that of their correctness."""
    found = repeat_scores(answers(*given), record(policy), Correctness("EM"))
    values = [
        one.status if one.value is None else one.value for n in NAMES for one in [found[n]["q"]]
    ]
    assert values == [pytest.approx(v) if isinstance(v, float) else v for v in expected]


def test_without_a_rule_or_with_a_half_right_answer_only_answers_are_compared() -> None:
    """The reason names what is missing."""
    both = answers(("Lima", 0.5), ("Lima", 0.5))
    bare = repeat_scores(both, record("wrong"), None)
    half = repeat_scores(both, record("wrong"), Correctness("EM"))
    assert [one["consistency"]["q"].value for one in (bare, half)] == [1.0, 1.0]
    assert bare["pass@2"]["q"].reason == "there is no rule for correct answers"
    assert "neither 1 (correct) nor 0" in half["pass@2"]["q"].reason


def test_the_failure_rate_is_the_share_of_the_failed_answers() -> None:
    """A system without repeats has 0 or 1."""
    repeated = tuple(answers(("Lima", 1.0), (None, None)))
    shared: dict[str, Any] = {"setting": "none", "built": {}, "contexts": {}, "predictions": {}}
    once = TrialResults(system="once", scores={"EM": {"q": score(1.0)}}, **shared)
    often = TrialResults(
        system="often", scores={"EM": {"q": score(0.5)}}, repeats=repeated, **shared
    )
    rates = [one.scores[FAILURE_RATE]["q"].value for one in with_failure_rates([once, often])]
    assert rates == [0.0, 0.5]
    assert often.first.scores == repeated[0].scores


def test_labels_and_figures_are_means_of_those_that_are_known() -> None:
    """A figure that an answer set does not have is left out."""
    assert mean_labels([{"a": 1.0, "b": None}, {"a": 0.0, "b": None}]) == {"a": 0.5, "b": None}
    assert mean_figures([{"label": {"f": 1.0, "g": 1.0}}, {"label": {"f": 0.5}}]) == {
        "label": {"f": 0.75}
    }
